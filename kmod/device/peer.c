// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/inet_ecn.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/hash.h"
#include "device/gid.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"

#define PEER_HOP_LIMIT		64
#define PEER_DEFERRED_MAX	256	/* the most deferred packets of the node */
/*
 * A packet that has been deferred for longer is dropped. Its initiator has retransmitted it by
 * then, and after RESPONDER_LINGER_US its flow's context at this node may have been reused: the
 * packet would be challenged.
 */
#define PEER_DEFERRED_MS	200
/*
 * An address handle that nothing is posted by any more is destroyed after this time, when the
 * device has long sent the packets that were. Should it not have, soft RoCE fails the lane, and
 * those packets are lost.
 */
#define PEER_OLD_AH_JIFFIES	(10 * HZ)
#define PEER_MAX		65536	/* the most that peers_max may be */
#define PEER_RENEWS_MAX		64	/* the most address handles that are made anew at a time */

static unsigned int peers_max = 16384;

static int peers_set_max(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, PEER_MAX);
}

static const struct kernel_param_ops peers_max_ops = {
	.set = peers_set_max,
	.get = param_get_uint,
};

module_param_cb(peers_max, &peers_max_ops, &peers_max, 0444);
__MODULE_PARM_TYPE(peers_max, "uint");
MODULE_PARM_DESC(peers_max, "nodes without a VQP towards them that are remembered, at most (default: 16384)");

static DEFINE_HASHTABLE(peer_table, 10);	/* read under RCU */
static struct vqp_ageing peer_set = { .list = LIST_HEAD_INIT(peer_set.list) };	/* the same peers */
/* Serializes changes of peer_table, peer_set and address handles. */
static DEFINE_MUTEX(peer_mutex);
static struct workqueue_struct *peer_wq;	/* for deferred packets */
static struct workqueue_struct *peer_renew_wq;
static atomic_t peer_deferred;		/* the number of deferred packets */

/* An address handle that nothing is posted by any more. */
struct peer_old_ah {
	struct list_head node;		/* in peer_old_ahs */
	struct ib_ah *ah;
	unsigned long until;		/* It is destroyed then, in jiffies. */
};

static LIST_HEAD(peer_old_ahs);		/* in the order of `until`, under peer_mutex */

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
	return vqp_hash_gid(gid, 0);
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

/* ---- Address handles ---- */

/* -EADDRNOTAVAIL: the device has not got the parent's address. */
static struct ib_ah *peer_create_ah(struct vqp_parent *parent, const u8 *gid)
{
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(parent->dev, parent->gid.port),
	};
	const struct ib_gid_attr *sgid;
	union ib_gid dgid;
	struct ib_ah *ah;

	sgid = vqp_gid_get(parent->dev, &parent->gid);
	if (IS_ERR(sgid))
		return ERR_CAST(sgid);
	memcpy(dgid.raw, gid, VQP_GID_BYTES);
	rdma_ah_set_port_num(&attr, parent->gid.port);
	/* Switches may mark packets instead of dropping them: dc heeds marks. */
	rdma_ah_set_grh(&attr, &dgid, 0, sgid->index, PEER_HOP_LIMIT, INET_ECN_ECT_0);
	ah = rdma_create_user_ah(parent->pd, &attr, NULL);
	rdma_put_gid_attr(sgid);
	return ah;
}

/* Give the peer an address handle; or destroy that, if the peer has one or it is outdated. */
static void peer_set_ah(struct vqp_peer *peer, struct vqp_parent *parent, struct ib_ah *ah)
{
	lockdep_assert_held(&peer_mutex);
	if (peer->ah || ah->sgid_attr->index != READ_ONCE(parent->gid.index))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	else
		WRITE_ONCE(peer->ah, ah);
}

static void peer_renew_work(struct work_struct *work)
{
	struct vqp_peer *peer = container_of(work, struct vqp_peer, renew);
	struct vqp_parent *parent;
	struct ib_ah *ah;
	int token;

	parent = vqp_parent_enter(&token);
	if (parent) {
		ah = ERR_PTR(-EEXIST);
		if (peer->life == parent->life && !READ_ONCE(peer->ah))
			ah = peer_create_ah(parent, peer->gid);
		if (!IS_ERR(ah)) {
			mutex_lock(&peer_mutex);
			peer_set_ah(peer, parent, ah);
			mutex_unlock(&peer_mutex);
		}
		vqp_parent_leave(token);
	}
	vqp_peer_put(peer);
}

struct ib_ah *vqp_peer_ah(struct vqp_peer *peer)
{
	struct ib_ah *ah = READ_ONCE(peer->ah);

	/* If it cannot be made, the next packet tries again. */
	if (unlikely(!ah) && kref_get_unless_zero(&peer->ref) &&
	    !queue_work(peer_renew_wq, &peer->renew))
		vqp_peer_put(peer);
	return ah;
}

static void peer_old_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(peer_old, peer_old_work);

/* Destroy the handles whose time has come, or all. Returns the time to the next, in jiffies. */
static unsigned long peer_destroy_old(bool all)
{
	struct peer_old_ah *old, *next;

	lockdep_assert_held(&peer_mutex);
	list_for_each_entry_safe(old, next, &peer_old_ahs, node) {
		if (!all && time_before(jiffies, old->until))
			return old->until - jiffies;
		list_del(&old->node);
		rdma_destroy_ah(old->ah, RDMA_DESTROY_AH_SLEEPABLE);
		kfree(old);
	}
	return 0;
}

static void peer_old_work(struct work_struct *work)
{
	unsigned long delay;

	mutex_lock(&peer_mutex);
	delay = peer_destroy_old(false);
	mutex_unlock(&peer_mutex);
	if (delay)
		queue_delayed_work(system_dfl_wq, &peer_old, delay);
}

/* Nothing is posted by the handle any more, when a grace period has passed. */
static void peer_retire_ah(struct ib_ah *ah)
{
	struct peer_old_ah *old = kmalloc(sizeof(*old), GFP_KERNEL);

	lockdep_assert_held(&peer_mutex);
	if (!old) {
		synchronize_rcu();
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		return;
	}
	old->ah = ah;
	old->until = jiffies + PEER_OLD_AH_JIFFIES;
	list_add_tail(&old->node, &peer_old_ahs);
}

void vqp_peer_lose_ahs(void)
{
	struct vqp_peer *peer;
	struct ib_ah *ah;
	int bkt;

	mutex_lock(&peer_mutex);
	hash_for_each(peer_table, bkt, peer, node) {
		ah = peer->ah;
		WRITE_ONCE(peer->ah, NULL);
		if (ah)
			peer_retire_ah(ah);
	}
	mutex_unlock(&peer_mutex);
	queue_delayed_work(system_dfl_wq, &peer_old, PEER_OLD_AH_JIFFIES);
}

/* ---- Peers ---- */

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

/*
 * A packet of the peer may be on its way through the table at this moment. It is judged by a clock
 * that knows nothing, because what is forgotten from here on is not told to this peer any more.
 */
static void peer_unlist(struct vqp_peer *peer)
{
	lockdep_assert_held(&peer_mutex);
	spin_lock_bh(&peer->clock_lock);
	hash_del_rcu(&peer->node);
	peer->clock = (struct vqp_clock) { .random = peer->clock.random };
	spin_unlock_bh(&peer->clock_lock);
	vqp_ageing_del(&peer_set, &peer->aged);
}

/* Has nobody but the table a reference? Then nobody gets one any more. */
static bool peer_take_last(struct vqp_aged *aged)
{
	return refcount_dec_if_one(&container_of(aged, struct vqp_peer, aged)->ref.refcount);
}

/*
 * If there are peers_max, let go of the one that was silent longest of those to which no VQP goes.
 * Packets that are on their way to it still use its address handle.
 */
static void peer_make_room(void)
{
	struct vqp_aged *oldest;
	struct vqp_peer *peer;

	lockdep_assert_held(&peer_mutex);
	if (peer_set.count < peers_max)
		return;
	oldest = vqp_ageing_oldest(&peer_set, peer_take_last);
	if (!oldest)
		return;
	peer = container_of(oldest, struct vqp_peer, aged);
	peer_unlist(peer);
	if (peer->ah) {
		peer_retire_ah(peer->ah);
		queue_delayed_work(system_dfl_wq, &peer_old, PEER_OLD_AH_JIFFIES);
	}
	peer_release(&peer->ref);
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
	if (ah == ERR_PTR(-EADDRNOTAVAIL)) {
		/* It is made as soon as the address is there again; see vqp_peer_ah(). */
		ah = NULL;
	} else if (IS_ERR(ah)) {
		kfree(peer);
		return ERR_CAST(ah);
	}
	kref_init(&peer->ref);
	memcpy(peer->gid, gid, VQP_GID_BYTES);
	INIT_WORK(&peer->renew, peer_renew_work);
	spin_lock_init(&peer->clock_lock);
	peer->clock.random = get_random_u32;
	peer->life = parent->life;
	vqp_count_made(VQP_OBJ_PEER);

	mutex_lock(&peer_mutex);
	other = peer_get_known(gid);
	if (!other) {
		if (ah)
			peer_set_ah(peer, parent, ah);
		kref_get(&peer->ref);
		peer_make_room();
		vqp_ageing_add(&peer_set, &peer->aged);
		hash_add_rcu(peer_table, &peer->node, peer_hash(gid));
	}
	mutex_unlock(&peer_mutex);
	if (!other)
		return peer;
	if (ah)
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	vqp_peer_put(peer);
	return other;
}

/* ---- Deferred packets ---- */

static bool peer_packet_is_late(const struct peer_packet *p)
{
	return time_after(jiffies, p->since + msecs_to_jiffies(PEER_DEFERRED_MS));
}

/* Hand a packet in whose sender is known by now, unless to resolve that took too long. */
static void peer_packet_input(const struct peer_packet *p, const struct vqp_parent *parent)
{
	if (peer_packet_is_late(p)) {
		vqp_count_event(VQP_EV_RX_DROPPED);
		return;
	}
	local_bh_disable();
	parent->input(p->lane, p->gid, p->qpn, p->buf, p->bytes, false);
	local_bh_enable();
}

static void peer_deferred_work(struct work_struct *work)
{
	struct peer_packet *p = container_of(work, struct peer_packet, work);
	struct vqp_parent *parent;
	struct vqp_peer *peer;
	int token;

	parent = vqp_parent_enter(&token);
	if (peer_packet_is_late(p)) {
		/* Its sender is not resolved either, because others wait for their turn. */
		vqp_count_event(VQP_EV_RX_DROPPED);
	} else if (parent && parent == p->lane->parent) {
		peer = vqp_peer_get(parent, p->gid);
		if (!IS_ERR(peer)) {
			peer_packet_input(p, parent);
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

/* ---- Coming and going ---- */

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
		peer_unlist(peer);
		if (peer->ah)
			rdma_destroy_ah(peer->ah, RDMA_DESTROY_AH_SLEEPABLE);
		vqp_peer_put(peer);
	}
	peer_destroy_old(true);
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
	if (!peer_wq)
		return -ENOMEM;
	peer_renew_wq = alloc_workqueue("vqp_peer_renew", WQ_UNBOUND, PEER_RENEWS_MAX);
	if (!peer_renew_wq) {
		destroy_workqueue(peer_wq);
		return -ENOMEM;
	}
	return 0;
}

void vqp_peer_exit(void)
{
	cancel_delayed_work_sync(&peer_old);
	destroy_workqueue(peer_renew_wq);
	destroy_workqueue(peer_wq);
}
