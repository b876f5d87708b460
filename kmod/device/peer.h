/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Peers are the nodes that this node has exchanged packets with, each with its address handle. To
 * make an address handle resolves the node's link address and sleeps, so that a packet of an
 * unknown node is deferred to process context. Peers to which this node has no VQP make room for
 * others, those that were silent longest first.
 */
#ifndef VQP_DEVICE_PEER_H
#define VQP_DEVICE_PEER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include <linux/workqueue.h>
#include "engine/ageing.h"
#include "engine/clock.h"

struct ib_ah;
struct vqp_lane;
struct vqp_parent;
struct vqp_link;

struct vqp_peer {
	struct kref ref;		/* The table and each flow to the peer have one. */
	struct hlist_node node;		/* in the table, read under RCU */
	struct vqp_aged aged;		/* in peer.c's set; each packet uses it */
	u8 gid[VQP_GID_BYTES];
	/* While vqp_parent.life is `life`; see vqp_peer_ah(). It changes under peer.c's lock. */
	struct ib_ah *ah;
	u32 life;
	struct work_struct renew;	/* It makes `ah`, and has a reference on the peer. */
	u32 qkey, epoch;		/* of the latest packet from the peer; 0: none came */
	u64 tx_packets, rx_packets;	/* approximate: they are counted without a lock */
	u64 heard_us;			/* when the peer last answered a flow; boot time */
	spinlock_t clock_lock;		/* guards `clock`; inside it no other lock is taken */
	struct vqp_clock clock;		/* what this node knows of the peer's, as a target */
	/* The link to the peer, or NULL; it changes under rc/link.c's lock. */
	struct vqp_link __rcu *link;
	/* The requests since link_second that could have gone over a link, approximately. */
	u32 link_requests;
	/* The packets that these have made on a link; and those of the second before, or 0. */
	u32 link_packets, link_rate;
	bool link_reads_only;		/* The latest link to it carried READs alone. */
	u8 link_refusals;		/* that often in a row it had no room for a link */
	/* In jiffies: when that count began; and before which time no link is begun. */
	unsigned long link_second, link_retry_at;
	struct rcu_head rcu;
};

int __init vqp_peer_init(void);
void vqp_peer_exit(void);

/*
 * The peer with that GID, referenced, with an address handle of the parent; or ERR_PTR(). Process
 * context, between vqp_parent_enter() and vqp_parent_leave().
 */
struct vqp_peer *vqp_peer_get(struct vqp_parent *parent, const u8 *gid);
void vqp_peer_put(struct vqp_peer *peer);

/* The peer if it is known, or NULL. Under rcu_read_lock(), without a reference. */
struct vqp_peer *vqp_peer_find(const u8 *gid);

/*
 * The peer's address handle. NULL: there is none for the time being, and packets to the peer are
 * lost; the call has one made. In an RCU reader, to which the handle is valid until it ends. Any
 * context.
 */
struct ib_ah *vqp_peer_ah(struct vqp_peer *peer);

/*
 * The device's GID that address handles were made with has gone, or has another index now: send no
 * more packets by them. Process context.
 */
void vqp_peer_lose_ahs(void);

/*
 * Resolve the sender of a packet, and then hand a copy of the packet to vqp_parent.input again, or
 * drop it. Any context.
 */
void vqp_peer_defer(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes);

/*
 * The parent goes, in two steps: wait for the deferred packets; and when no lane sends any more,
 * forget all peers. Process context.
 */
void vqp_peer_quiesce(void);
void vqp_peer_flush(void);

/* Call fn for each peer, as vqp_ns_walk() does, but under RCU: fn must not sleep. */
int vqp_peer_walk(int skip, int (*fn)(struct vqp_peer *peer, void *arg), void *arg);

#endif
