// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "base/compat.h"
#include "dev/ring.h"
#include "queue/cq.h"

/* Offsets are farther apart than any ring is long, so that no two mappings are ever merged. */
#define RING_SHIFT	24

static_assert(VQP_CQ_CQE_OFFSET + VQP_MAX_CQE * sizeof(struct vqp_cqe) < 1 << RING_SHIFT);
/* mmap2() of 32-bit user space passes an offset of up to 2^32 pages of 4 KiB. */
static_assert((u64)VQP_CQ_NUMBER_MAX << RING_SHIFT < 1ULL << (32 + 12));

u64 vqp_ring_offset(const struct vqp_cq *cq)
{
	return (u64)cq->number << RING_SHIFT;
}

static int ring_insert(const struct vqp_cq *cq, struct vm_area_struct *vma)
{
	const unsigned long bytes = vqp_cq_ring_bytes(cq->entries);
	unsigned long at;
	int ret = 0;

	if (vma->vm_end - vma->vm_start != bytes)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/*
	 * The ring is charged to the memory cgroup of its owner, which memory of vmalloc_user()
	 * would not be. The mapping has a reference on each page, and needs none on the CQ.
	 */
	for (at = 0; at < bytes && !ret; at += PAGE_SIZE)
		ret = vm_insert_page(vma, vma->vm_start + at,
				     vmalloc_to_page((void *)cq->ring + at));
	return ret;
}

int vqp_ring_mmap(struct vqp_owner *owner, struct vm_area_struct *vma)
{
	const u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	const u64 number = offset >> RING_SHIFT;
	struct vqp_cq *cq = NULL;
	int ret;

	if (number <= VQP_CQ_NUMBER_MAX)
		cq = vqp_cq_get(owner, number);
	if (!cq)
		return -EINVAL;
	ret = offset == vqp_ring_offset(cq) ? ring_insert(cq, vma) : -EINVAL;
	vqp_cq_put(cq);
	return ret;
}
