// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/atomic.h>
#include <linux/mm.h>
#include "ns/namespace.h"
#include "sock/budget.h"

#define BUDGET_PAGES	((64 << 20) / PAGE_SIZE)	/* of the node */

/* Many who charge at a time may exceed it by a page each. */
static atomic_t budget_used;

bool vqp_budget_has(const struct vqp_ns *ns)
{
	return atomic_read(&ns->stream_pages) + atomic_read(&budget_used) < BUDGET_PAGES;
}

bool vqp_budget_charge(struct vqp_ns *ns)
{
	if (!vqp_budget_has(ns) || vqp_limit_charge(&ns->limits[VQP_LIMIT_BYTES], PAGE_SIZE))
		return false;
	atomic_inc(&budget_used);
	atomic_inc(&ns->stream_pages);
	vqp_ns_get(ns);
	return true;
}

void vqp_budget_uncharge(struct vqp_ns *ns)
{
	atomic_dec(&budget_used);
	atomic_dec(&ns->stream_pages);
	vqp_limit_uncharge(&ns->limits[VQP_LIMIT_BYTES], PAGE_SIZE);
	vqp_ns_put(ns);
}
