/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Numbers of VQPs, flows and keys, which others remember for a while after their end. */
#ifndef VQP_BASE_IDS_H
#define VQP_BASE_IDS_H

#include <linux/types.h>

struct xarray;

/*
 * Store entry in an xarray with XA_FLAGS_ALLOC1 under the first free number from
 * *next on, which goes round from max to 1 and is kept under the xarray's lock:
 * a number rests until all others have been used. Where *next is 0, as when a namespace
 * is new, numbers begin anywhere: what is still under way to the namespace that had its
 * address before finds nothing there. -ENOMEM; -EBUSY if none is
 * free; then *id is as before. May sleep. xa_alloc_cyclic() will not do:
 * short of memory it looks for a place below, and goes on from there.
 */
int __must_check vqp_id_take(struct xarray *ids, u32 max, u32 *next, void *entry,
			     u32 *id);

#endif
