/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A rate in bytes per second with a burst, by the generic cell rate algorithm (ITU-T I.371). Its
 * state is one number: the time at which all bytes charged so far would have been sent at the rate.
 * A request must wait while that time is more than the burst ahead. In any interval no more bytes
 * pass than the rate yields, plus a burst and one request.
 */
#ifndef VQP_ENGINE_RATE_H
#define VQP_ENGINE_RATE_H

#include <linux/types.h>

/* A burst has at least this number of bytes, and lasts at least this time at the rate. */
#define VQP_RATE_BURST_BYTES	(64U << 10)
#define VQP_RATE_BURST_NS	4000000ULL
/* A wait is longer than needed by at most this, so that several packets go at once. */
#define VQP_RATE_PACE_NS	1000000ULL

/* A rate that is all zero is unlimited. */
struct vqp_rate {
	u64 max;		/* in bytes per second; 0 is unlimited */
	u64 burst_ns;
	u64 due_ns;		/* when the bytes charged so far would have been sent */
};

/* Set the rate, and forget earlier charges. */
void vqp_rate_set(struct vqp_rate *rate, u64 max, u64 now_ns);

/* May a request pass at now_ns? */
bool vqp_rate_allows(const struct vqp_rate *rate, u64 now_ns);
/* Charge and refund bytes, 1 GiB at most, of a rate that is not unlimited. */
void vqp_rate_charge(struct vqp_rate *rate, u32 bytes, u64 now_ns);
void vqp_rate_refund(struct vqp_rate *rate, u32 bytes);

/* The time to wait until a request may pass, or 0. */
u64 vqp_rate_wait_ns(const struct vqp_rate *rate, u64 now_ns);

#endif
