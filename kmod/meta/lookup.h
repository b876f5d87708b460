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

struct vqp;
struct vqp_ns;

struct vqp_route {
	/* The namespace, referenced, if the address is on this node; or NULL. */
	struct vqp_ns *local;
	struct vqp_dct dct;		/* if not: the metadata of its node */
};

/*
 * Look up an address for a function of the namespace. 0: vqp_route_end() ends the route;
 * -EHOSTUNREACH: no node has the address; -ETIMEDOUT: no meta server answers; -ENETDOWN: there is
 * no parent; -EINTR: the task was killed, or `vqp`, for which the address is wanted unless that is
 * NULL, has failed. Process context.
 *
 * All who look an address up at a time share one lookup, which one of them does. A namespace has
 * VQP_LOOKUPS_MAX under way at most; who wants another waits. The kernel itself, for which vqp is
 * NULL, does not.
 */
int vqp_meta_route(struct vqp_ns *ns, const u8 *gid, const struct vqp *vqp,
		   struct vqp_route *route);
void vqp_route_end(struct vqp_route *route);

void vqp_meta_exit(void);

#endif
