/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Peers: the nodes this one has talked to, and the address handle for each.
 * Making one resolves the node's link address and sleeps, so a packet of an
 * unknown node waits in process context for it.
 */
#ifndef VQP_DEVICE_PEER_H
#define VQP_DEVICE_PEER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/vqp.h>

struct ib_ah;
struct vqp_lane;
struct vqp_parent;
struct vqp_link;

struct vqp_peer {
	struct kref ref;		/* the table's, and one per flow towards it */
	struct hlist_node node;		/* RCU */
	u8 gid[VQP_GID_BYTES];
	struct ib_ah *ah;		/* valid while this is the parent's: */
	u32 life;
	u32 qkey, epoch;		/* last heard of; 0: nothing */
	u64 tx_packets, rx_packets;	/* about */
	/* the link to it, or NULL; changed under rc/link.c's lock */
	struct vqp_link __rcu *link;
	u32 link_requests;		/* that could go by one, since: about */
	unsigned long link_second, link_retry_at;	/* jiffies */
	struct rcu_head rcu;
};

int __init vqp_peer_init(void);
void vqp_peer_exit(void);

/* Referenced, or ERR_PTR. Process context, inside vqp_parent_enter(). */
struct vqp_peer *vqp_peer_get(struct vqp_parent *parent, const u8 *gid);
void vqp_peer_put(struct vqp_peer *peer);

/* Known already, or NULL. Under rcu_read_lock(), no reference. */
struct vqp_peer *vqp_peer_find(const u8 *gid);

/* Resolve the sender, then hand the packet to vqp_parent.input again, or drop it. Any context. */
void vqp_peer_defer(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes);

/* The parent is going: wait for deferred packets; later, when no lane sends, forget all. */
void vqp_peer_quiesce(void);
void vqp_peer_flush(void);

/* As vqp_ns_walk(); under RCU: fn must not sleep. */
int vqp_peer_walk(int skip, int (*fn)(struct vqp_peer *peer, void *arg), void *arg);

#endif
