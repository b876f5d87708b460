/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An arena is kernel pages that a function maps through its context. They are charged to the memory
 * cgroup instead of RLIMIT_MEMLOCK, of which Fn leaves a function 64 KiB, and are registered
 * without pinning.
 */
#ifndef VQP_MEM_ARENA_H
#define VQP_MEM_ARENA_H

#include <linux/refcount.h>
#include <linux/types.h>

struct page;
struct vm_area_struct;
struct vqp_owner;
struct vqp_ns;

struct vqp_arena {
	refcount_t ref;			/* Each VMA and each region have one. */
	struct vqp_ns *ns;		/* is charged, and is referenced */
	const struct vqp_owner *owner;	/* is compared, and never dereferenced */
	unsigned long npages;
	struct page *pages[];
};

/* Make an arena of owner's and map it, shared and from its beginning. */
int vqp_arena_mmap(struct vqp_owner *owner, struct vm_area_struct *vma);

/*
 * The arena of owner that [addr, addr + bytes) of the current process lies in, referenced, and the
 * offset in it; or NULL.
 */
struct vqp_arena *vqp_arena_find(struct vqp_owner *owner, u64 addr, u64 bytes, u64 *offset);
void vqp_arena_put(struct vqp_arena *arena);

#endif
