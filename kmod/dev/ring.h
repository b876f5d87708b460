/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The mapping of a CQ's ring through a context. An offset is the number of a CQ: a mapping can be
 * told by the CQ that it is of, also by a program that finds it in another process.
 */
#ifndef VQP_DEV_RING_H
#define VQP_DEV_RING_H

#include <linux/types.h>

struct vm_area_struct;
struct vqp_cq;
struct vqp_owner;

/* Where the ring is mapped, in bytes. */
u64 vqp_ring_offset(const struct vqp_cq *cq);

/* Map the ring whose offset it is, all of it. -EINVAL: it is that of no CQ of owner's. */
int vqp_ring_mmap(struct vqp_owner *owner, struct vm_area_struct *vma);

#endif
