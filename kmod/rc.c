// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "ask.h"
#include "counters.h"
#include "dct_cache.h"
#include "grant.h"
#include "mr.h"
#include "ns.h"
#include "parent.h"
#include "peer.h"
#include "prio.h"
#include "qp.h"
#include "rc.h"
#include "rc_end.h"
#include "rc_qp.h"
#include "send.h"

static unsigned int rc_max = 32;
module_param(rc_max, uint, 0644);
MODULE_PARM_DESC(rc_max, "RC QPs towards busy peers, and from them, at most (default: 32; 0: dc alone)");

static unsigned int rc_busy = 64;
module_param(rc_busy, uint, 0444);
MODULE_PARM_DESC(rc_busy, "one-sided requests in a second that make a peer busy (default: 64)");

#define RC_IDLE_JIFFIES		(5 * HZ)	/* unused for so long: it is let go */
#define RC_RETRY_JIFFIES	HZ		/* after one that could not be made, or failed */
#define RC_SPARE_JIFFIES	(HZ / 10)	/* unused for so long: may make room for another */
#define RC_ASK_MS		5000
#define RC_ASK_AGAIN_MS		250
#define RC_PIECE_BYTES		(64U << 10)	/* of a request: counts as one more, */
#define RC_SAMPLE_PIECES	16U		/* at most so many */

static LIST_HEAD(rc_list);
static DEFINE_SPINLOCK(rc_list_lock);	/* guards it and: */
static u32 rc_count;
static atomic_t rc_next_number;
static struct workqueue_struct *rc_wq;

u32 vqp_rc_max(void)
{
	return READ_ONCE(rc_max);
}

/* ---- References ---- */

static void rc_release(struct kref *ref)
{
	struct vqp_rc *rc = container_of(ref, struct vqp_rc, ref);

	vqp_peer_put(rc->peer);
	kfree_rcu(rc, rcu);
	vqp_count_freed(VQP_OBJ_RC);
}

void vqp_rc_put(struct vqp_rc *rc)
{
	kref_put(&rc->ref, rc_release);
}

struct vqp_rc *vqp_rc_get(const u8 *gid, u32 number)
{
	struct vqp_rc *rc, *found = NULL;

	spin_lock_bh(&rc_list_lock);
	list_for_each_entry(rc, &rc_list, node) {
		if (rc->number == number && !memcmp(rc->peer->gid, gid, VQP_GID_BYTES)) {
			found = rc;
			kref_get(&found->ref);
			break;
		}
	}
	spin_unlock_bh(&rc_list_lock);
	return found;
}

/* ---- Ends ---- */

void vqp_rc_ask_later(struct vqp_rc *rc)
{
	queue_work(rc_wq, &rc->ask_work);
}

void vqp_rc_fail(struct vqp_rc *rc)
{
	bool news;

	spin_lock_bh(&rc->lock);
	news = !rc->failed;
	rc->failed = true;
	WRITE_ONCE(rc->up, false);
	spin_unlock_bh(&rc->lock);
	if (news)
		mod_delayed_work(rc_wq, &rc->work, 0);
}

/* How long dc goes on with a peer that is silent. */
static unsigned long rc_giveup_jiffies(void)
{
	struct vqp_parent *parent;
	unsigned long giveup = 0;
	int token;

	parent = vqp_parent_enter(&token);
	if (parent) {
		giveup = usecs_to_jiffies(parent->cfg.giveup_us);
		vqp_parent_leave(token);
	}
	return giveup;
}

/*
 * What the target's end had reached. Where it is now may be known only later: requests are not to
 * fail on a link that would not fail on dc, which waits for so long.
 */
static int rc_ask_reached(struct vqp_rc *rc, u32 *psn)
{
	const unsigned long until = jiffies + rc_giveup_jiffies();
	struct vqp_ask msg;
	struct vqp *vqp;
	bool again;
	int ret;

	do {
		msg = (struct vqp_ask) {
			.kind = VQP_ASK_RC_CLOSE,
			.link = cpu_to_be32(rc->number),
		};
		ret = vqp_ask(rc->peer->gid, &msg, RC_ASK_MS);
		*psn = be32_to_cpu(msg.psn);
		vqp = ret && ret != -ENOENT ? vqp_rc_first_vqp(rc) : NULL;
		if (!vqp)
			break;
		again = vqp_ask_relearn(rc->peer->gid, &rc->dct, vqp->ns->tenant,
					vqp->remote_gid) > 0;
		if (!again && !msg.is_answer && time_before(jiffies, until)) {
			msleep(RC_ASK_AGAIN_MS);
			again = true;
		}
		vqp_put(vqp);
	} while (again);
	return ret;
}

/* It takes nothing any more. What it has not brought to an end, its target or dc does. */
static void rc_end(struct vqp_rc *rc)
{
	bool doubt;
	u32 psn = 0;
	int ret = 0;

	vqp_grant_close(rc);
	cancel_work_sync(&rc->ask_work);
	if (rc->connected)
		ib_drain_sq(rc->qp);
	spin_lock_bh(&rc->lock);
	doubt = !list_empty(&rc->posted);
	spin_unlock_bh(&rc->lock);
	vqp_rc_pieces_release(rc);
	vqp_grant_drop_all(rc);
	if (rc->qp)
		ret = rc_ask_reached(rc, &psn);
	if (doubt)
		vqp_count_event(VQP_EV_RC_FAILURES);
	vqp_rc_pieces_settle(rc, !ret, psn);
	vqp_rc_kick(rc);
	if (rc->qp)
		vqp_rc_qp_retire(rc->qp);

	WRITE_ONCE(rc->peer->rc_retry_at, jiffies + RC_RETRY_JIFFIES);
	RCU_INIT_POINTER(rc->peer->rc, NULL);
	spin_lock_bh(&rc_list_lock);
	list_del(&rc->node);
	rc_count--;
	spin_unlock_bh(&rc_list_lock);
	smp_mb();	/* wake_up_var() looks for waiters without a lock */
	wake_up_var(&rc_count);
	/* Queued once more, perhaps, by whoever said that it failed. Nobody does from here on. */
	cancel_delayed_work(&rc->work);
	vqp_rc_put(rc);
}

/* ---- Beginnings ---- */

static int rc_create_qp(struct vqp_rc *rc, struct vqp_ask *msg)
{
	struct vqp_parent *parent;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	rc->sges = min(VQP_RC_SGES, parent->dev->attrs.max_send_sge);
	if (parent->dev->attrs.max_sge_rd)
		rc->sges = min_t(u32, rc->sges, parent->dev->attrs.max_sge_rd);
	if (parent->life == rc->peer->life)
		rc->qp = vqp_rc_qp_create(parent, rc, VQP_RC_DEPTH, rc->sges);
	if (IS_ERR_OR_NULL(rc->qp)) {
		ret = rc->qp ? PTR_ERR(rc->qp) : -ENETDOWN;
		rc->qp = NULL;
	} else {
		msg->qpn = cpu_to_be32(rc->qp->qp_num);
		msg->mtu = cpu_to_be32(parent->mtu);
		msg->reads = cpu_to_be32(vqp_rc_qp_reads(parent));
	}
	vqp_parent_leave(token);
	return ret;
}

static int rc_connect_qp(struct vqp_rc *rc, const struct vqp_ask *msg)
{
	struct vqp_rc_dest dest = {
		.qpn = be32_to_cpu(msg->qpn),
		.psn = be32_to_cpu(msg->psn) & VQP_PSN_MASK,
		.mtu = be32_to_cpu(msg->mtu),
		.reads = be32_to_cpu(msg->reads),
	};
	struct vqp_parent *parent;
	int token, ret = -ENETDOWN;

	memcpy(dest.gid, rc->peer->gid, VQP_GID_BYTES);
	parent = vqp_parent_enter(&token);
	if (!parent)
		return ret;
	if (parent->life == rc->peer->life) {
		rc->mtu = ib_mtu_enum_to_int(ib_mtu_int_to_enum(min(parent->mtu, dest.mtu)));
		ret = vqp_rc_qp_connect(rc->qp, parent, rc->psn, &dest);
		rc->connected = !ret;
	}
	vqp_parent_leave(token);
	return ret;
}

/* The parent may go while the target is asked: nothing holds it meanwhile. */
static int rc_connect(struct vqp_rc *rc)
{
	struct vqp_ask msg = {
		.kind = VQP_ASK_RC_OPEN,
		.link = cpu_to_be32(rc->number),
	};
	int ret;

	rc->psn = get_random_u32() & VQP_PSN_MASK;
	rc->psn_given = rc->psn;
	msg.psn = cpu_to_be32(rc->psn);
	ret = rc_create_qp(rc, &msg);
	if (!ret)
		ret = vqp_ask(rc->peer->gid, &msg, RC_ASK_MS);
	if (!ret)
		ret = rc_connect_qp(rc, &msg);
	return ret;
}

/* Takes requests from now on, unless it has been given up already. */
static void rc_rise(struct vqp_rc *rc)
{
	spin_lock_bh(&rc->lock);
	rc->used_at = jiffies;
	if (!rc->failed)
		smp_store_release(&rc->up, true);	/* pairs with vqp_rc_ready() */
	spin_unlock_bh(&rc->lock);
}

static void rc_work(struct work_struct *work)
{
	struct vqp_rc *rc = container_of(to_delayed_work(work), struct vqp_rc, work);

	if (!rc->qp && !READ_ONCE(rc->failed)) {
		if (rc_connect(rc))
			vqp_rc_fail(rc);
		else
			rc_rise(rc);
	} else if (time_after(jiffies, READ_ONCE(rc->used_at) + RC_IDLE_JIFFIES)) {
		vqp_rc_fail(rc);
	}
	if (READ_ONCE(rc->failed)) {
		rc_end(rc);
		return;
	}
	queue_delayed_work(rc_wq, &rc->work, RC_IDLE_JIFFIES);
}

static void rc_ask_work(struct work_struct *work)
{
	vqp_grant_ask(container_of(work, struct vqp_rc, ask_work));
}

/* Too many: the one that has not been used for the longest time makes room, if there is one. */
static void rc_make_room(void)
{
	struct vqp_rc *rc, *oldest = NULL;

	lockdep_assert_held(&rc_list_lock);
	list_for_each_entry(rc, &rc_list, node)
		if (!oldest || time_before(rc->used_at, oldest->used_at))
			oldest = rc;
	if (oldest && READ_ONCE(oldest->up) &&
	    time_after(jiffies, oldest->used_at + RC_SPARE_JIFFIES))
		vqp_rc_fail(oldest);
}

/* Begin to make a link to vqp's peer. */
static void rc_begin(struct vqp *vqp)
{
	struct vqp_peer *peer = vqp->dc.peer;
	struct vqp_rc *rc;

	spin_lock_bh(&rc_list_lock);
	WRITE_ONCE(peer->rc_retry_at, jiffies + RC_RETRY_JIFFIES);
	if (rcu_access_pointer(peer->rc))
		goto unlock;
	if (rc_count >= READ_ONCE(rc_max)) {
		rc_make_room();
		goto unlock;
	}
	rc = kzalloc(sizeof(*rc), GFP_ATOMIC | __GFP_NOWARN);
	if (!rc)
		goto unlock;
	kref_init(&rc->ref);
	kref_get(&peer->ref);
	rc->peer = peer;
	rc->dct = vqp->dc.dct;
	rc->number = atomic_inc_return(&rc_next_number);
	rc->used_at = jiffies;
	spin_lock_init(&rc->lock);
	INIT_LIST_HEAD(&rc->posted);
	INIT_LIST_HEAD(&rc->waiters);
	INIT_LIST_HEAD(&rc->grants);
	INIT_WORK(&rc->ask_work, rc_ask_work);
	INIT_DELAYED_WORK(&rc->work, rc_work);
	list_add(&rc->node, &rc_list);
	rc_count++;
	rcu_assign_pointer(peer->rc, rc);
	vqp_dct_cache_learn(0, peer->gid, &vqp->dc.dct);
	vqp_count_made(VQP_OBJ_RC);
	queue_delayed_work(rc_wq, &rc->work, 0);
unlock:
	spin_unlock_bh(&rc_list_lock);
}

/*
 * A request that could go by rc: with many in a second its peer is worth a link. A large one is
 * like several, but does not make a peer busy alone. About.
 */
static void rc_sample(struct vqp *vqp, u32 bytes)
{
	struct vqp_peer *peer = vqp->dc.peer;
	const unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(peer->rc_second) + HZ)) {
		WRITE_ONCE(peer->rc_second, now);
		WRITE_ONCE(peer->rc_requests, 0);
	}
	WRITE_ONCE(peer->rc_requests,
		   peer->rc_requests + 1 + min(bytes / RC_PIECE_BYTES, RC_SAMPLE_PIECES));
	if (peer->rc_requests >= rc_busy && time_after_eq(now, READ_ONCE(peer->rc_retry_at)))
		rc_begin(vqp);
}

/* ---- Requests ---- */

/* All of its windows are granted? Those that are not known are asked for. */
static bool rc_granted(struct vqp_rc *rc, const struct vqp *vqp, const struct vqp_msg *msg)
{
	const u32 access = vqp_rc_access(vqp, msg);
	u64 at = msg->remote_addr, end = at + msg->bytes;
	bool ready = true;
	u32 bytes;

	if (end < at)
		return false;
	for (; at < end; at += bytes) {
		bytes = vqp_rc_window_part(at, end - at);
		ready &= vqp_grant_ready(rc, vqp, msg->rkey, at, bytes, access);
	}
	return ready;
}

bool vqp_rc_ready(struct vqp *vqp, struct vqp_send *send)
{
	const struct vqp_msg *msg = &send->msg;
	struct vqp_rc *rc;
	bool ready = false;

	lockdep_assert_held(&vqp->lock);
	/* What kernels tell each other, and lookups, are not worth a link. */
	if (vqp_is_kernels(vqp) && !vqp_fetches(vqp))
		return false;
	if (!READ_ONCE(rc_max) || !msg->bytes || vqp_prio_yields(vqp->ns))
		return false;
	rcu_read_lock();
	rc = rcu_dereference(vqp->dc.peer->rc);
	if (!rc)
		rc_sample(vqp, msg->bytes);
	/* Pairs with rc_rise(): what a link is made with is seen. */
	else if (smp_load_acquire(&rc->up) && (!vqp->held || vqp->rc.link == rc))
		ready = rc_granted(rc, vqp, msg);
	rcu_read_unlock();
	return ready;
}

/* ---- Coming and going ---- */

/* The parent has gone, and VQPs on dc have failed: all links end. */
static void rc_down(void)
{
	struct vqp_rc *rc;

	spin_lock_bh(&rc_list_lock);
	list_for_each_entry(rc, &rc_list, node)
		vqp_rc_fail(rc);
	spin_unlock_bh(&rc_list_lock);
	wait_var_event(&rc_count, !READ_ONCE(rc_count));
	vqp_rc_end_down();
	vqp_rc_qp_down();
}

struct vqp_device_user vqp_rc_device_user = {
	.down = rc_down,
};

int __init vqp_rc_init(void)
{
	int ret;

	rc_wq = alloc_workqueue("vqp_rc", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rc_wq)
		return -ENOMEM;
	ret = vqp_rc_end_init();
	if (ret) {
		destroy_workqueue(rc_wq);
		return ret;
	}
	vqp_mr_set_revoke(vqp_window_revoke);
	vqp_ask_handle(VQP_ASK_RC_OPEN, vqp_rc_end_open);
	vqp_ask_handle(VQP_ASK_RC_CLOSE, vqp_rc_end_close);
	vqp_ask_handle(VQP_ASK_WINDOW, vqp_window_open);
	vqp_ask_handle(VQP_ASK_REVOKE, vqp_grant_revoke);
	return 0;
}

void vqp_rc_exit(void)
{
	vqp_rc_end_exit();
	destroy_workqueue(rc_wq);
}
