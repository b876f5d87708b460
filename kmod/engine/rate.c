// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "rate.h"

/* The time that `bytes` bytes take at the rate, rounded up. */
static u64 vqp_rate_cost_ns(const struct vqp_rate *rate, u32 bytes)
{
	return div64_u64(bytes * 1000000000ULL + rate->max - 1, rate->max);
}

void vqp_rate_set(struct vqp_rate *rate, u64 max, u64 now_ns)
{
	WRITE_ONCE(rate->max, max);
	rate->due_ns = now_ns;
	if (max)
		rate->burst_ns = max_t(u64, VQP_RATE_BURST_NS,
				       vqp_rate_cost_ns(rate, VQP_RATE_BURST_BYTES));
}

bool vqp_rate_allows(const struct vqp_rate *rate, u64 now_ns)
{
	return !rate->max || rate->due_ns < now_ns + rate->burst_ns;
}

void vqp_rate_charge(struct vqp_rate *rate, u32 bytes, u64 now_ns)
{
	rate->due_ns = max_t(u64, rate->due_ns, now_ns) + vqp_rate_cost_ns(rate, bytes);
}

void vqp_rate_refund(struct vqp_rate *rate, u32 bytes)
{
	rate->due_ns -= min_t(u64, rate->due_ns, vqp_rate_cost_ns(rate, bytes));
}

u64 vqp_rate_wait_ns(const struct vqp_rate *rate, u64 now_ns)
{
	if (vqp_rate_allows(rate, now_ns))
		return 0;
	return rate->due_ns - rate->burst_ns - now_ns +
	       min_t(u64, rate->burst_ns / 2, VQP_RATE_PACE_NS);
}
