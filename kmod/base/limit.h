/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A limit counts what a namespace has of a thing, and bounds it. An object is charged before it is
 * made. The count is exact: an object beyond the limit is never counted, not even for a moment. One
 * within the limit is counted until it is freed, or has failed to be made. Any context.
 */
#ifndef VQP_BASE_LIMIT_H
#define VQP_BASE_LIMIT_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/vqp.h>

enum vqp_limited {
	VQP_LIMIT_VQPS,
	VQP_LIMIT_MRS,
	/* pages that regions pin, each anew; of arenas; of what sockets have sent */
	VQP_LIMIT_BYTES,
	VQP_LIMIT_STREAMS,	/* ends of connections of sockets */
	VQP_LIMIT_MAX,
};

#define VQP_LIMIT_KEEP	(VQP_UNLIMITED - 1)	/* Instead of a new max: it stays as it is. */

struct vqp_limit {
	atomic64_t used;
	u64 max;	/* or VQP_UNLIMITED; it may change at any time, to less than is used, too */
};

/* Nothing is used, and nothing is limited. */
void vqp_limit_init(struct vqp_limit *limit);

/* Count `amount` more. -EDQUOT: it would be more than max, and nothing is counted. */
int __must_check vqp_limit_charge(struct vqp_limit *limit, u64 amount);
void vqp_limit_uncharge(struct vqp_limit *limit, u64 amount);
void vqp_limit_set(struct vqp_limit *limit, u64 max);

#endif
