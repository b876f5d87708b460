/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * So many bytes in a second, and a burst: the generic cell rate algorithm. One
 * number is kept: when all that was charged so far would have been sent at the
 * rate. Whoever would be ahead of it by more than the burst must wait. In any
 * time no more is let through than the rate gives, a burst and one request.
 */
#ifndef VQP_ENGINE_RATE_H
#define VQP_ENGINE_RATE_H

#include <linux/types.h>

#define VQP_RATE_BURST_BYTES	(64U << 10)	/* at least, and at least: */
#define VQP_RATE_BURST_NS	4000000ULL
#define VQP_RATE_PACE_NS	1000000ULL

/* All zero: no limit. */
struct vqp_rate {
	u64 max;		/* bytes per second; 0: no limit */
	u64 burst_ns;
	u64 due_ns;		/* when what was charged is paid for */
};

/* What was charged before is forgotten. */
void vqp_rate_set(struct vqp_rate *rate, u64 max, u64 now_ns);

bool vqp_rate_allows(const struct vqp_rate *rate, u64 now_ns);
/* Of one that has a limit; bytes: at most 1 GiB. */
void vqp_rate_charge(struct vqp_rate *rate, u32 bytes, u64 now_ns);
void vqp_rate_refund(struct vqp_rate *rate, u32 bytes);

/* For how long to wait; a little longer than needed, so that several packets go at once. */
u64 vqp_rate_wait_ns(const struct vqp_rate *rate, u64 now_ns);

#endif
