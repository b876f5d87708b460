// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vqp.h>
#include "base/compat.h"
#include "base/counters.h"
#include "mem/arena.h"
#include "ns/namespace.h"
#include "ns/owner.h"

void vqp_arena_put(struct vqp_arena *arena)
{
	unsigned long i;

	if (!refcount_dec_and_test(&arena->ref))
		return;
	for (i = 0; i < arena->npages && arena->pages[i]; i++)
		__free_page(arena->pages[i]);
	vqp_limit_uncharge(&arena->ns->limits[VQP_LIMIT_BYTES], (u64)arena->npages << PAGE_SHIFT);
	vqp_ns_put(arena->ns);
	kvfree(arena);
	vqp_count_freed(VQP_OBJ_ARENA);
}

static struct vqp_arena *arena_alloc(const struct vqp_owner *owner, unsigned long npages)
{
	struct vqp_ns *ns = owner->ns;
	const u64 bytes = (u64)npages << PAGE_SHIFT;
	struct vqp_arena *arena;
	unsigned long i;
	int ret;

	ret = vqp_limit_charge(&ns->limits[VQP_LIMIT_BYTES], bytes);
	if (ret)
		return ERR_PTR(ret);
	arena = kvzalloc(struct_size(arena, pages, npages), GFP_KERNEL_ACCOUNT);
	if (!arena) {
		vqp_limit_uncharge(&ns->limits[VQP_LIMIT_BYTES], bytes);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&arena->ref, 1);
	arena->ns = ns;
	arena->owner = owner;
	vqp_ns_get(ns);
	arena->npages = npages;
	vqp_count_made(VQP_OBJ_ARENA);
	for (i = 0; i < npages; i++) {
		arena->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!arena->pages[i]) {
			vqp_arena_put(arena);
			return ERR_PTR(-ENOMEM);
		}
	}
	return arena;
}

/* vm_operations_struct.open: a VMA of the arena was split, moved, or copied by fork. */
static void arena_vma_open(struct vm_area_struct *vma)
{
	struct vqp_arena *arena = vma->vm_private_data;

	refcount_inc(&arena->ref);
}

static void arena_vma_close(struct vm_area_struct *vma)
{
	vqp_arena_put(vma->vm_private_data);
}

static const struct vm_operations_struct arena_vm_ops = {
	.open = arena_vma_open,
	.close = arena_vma_close,
};

int vqp_arena_mmap(struct vqp_owner *owner, struct vm_area_struct *vma)
{
	unsigned long left = vma_pages(vma);
	struct vqp_arena *arena;
	int ret;

	if (left > VQP_MAX_ARENA_BYTES >> PAGE_SHIFT)
		return -EINVAL;
	arena = arena_alloc(owner, left);
	if (IS_ERR(arena))
		return PTR_ERR(arena);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_MIXEDMAP);
	ret = vm_insert_pages(vma, vma->vm_start, arena->pages, &left);
	if (ret) {
		vqp_arena_put(arena);
		return ret;
	}
	vma->vm_private_data = arena;
	vma->vm_ops = &arena_vm_ops;
	return 0;
}

struct vqp_arena *vqp_arena_find(struct vqp_owner *owner, u64 addr, u64 bytes, u64 *offset)
{
	struct vqp_arena *arena, *found = NULL;
	struct vm_area_struct *vma;

	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, addr);
	arena = vma && vma->vm_ops == &arena_vm_ops ? vma->vm_private_data : NULL;
	/*
	 * The arena's owner may have been freed, and `owner` allocated at its address. That does
	 * no harm as long as both belong to one namespace, which the memory is charged to.
	 */
	if (arena && arena->owner == owner && arena->ns == owner->ns &&
	    bytes <= vma->vm_end - addr) {
		found = arena;
		refcount_inc(&found->ref);
		*offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + addr - vma->vm_start;
	}
	mmap_read_unlock(current->mm);
	return found;
}
