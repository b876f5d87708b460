/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mem/ is the memory that requests name: regions by key, arenas, walks over pages, and what
 * atomics do to a word. It knows namespaces and owners, and no VQP.
 *
 * Memory regions. A key is (index << 16 | random tag): one lookup in the
 * namespace's table (KRCORE's ValidMR), and a guess
 * hits one key in 65,536. Requests name memory
 * by key and are checked again at every use; a reference is held only while
 * bytes are copied, so that deregistration never waits for a peer; while a NIC
 * copies (rc), it waits until that is over or has failed.
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
	u64 addr, length;		/* bytes, as user space knows them */
	u32 key;
	u32 access;			/* VQP_ACCESS_* */
	const struct vqp_owner *owner;	/* owner; for comparison only */
	struct vqp_ns *ns;		/* lives as long as the owner does */
	struct page **pages;		/* from the page that holds addr */
	unsigned long npages;
	u32 first_offset;		/* of addr in pages[0] */
	struct vqp_arena *arena;	/* owner of the pages, or NULL: pinned */
	struct mm_struct *mm;		/* charged for the pins */
	struct list_head owner_link;	/* under vqp_owner.lock */
	struct list_head windows;	/* of rc (rc/window.c), under its lock */
	refcount_t ref;
	struct completion unused;
	struct rcu_head rcu;
};

struct vqp_reg_mr;
int vqp_mr_reg(struct vqp_owner *owner, struct vqp_reg_mr *arg);
int vqp_mr_dereg(struct vqp_owner *owner, u32 key);

/* Under vqp_owner.lock. */
void vqp_mr_destroy(struct vqp_mr *mr);

/*
 * What a carrier lets other nodes' devices reach of a region by keys of its own, it takes back
 * when the region goes, or its namespace has gone. vqp_mr_revoke() returns when no device reaches
 * the region any more. Process context; may take a second for each node.
 */
void __init vqp_mr_set_revoke(void (*revoke)(struct vqp_mr *mr));
void vqp_mr_revoke(struct vqp_mr *mr);

/*
 * The region that key names in ns, if it covers [addr, addr + bytes) and
 * grants all of `access`; owner: whose it must be (lkey), or NULL (rkey).
 * Referenced, or NULL. Any context.
 */
struct vqp_mr *vqp_mr_get(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes,
			  u32 access, const struct vqp_owner *owner);
void vqp_mr_put(struct vqp_mr *mr);

/* Another one of mr, which the caller has one of. */
void vqp_mr_hold(struct vqp_mr *mr);

/* By key alone, referenced, or NULL. Any context. */
struct vqp_mr *vqp_mr_find(struct vqp_ns *ns, u32 key);

/* The same check without a reference. */
bool vqp_mr_valid(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes, u32 access,
		  const struct vqp_owner *owner);

#endif
