/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * meta/ is what the kernel does with VQPs of its own: it looks addresses up in meta servers'
 * tables, and calls other kernels. It uses dc as a carrier. The parts of the module that answer
 * calls register themselves (rpc.h), so that meta/ does not know them.
 *
 * A lookup finds the node of (tenant, address): this node, the one that the cache of DCT metadata
 * (KRCORE's DCCache) names, or the one in a meta server's table. The table is READ one-sided, by
 * one READ and seldom by two; no process of the meta server's node takes part.
 */
#ifndef VQP_META_LOOKUP_H
#define VQP_META_LOOKUP_H

#include <linux/types.h>
#include "engine/wire.h"

struct vqp_ns;

struct vqp_route {
	/* The namespace, referenced, if the address is on this node; or NULL. */
	struct vqp_ns *local;
	struct vqp_dct dct;		/* if not: the metadata of its node */
};

/* A meta server's table. */
struct vqp_meta_table {
	struct vqp_dct dct;		/* of the node */
	u32 key;
	u64 addr;
	u32 buckets;
};

/*
 * Look up (tenant, gid). 0: vqp_route_end() ends the route; -EHOSTUNREACH: no node has the address;
 * -ETIMEDOUT: no meta server answers; -ENETDOWN: there is no parent. Process context.
 */
int vqp_meta_route(u32 tenant, const u8 *gid, struct vqp_route *route);
void vqp_route_end(struct vqp_route *route);

/* Replace the list of meta servers. Process context. */
int vqp_meta_set(const struct vqp_meta_table *tables, u32 count);

/* Call fn for each meta server, as vqp_ns_walk() does, under the mutex of the list. */
int vqp_meta_walk(int skip, int (*fn)(const struct vqp_meta_table *table, void *arg), void *arg);

void vqp_meta_exit(void);

#endif
