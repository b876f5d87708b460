/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Numbers of VQPs, CQs, flows and keys, which other nodes and functions remember for a while. */
#ifndef VQP_BASE_IDS_H
#define VQP_BASE_IDS_H

#include <linux/types.h>

struct xarray;

/*
 * Store entry in an xarray with XA_FLAGS_ALLOC1 at the first free number from *next on. Behind
 * `max` the search goes on at 1. *next, which is kept under the xarray's lock, then follows the
 * number, so that a number is not used again before all others have been. If *next is 0, as in a
 * new namespace, numbers begin at random: packets that are still under way to the namespace that
 * had the address before find nothing there. Returns 0 with the number in *id; -ENOMEM; -EBUSY if
 * no number is free, and *id is unchanged. May sleep. xa_alloc_cyclic() will not do: when it is
 * short of memory, it looks for a number below, and goes on from there.
 */
int __must_check vqp_id_take(struct xarray *ids, u32 max, u32 *next, void *entry,
			     u32 *id);

#endif
