/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A registration: pages that the device lets other nodes' NICs reach by an rkey. */
#ifndef VQP_RC_REG_H
#define VQP_RC_REG_H

#include <linux/scatterlist.h>
#include <linux/types.h>

struct ib_mr;
struct ib_qp;
struct page;

struct vqp_reg {
	struct ib_mr *ib_mr;		/* NULL: not made */
	struct sg_table sgt;		/* mapped for the device */
};

/*
 * Register `bytes` bytes from `offset` of pages[0] on, at most VQP_WINDOW_BYTES, with the
 * IB_ACCESS_* rights `access`, for all QPs of qp's PD. qp, which is connected, carries out the
 * registration; the function waits for it. *reg is zeroed. 0 or -errno. Process context.
 */
int vqp_reg_make(struct vqp_reg *reg, struct ib_qp *qp, struct page **pages, u32 offset, u64 bytes,
		 int access);

/*
 * No request may be using the registration any more: ib_dereg_mr() waits for requests only for a
 * while, and then the pages would be unmapped under them. Process context.
 */
void vqp_reg_free(struct vqp_reg *reg);

#endif
