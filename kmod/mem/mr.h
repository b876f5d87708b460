/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mem/ is the memory that requests name: regions by key, arenas, walks over pages, and what
 * atomics do to a word. It knows namespaces and owners, and no VQP.
 *
 * Memory regions. A key is (index << 16 | random tag): it takes one lookup in the namespace's table
 * (KRCORE's ValidMR), and a guess hits with a chance of 1 in 65,536. A request names memory by key,
 * and the key is checked at every use. A carrier holds a reference only while it copies bytes, so
 * that deregistration never waits for a peer. While a NIC copies (rc), deregistration waits until
 * the copy is over or has failed.
 */
#ifndef VQP_MEM_MR_H
#define VQP_MEM_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/rcupdate.h>
#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;
struct page;
struct vqp_arena;
struct vqp_owner;
struct vqp_ns;

struct vqp_mr {
	u64 addr, length;		/* of the region in the owner's addresses, in bytes */
	u32 key;
	u32 access;			/* VQP_ACCESS_* */
	const struct vqp_owner *owner;	/* is compared, and never dereferenced */
	struct vqp_ns *ns;		/* The owner's reference keeps it. */
	struct page **pages;		/* pages[0] has the byte at addr. */
	unsigned long npages;
	u32 first_offset;		/* of addr in pages[0] */
	/* The arena that the pages belong to, referenced; NULL: the pages are pinned. */
	struct vqp_arena *arena;
	struct mm_struct *mm;		/* is charged for the pins; NULL: nothing is pinned */
	struct list_head owner_link;	/* in vqp_owner.mrs, under vqp_owner.lock */
	/* rc's windows of it, until the device has forgotten them; under rc/window.c's lock */
	struct list_head windows;
	refcount_t ref;
	struct completion unused;
	struct rcu_head rcu;
};

struct vqp_reg_mr;
/* Register and deregister a region of owner's, as <linux/vqp.h> says. Process context. */
int vqp_mr_reg(struct vqp_owner *owner, struct vqp_reg_mr *arg);
int vqp_mr_dereg(struct vqp_owner *owner, u32 key);

/*
 * Register so many bytes of the kernel's own pages, which stay the caller's, at address 0 of
 * owner's and without rights: other kernels READ of it what pulls name (mem/pull.h). 0 and *key;
 * or -errno. Process context.
 */
int vqp_mr_reg_kernel(struct vqp_owner *owner, struct page **pages, u32 bytes, u32 *key);

/* Deregister all regions of owner's. Waits until none is used any more. Under vqp_owner.lock. */
void vqp_mr_destroy_all(struct vqp_owner *owner);

/*
 * A carrier may let other nodes' devices reach a region by keys of its own, and takes these back
 * when the region goes or its namespace has gone.
 */
struct vqp_mr_user {
	/* Begin to take the keys back, and return at once. Process context. */
	void (*revoke)(struct vqp_mr *mr);
	/* Wait until no device reaches the region any more. Process context; a second or so. */
	void (*wait)(struct vqp_mr *mr);
};

void __init vqp_mr_set_user(const struct vqp_mr_user *user);

/* Both for all regions of owner's, under vqp_owner.lock. */
void vqp_mr_revoke_all(struct vqp_owner *owner);
void vqp_mr_wait_all(struct vqp_owner *owner);

/*
 * The region that `key` names in ns, referenced, if it covers [addr, addr + bytes) and grants all
 * of `access`; or NULL. An lkey's region must belong to `owner`, which is NULL for an rkey. Any
 * context.
 */
struct vqp_mr *vqp_mr_get(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes,
			  u32 access, const struct vqp_owner *owner);
void vqp_mr_put(struct vqp_mr *mr);

/* Take another reference on mr; the caller has one. Any context. */
void vqp_mr_hold(struct vqp_mr *mr);

/* The region that `key` names in ns, referenced, without any check; or NULL. Any context. */
struct vqp_mr *vqp_mr_find(struct vqp_ns *ns, u32 key);

/* The same check without a reference. */
bool vqp_mr_valid(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes, u32 access,
		  const struct vqp_owner *owner);

#endif
