// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "base/counters.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"

#define PEER_HOP_LIMIT		64
#define PEER_DEFERRED_MAX	256	/* the most deferred packets of the node */
/*
 * A packet that has been deferred for longer is dropped. Its initiator has retransmitted it by
 * then, and no packet may come back after RESPONDER_LINGER_US, when its flow's context at this node
 * may have been reused.
 */
#define PEER_DEFERRED_MS	200

static DEFINE_HASHTABLE(peer_table, 10);	/* read under RCU */
static DEFINE_MUTEX(peer_mutex);	/* serializes changes of peer_table */
static struct workqueue_struct *peer_wq;
static atomic_t peer_deferred;		/* the number of deferred packets */

/* A deferred packet. */
struct peer_packet {
	struct work_struct work;
	struct vqp_lane *lane;		/* on which the packet arrived */
	unsigned long since;		/* when the packet arrived, in jiffies */
	u8 gid[VQP_GID_BYTES];		/* the sending node */
	u32 qpn;			/* the sending QP */
	u32 bytes;			/* the length of buf */
	u8 buf[];
};

static u32 peer_hash(const u8 *gid)
{
	return jhash(gid, VQP_GID_BYTES, 0);
}

struct vqp_peer *vqp_peer_find(const u8 *gid)
{
	struct vqp_peer *peer;

	hash_for_each_possible_rcu(peer_table, peer, node, peer_hash(gid),
				   lockdep_is_held(&peer_mutex)) {
		if (!memcmp(peer->gid, gid, VQP_GID_BYTES))
			return peer;
	}
	return NULL;
}

static void peer_release(struct kref *ref)
{
	struct vqp_peer *peer = container_of(ref, struct vqp_peer, ref);

	kfree_rcu(peer, rcu);
	vqp_count_freed(VQP_OBJ_PEER);
}

void vqp_peer_put(struct vqp_peer *peer)
{
	kref_put(&peer->ref, peer_release);
}

static struct ib_ah *peer_create_ah(struct vqp_parent *parent, const u8 *gid)
{
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(parent->dev, parent->port),
	};
	union ib_gid dgid;

	memcpy(dgid.raw, gid, VQP_GID_BYTES);
	rdma_ah_set_port_num(&attr, parent->port);
	rdma_ah_set_grh(&attr, &dgid, 0, parent->gid_index, PEER_HOP_LIMIT, 0);
	return rdma_create_user_ah(parent->pd, &attr, NULL);
}

static struct vqp_peer *peer_get_known(const u8 *gid)
{
	struct vqp_peer *peer;

	rcu_read_lock();
	peer = vqp_peer_find(gid);
	if (peer && !kref_get_unless_zero(&peer->ref))
		peer = NULL;
	rcu_read_unlock();
	return peer;
}

struct vqp_peer *vqp_peer_get(struct vqp_parent *parent, const u8 *gid)
{
	struct vqp_peer *peer = peer_get_known(gid), *other;
	struct ib_ah *ah;

	if (peer)
		return peer;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return ERR_PTR(-ENOMEM);
	ah = peer_create_ah(parent, gid);
	if (IS_ERR(ah)) {
		kfree(peer);
		return ERR_CAST(ah);
	}
	kref_init(&peer->ref);
	memcpy(peer->gid, gid, VQP_GID_BYTES);
	peer->ah = ah;
	peer->life = parent->life;
	vqp_count_made(VQP_OBJ_PEER);

	mutex_lock(&peer_mutex);
	other = peer_get_known(gid);
	if (!other) {
		kref_get(&peer->ref);
		hash_add_rcu(peer_table, &peer->node, peer_hash(gid));
	}
	mutex_unlock(&peer_mutex);
	if (!other)
		return peer;
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	vqp_peer_put(peer);
	return other;
}

static void peer_deferred_work(struct work_struct *work)
{
	struct peer_packet *p = container_of(work, struct peer_packet, work);
	struct vqp_parent *parent;
	struct vqp_peer *peer;
	int token;

	parent = vqp_parent_enter(&token);
	if (time_after(jiffies, p->since + msecs_to_jiffies(PEER_DEFERRED_MS))) {
		vqp_count_event(VQP_EV_RX_DROPPED);
	} else if (parent && parent == p->lane->parent) {
		peer = vqp_peer_get(parent, p->gid);
		if (!IS_ERR(peer)) {
			local_bh_disable();
			parent->input(p->lane, p->gid, p->qpn, p->buf, p->bytes);
			local_bh_enable();
			vqp_peer_put(peer);
		}
	}
	if (parent)
		vqp_parent_leave(token);
	kfree(p);
	vqp_count_freed(VQP_OBJ_DEFERRED);
	atomic_dec(&peer_deferred);
}

void vqp_peer_defer(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes)
{
	struct peer_packet *p = NULL;

	if (atomic_inc_return(&peer_deferred) <= PEER_DEFERRED_MAX)
		p = kmalloc(struct_size(p, buf, bytes), GFP_ATOMIC);
	if (!p) {
		atomic_dec(&peer_deferred);
		vqp_count_event(VQP_EV_RX_DROPPED);
		return;
	}
	INIT_WORK(&p->work, peer_deferred_work);
	p->lane = lane;
	p->since = jiffies;
	memcpy(p->gid, gid, VQP_GID_BYTES);
	p->qpn = qpn;
	p->bytes = bytes;
	memcpy(p->buf, buf, bytes);
	vqp_count_made(VQP_OBJ_DEFERRED);
	queue_work(peer_wq, &p->work);
}

void vqp_peer_quiesce(void)
{
	flush_workqueue(peer_wq);
}

void vqp_peer_flush(void)
{
	struct vqp_peer *peer;
	struct hlist_node *next;
	int bkt;

	mutex_lock(&peer_mutex);
	hash_for_each_safe(peer_table, bkt, next, peer, node) {
		hash_del_rcu(&peer->node);
		rdma_destroy_ah(peer->ah, RDMA_DESTROY_AH_SLEEPABLE);
		vqp_peer_put(peer);
	}
	mutex_unlock(&peer_mutex);
}

int vqp_peer_walk(int skip, int (*fn)(struct vqp_peer *peer, void *arg), void *arg)
{
	struct vqp_peer *peer;
	int bkt, i = 0;

	rcu_read_lock();
	hash_for_each_rcu(peer_table, bkt, peer, node) {
		if (i++ < skip)
			continue;
		if (fn(peer, arg)) {
			i--;
			break;
		}
	}
	rcu_read_unlock();
	return i;
}

int __init vqp_peer_init(void)
{
	/* An ordered queue keeps the packets of a node in order while its address is resolved. */
	peer_wq = alloc_ordered_workqueue("vqp_peer", WQ_MEM_RECLAIM);
	return peer_wq ? 0 : -ENOMEM;
}

void vqp_peer_exit(void)
{
	destroy_workqueue(peer_wq);
}
