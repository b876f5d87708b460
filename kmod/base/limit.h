/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a namespace has of a thing, and may have. Charged before it is made, and
 * exactly: what does not fit is never counted. What fits is counted until it is made,
 * or has failed for another reason. Any context.
 */
#ifndef VQP_BASE_LIMIT_H
#define VQP_BASE_LIMIT_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/vqp.h>

enum vqp_limited {
	VQP_LIMIT_VQPS,
	VQP_LIMIT_MRS,
	VQP_LIMIT_BYTES,	/* pages that regions pin, each anew, and pages of arenas */
	VQP_LIMIT_MAX,
};

#define VQP_LIMIT_KEEP	(VQP_UNLIMITED - 1)	/* Instead of a new max: it stays as it is. */

struct vqp_limit {
	atomic64_t used;
	u64 max;	/* or VQP_UNLIMITED; it may change at any time, to less than is used, too */
};

/* Nothing is used, and nothing is limited. */
void vqp_limit_init(struct vqp_limit *limit);

/* -EDQUOT: it would be more than max. */
int __must_check vqp_limit_charge(struct vqp_limit *limit, u64 amount);
void vqp_limit_uncharge(struct vqp_limit *limit, u64 amount);
void vqp_limit_set(struct vqp_limit *limit, u64 max);

#endif
