/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which connections of a namespace's stream sockets may go by vqp, as an operator says it: all, or
 * those of some ports and peers. Constant once it is made, so that it is read under RCU and shared
 * by the namespaces that it was given to.
 */
#ifndef VQP_NS_SOCKETS_H
#define VQP_NS_SOCKETS_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/vqp.h>

struct vqp_sockets_rule {
	u8 gid[VQP_GID_BYTES] __aligned(8);	/* the prefix of peers' addresses, */
	u8 bits;			/* its length, */
	bool except;			/* What it matches is out, and else in. */
	u16 port, last;			/* or, if port is not 0, the ports from one to the other */
};

struct vqp_sockets {
	refcount_t ref;
	struct rcu_head rcu;
	u32 nrules;			/* at most VQP_SOCKETS_RULES_MAX; without one all may */
	struct vqp_sockets_rule rules[];
};

/* With room for so many rules, which the caller fills in; referenced. NULL without memory. */
struct vqp_sockets *vqp_sockets_make(u32 nrules);

void vqp_sockets_get(struct vqp_sockets *sockets);
void vqp_sockets_put(struct vqp_sockets *sockets);	/* or NULL; any context */

/*
 * May a connection with that peer go by vqp, at whose one end, be it the peer's or not, a listener
 * has that port? Any context.
 */
bool vqp_sockets_let(const struct vqp_sockets *sockets, const u8 *peer, u16 port);

#endif
