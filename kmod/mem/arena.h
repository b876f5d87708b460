/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arena memory: kernel pages mapped into a function by mmap of its context,
 * charged to its memory cgroup instead of RLIMIT_MEMLOCK (Fn leaves a function
 * 64 KiB of that), and registered without pinning.
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
	refcount_t ref;			/* one per VMA, one per MR */
	struct vqp_ns *ns;		/* charged, referenced */
	const struct vqp_owner *owner;	/* for comparison only */
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
