/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * meta/ is what the kernel does with VQPs of its own: it looks addresses up in meta servers'
 * tables, and calls other kernels. It uses dc as a carrier; what is called registers itself
 * (rpc.h).
 *
 * Where is (tenant, address)? On this node, in the cache of DCT metadata
 * (KRCORE's DCCache), or in a meta server's table, READ one-sided: one READ,
 * seldom two, and no remote process takes part.
 */
#ifndef VQP_META_LOOKUP_H
#define VQP_META_LOOKUP_H

#include <linux/types.h>
#include "engine/wire.h"

struct vqp_ns;

struct vqp_route {
	struct vqp_ns *local;		/* on this node: its namespace, referenced; or NULL: */
	struct vqp_dct dct;		/* the node it is on */
};

/* A meta server's table. */
struct vqp_meta_table {
	struct vqp_dct dct;		/* of the node */
	u32 key;
	u64 addr;
	u32 buckets;
};

/* -EHOSTUNREACH: nobody is there; -ETIMEDOUT: no server answers; -ENETDOWN. Process context. */
int vqp_meta_route(u32 tenant, const u8 *gid, struct vqp_route *route);
void vqp_route_end(struct vqp_route *route);

/* Replace the list of meta servers. Process context. */
int vqp_meta_set(const struct vqp_meta_table *tables, u32 count);

/* As vqp_ns_walk(). Runs under the list's mutex. */
int vqp_meta_walk(int skip, int (*fn)(const struct vqp_meta_table *table, void *arg), void *arg);

void vqp_meta_exit(void);

#endif
