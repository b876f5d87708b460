/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The cache of DCT metadata (KRCORE's DCCache): on which node an address of a
 * tenant was last known to be. An entry may be stale: the target then refuses,
 * and the entry is forgotten. The cache is best effort: without memory the next
 * connect looks the address up again, and what was used least lately makes room.
 * What packets tell makes room for what packets tell alone.
 */
#ifndef VQP_BASE_DCT_CACHE_H
#define VQP_BASE_DCT_CACHE_H

#include <linux/types.h>
#include "engine/wire.h"

/* Copy what is known of (tenant, gid) to *dct. Any context. */
bool vqp_dct_cache_get(u32 tenant, const u8 *gid, struct vqp_dct *dct);

/* Record the result of a lookup. Process context. */
void vqp_dct_cache_put(u32 tenant, const u8 *gid, const struct vqp_dct *dct);

/* Record where an address is that this node talks to, unless that is known. Any context. */
void vqp_dct_cache_note(u32 tenant, const u8 *gid, const struct vqp_dct *dct);

/* Record that a message came from (tenant, gid) on that node. Any context. */
void vqp_dct_cache_learn(u32 tenant, const u8 *gid, const struct vqp_dct *dct);

/* Record a guess, which replaces nothing that is known. Process context. */
void vqp_dct_cache_suggest(u32 tenant, const u8 *gid, const struct vqp_dct *dct);

/* Forget one address. Any context. */
void vqp_dct_cache_forget(u32 tenant, const u8 *gid);

/*
 * A target is silent. Forget its address, unless that was recorded in the last 100 ms: of many VQPs
 * with that target, one has looked it up. Any context.
 */
void vqp_dct_cache_doubt(u32 tenant, const u8 *gid);

/* The target is not at *dct: forget the address if that is what is known. Any context. */
void vqp_dct_cache_disprove(u32 tenant, const u8 *gid, const struct vqp_dct *dct);

/* Forget all addresses. Process context. */
void vqp_dct_cache_clear(void);

/*
 * Call fn for each entry from the `skip`th on until it returns non-zero; returns
 * how many were done. Runs under RCU: fn must not sleep.
 */
int vqp_dct_cache_walk(int skip, int (*fn)(u32 tenant, const u8 *gid,
					   const struct vqp_dct *dct, void *arg), void *arg);

#endif
