/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The mapping of a CQ's ring through a context. The offset of a mapping holds the number of the CQ,
 * so that a program that finds the mapping in another process can tell which CQ it belongs to.
 */
#ifndef VQP_DEV_RING_H
#define VQP_DEV_RING_H

#include <linux/types.h>

struct vm_area_struct;
struct vqp_cq;
struct vqp_owner;

/* The offset at which the ring is mapped, in bytes. */
u64 vqp_ring_offset(const struct vqp_cq *cq);

/*
 * Map the ring at the offset of vma, which must have the ring's length. Returns 0; -EINVAL if the
 * offset is that of no CQ of the owner, or the length is another; or -ENOMEM.
 */
int vqp_ring_mmap(struct vqp_owner *owner, struct vm_area_struct *vma);

#endif
