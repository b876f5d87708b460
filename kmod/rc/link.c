// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "device/parent.h"
#include "device/peer.h"
#include "mem/mr.h"
#include "meta/rpc.h"
#include "ns/namespace.h"
#include "ns/prio.h"
#include "queue/send.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "rc/qp.h"
#include "rc/rkey.h"
#include "rc/segment.h"
#include "rc/target.h"

static unsigned int rc_max = 32;
module_param(rc_max, uint, 0644);
MODULE_PARM_DESC(rc_max, "RC QPs towards busy peers, and from them, at most (default: 32; 0: dc alone)");

static unsigned int rc_busy = 64;
module_param(rc_busy, uint, 0444);
MODULE_PARM_DESC(rc_busy, "one-sided requests in a second that make a peer busy (default: 64)");

#define LINK_IDLE_JIFFIES	(5 * HZ)	/* A link that is unused for this long ends. */
/* The pause after a link that failed or ended is twice as long for each of so many refusals. */
#define LINK_RETRY_JIFFIES	HZ
#define LINK_REFUSALS_MAX	6U
/* So many refusals count for a link that has ended because another was used more. */
#define LINK_YIELD_REFUSALS	3
#define LINK_SPARE_JIFFIES	(HZ / 10)	/* A link unused for this long may make room. */
#define LINK_ASK_MS		5000		/* the time limit of an rpc about a link */
#define LINK_ASK_AGAIN_MS	250		/* the pause between two such rpcs */
/* link_sample() counts a request once, and once more for each of this number of bytes, ... */
#define LINK_SEGMENT_BYTES	(64U << 10)
#define LINK_PACKET_BYTES	4096		/* as most links have it */
#define LINK_SAMPLE_SEGMENTS	16U		/* ... up to this number of times. */

/* A request asks for no more windows than this; a later one asks for the others. */
#define LINK_ASKS		64U
/*
 * When a VQP has looked up this number of windows while it hands out requests, beside the first of
 * each request, the other requests go by dc.
 */
#define LINK_LOOKUPS		1024U

static LIST_HEAD(link_list);
static u32 link_count;			/* the length of link_list */
static DEFINE_SPINLOCK(link_list_lock);	/* guards link_list and link_count */
static atomic_t link_next_number;
static struct workqueue_struct *link_wq;

u32 vqp_link_max(void)
{
	return READ_ONCE(rc_max);
}

/* ---- References ---- */

static void link_release(struct kref *ref)
{
	struct vqp_link *link = container_of(ref, struct vqp_link, ref);

	vqp_peer_put(link->peer);
	kfree_rcu(link, rcu);
	vqp_count_freed(VQP_OBJ_LINK);
}

void vqp_link_put(struct vqp_link *link)
{
	kref_put(&link->ref, link_release);
}

struct vqp_link *vqp_link_get(const u8 *gid, u32 number)
{
	struct vqp_link *link, *found = NULL;

	spin_lock_bh(&link_list_lock);
	list_for_each_entry(link, &link_list, node) {
		if (link->number == number && !memcmp(link->peer->gid, gid, VQP_GID_BYTES)) {
			found = link;
			kref_get(&found->ref);
			break;
		}
	}
	spin_unlock_bh(&link_list_lock);
	return found;
}

/* ---- Ends ---- */

void vqp_link_ask_later(struct vqp_link *link)
{
	queue_work(link_wq, &link->ask_work);
}

void vqp_link_fail(struct vqp_link *link)
{
	bool news;

	spin_lock_bh(&link->lock);
	news = !link->failed;
	link->failed = true;
	WRITE_ONCE(link->up, false);
	spin_unlock_bh(&link->lock);
	if (news)
		mod_delayed_work(link_wq, &link->work, 0);
}

/* The time for which dc retransmits to a silent peer before a VQP fails; 0 without a parent. */
static unsigned long link_giveup_jiffies(void)
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
 * Ask the target for the PSN that its half of the link had reached. If the peer cannot be reached,
 * the function looks for the node's new address and asks again for as long as dc would go on: a
 * request must not fail on a link when it would not have failed on dc. Returns 0 and *psn; or
 * -errno, -ENOENT if the target does not know the link.
 */
static int link_ask_reached(struct vqp_link *link, u32 *psn)
{
	const unsigned long until = jiffies + link_giveup_jiffies();
	struct vqp_rpc_msg msg;
	struct vqp *vqp;
	bool again;
	int ret;

	do {
		msg = (struct vqp_rpc_msg) {
			.kind = VQP_RPC_LINK_CLOSE,
			.link = cpu_to_be32(link->number),
		};
		ret = vqp_rpc(link->peer->gid, &msg, LINK_ASK_MS);
		*psn = be32_to_cpu(msg.psn);
		vqp = ret && ret != -ENOENT ? vqp_segments_first_vqp(link) : NULL;
		if (!vqp)
			break;
		again = vqp_rpc_relearn(link->peer->gid, &link->dct, vqp) > 0;
		if (!again && !msg.is_answer && time_before(jiffies, until)) {
			msleep(LINK_ASK_AGAIN_MS);
			again = true;
		}
		vqp_put(vqp);
	} while (again);
	return ret;
}

static void link_kick_all(struct vqp_link *link);

/*
 * The end of a link that has failed or is idle: no request is added any more. The target says which
 * of the segments under way it carried out; vqp_segments_settle() has the rules.
 */
static void link_end(struct vqp_link *link)
{
	bool doubt;
	u32 psn = 0;
	int ret = 0;

	vqp_rkey_close(link);
	cancel_work_sync(&link->ask_work);
	if (link->connected)
		ib_drain_sq(link->qp);
	/* No completion queues it any more. */
	cancel_work_sync(&link->kick_work);
	spin_lock_bh(&link->lock);
	doubt = !list_empty(&link->posted);
	spin_unlock_bh(&link->lock);
	vqp_segments_release(link);
	vqp_rkey_drop_all(link);
	if (link->qp)
		ret = link_ask_reached(link, &psn);
	if (doubt)
		vqp_count_event(VQP_EV_RC_FAILURES);
	vqp_segments_settle(link, !ret, psn);
	link_kick_all(link);
	if (link->qp)
		vqp_rc_qp_retire(link->qp);

	WRITE_ONCE(link->peer->link_retry_at,
		   jiffies + (LINK_RETRY_JIFFIES << link->peer->link_refusals));
	RCU_INIT_POINTER(link->peer->link, NULL);
	spin_lock_bh(&link_list_lock);
	list_del(&link->node);
	link_count--;
	spin_unlock_bh(&link_list_lock);
	smp_mb();	/* Order the decrement before wake_up_var()'s look for waiters. */
	wake_up_var(&link_count);
	/*
	 * vqp_link_fail() may have queued the work once more. It cannot from here on: its callers
	 * hold link_list_lock, or vqp.lock with a segment posted, or run in a completion of the QP,
	 * and the steps above have waited for each of these. Nor can link_complain(), since the QP
	 * has been retired.
	 */
	cancel_delayed_work(&link->work);
	vqp_link_put(link);
}

/* ---- Beginnings ---- */

/* The device reports an error of the QP. The link's lock cannot be taken here. */
static void link_complain(void *ctx)
{
	struct vqp_link *link = ctx;

	WRITE_ONCE(link->complained, true);
	mod_delayed_work(link_wq, &link->work, 0);
}

static int link_create_qp(struct vqp_link *link, struct vqp_rpc_msg *msg)
{
	struct vqp_parent *parent;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	link->sges = min(VQP_LINK_SGES, parent->dev->attrs.max_send_sge);
	if (parent->dev->attrs.max_sge_rd)
		link->sges = min_t(u32, link->sges, parent->dev->attrs.max_sge_rd);
	link->seals_reads = parent->dev->ops.driver_id == RDMA_DRIVER_RXE;
	if (parent->life == link->peer->life)
		link->qp = vqp_rc_qp_create(parent, link, link_complain, VQP_LINK_DEPTH,
					    link->sges);
	if (IS_ERR_OR_NULL(link->qp)) {
		ret = link->qp ? PTR_ERR(link->qp) : -ENETDOWN;
		link->qp = NULL;
	} else {
		msg->qpn = cpu_to_be32(link->qp->qp_num);
		msg->mtu = cpu_to_be32(parent->mtu);
		msg->reads = cpu_to_be32(vqp_rc_qp_reads(parent));
	}
	vqp_parent_leave(token);
	return ret;
}

static int link_connect_qp(struct vqp_link *link, const struct vqp_rpc_msg *msg)
{
	struct vqp_rc_dest dest = {
		.qpn = be32_to_cpu(msg->qpn),
		.psn = be32_to_cpu(msg->psn) & VQP_PSN_MASK,
		.mtu = be32_to_cpu(msg->mtu),
		.reads = be32_to_cpu(msg->reads),
	};
	struct vqp_parent *parent;
	int token, ret = -ENETDOWN;

	memcpy(dest.gid, link->peer->gid, VQP_GID_BYTES);
	parent = vqp_parent_enter(&token);
	if (!parent)
		return ret;
	if (parent->life == link->peer->life) {
		link->mtu = ib_mtu_enum_to_int(ib_mtu_int_to_enum(min(parent->mtu, dest.mtu)));
		ret = vqp_rc_qp_connect(link->qp, parent, link->psn, &dest);
		link->connected = !ret;
	}
	vqp_parent_leave(token);
	return ret;
}

/* Ask the target for room before anything is made. A target that does not know the rpc has some. */
static int link_ask_room(struct vqp_link *link)
{
	const struct vqp_peer *peer = link->peer;
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_LINK_ROOM,
		.count = cpu_to_be32(max(READ_ONCE(peer->link_packets),
					 READ_ONCE(peer->link_rate))),
	};
	int ret = vqp_rpc(peer->gid, &msg, LINK_ASK_MS);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

/*
 * The rpc runs without a reference on the parent, which may go meanwhile: link_connect_qp() sees
 * that by parent->life.
 */
static int link_open(struct vqp_link *link)
{
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_LINK_OPEN,
		.link = cpu_to_be32(link->number),
	};
	int ret;

	link->psn = get_random_u32() & VQP_PSN_MASK;
	link->psn_given = link->psn;
	msg.psn = cpu_to_be32(link->psn);
	ret = link_create_qp(link, &msg);
	if (!ret)
		ret = vqp_rpc(link->peer->gid, &msg, LINK_ASK_MS);
	if (!ret)
		ret = link_connect_qp(link, &msg);
	return ret;
}

static int link_connect(struct vqp_link *link)
{
	struct vqp_peer *peer = link->peer;
	int ret;

	ret = link_ask_room(link);
	if (!ret)
		ret = link_open(link);
	peer->link_refusals = ret == -EBUSY ? min(peer->link_refusals + 1U, LINK_REFUSALS_MAX) : 0;
	return ret;
}

/* The link takes requests from now on, unless it has failed already. Any context. */
static void link_rise(struct vqp_link *link)
{
	spin_lock_bh(&link->lock);
	link->used_at = jiffies;
	if (!link->failed)
		smp_store_release(&link->up, true);	/* pairs with vqp_link_ready() */
	spin_unlock_bh(&link->lock);
}

static void link_probed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct vqp_link *link = container_of(wc->wr_cqe, struct vqp_link, probe);

	if (wc->status == IB_WC_SUCCESS) {
		smp_store_release(&link->probed, true);	/* pairs with link_work() */
		mod_delayed_work(link_wq, &link->work, 0);
	} else {
		vqp_link_fail(link);
	}
}

/*
 * The first request of each link is a WRITE of no bytes, which needs no rkey (IBTA C9-88). Its
 * answer shows that packets of the QP reach the target, and that the target's PSN has moved.
 */
static int link_probe(struct vqp_link *link)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &link->probe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	link->probe.done = link_probed;
	link->psn = (link->psn + 1) & VQP_PSN_MASK;
	link->psn_given = link->psn;
	return ib_post_send(link->qp, &wr.wr, NULL);
}

/*
 * Ask the target whether its device has told it of the moved PSN. Some devices (irdma) tell the PSN
 * that the QP was given for as long as it lives. With these the target cannot say which WRITEs were
 * carried out when the link fails, and a WRITE must not be carried out twice, so that the link
 * carries READs alone. So it does if the target's module is one that knows no probe.
 */
static int link_ask_probed(struct vqp_link *link)
{
	struct vqp_rpc_msg msg = {
		.kind = VQP_RPC_LINK_PROBED,
		.link = cpu_to_be32(link->number),
	};
	int ret = vqp_rpc(link->peer->gid, &msg, LINK_ASK_MS);

	link->writes = !ret;
	WRITE_ONCE(link->peer->link_reads_only, ret == -ENODATA);
	return ret == -ENODATA || ret == -EOPNOTSUPP ? 0 : ret;
}

static void link_work(struct work_struct *work)
{
	struct vqp_link *link = container_of(to_delayed_work(work), struct vqp_link, work);

	if (READ_ONCE(link->complained))
		vqp_link_fail(link);
	if (READ_ONCE(link->failed)) {
		/* The link ends below. */
	} else if (!link->qp) {
		if (link_connect(link) || link_probe(link))
			vqp_link_fail(link);
	} else if (!READ_ONCE(link->up) &&
		   smp_load_acquire(&link->probed)) {	/* pairs with link_probed() */
		if (link_ask_probed(link))
			vqp_link_fail(link);
		else
			link_rise(link);
	} else if (time_after(jiffies, READ_ONCE(link->used_at) + LINK_IDLE_JIFFIES)) {
		vqp_link_fail(link);
	}
	if (READ_ONCE(link->failed)) {
		link_end(link);
		return;
	}
	queue_delayed_work(link_wq, &link->work, LINK_IDLE_JIFFIES);
}

static void link_ask_work(struct work_struct *work)
{
	vqp_rkey_ask(container_of(work, struct vqp_link, ask_work));
}

static void link_kick_work(struct work_struct *work)
{
	link_kick_all(container_of(work, struct vqp_link, kick_work));
}

/* There are rc_max links: end the one that has been unused longest, if it has been idle enough. */
static void link_make_room(void)
{
	struct vqp_link *link, *oldest = NULL;

	lockdep_assert_held(&link_list_lock);
	list_for_each_entry(link, &link_list, node)
		if (!oldest || time_before(link->used_at, oldest->used_at))
			oldest = link;
	if (oldest && READ_ONCE(oldest->up) &&
	    time_after(jiffies, oldest->used_at + LINK_SPARE_JIFFIES))
		vqp_link_fail(oldest);
}

/* Begin to make a link to vqp's peer in the background, unless there is one. Under vqp.lock. */
static void link_begin(struct vqp *vqp)
{
	struct vqp_peer *peer = vqp->dc.peer;
	struct vqp_link *link;

	spin_lock_bh(&link_list_lock);
	WRITE_ONCE(peer->link_retry_at, jiffies + LINK_RETRY_JIFFIES);
	if (rcu_access_pointer(peer->link))
		goto unlock;
	if (link_count >= READ_ONCE(rc_max)) {
		link_make_room();
		goto unlock;
	}
	link = kzalloc(sizeof(*link), GFP_ATOMIC | __GFP_NOWARN);
	if (!link)
		goto unlock;
	kref_init(&link->ref);
	kref_get(&peer->ref);
	link->peer = peer;
	link->dct = vqp->dc.dct;
	link->number = atomic_inc_return(&link_next_number);
	link->used_at = jiffies;
	spin_lock_init(&link->lock);
	INIT_LIST_HEAD(&link->posted);
	INIT_LIST_HEAD(&link->waiters);
	INIT_LIST_HEAD(&link->rkeys_wanted);
	INIT_LIST_HEAD(&link->rkeys_refused);
	INIT_LIST_HEAD(&link->rkeys);
	INIT_WORK(&link->ask_work, link_ask_work);
	INIT_WORK(&link->kick_work, link_kick_work);
	INIT_DELAYED_WORK(&link->work, link_work);
	list_add(&link->node, &link_list);
	link_count++;
	rcu_assign_pointer(peer->link, link);
	vqp_dct_cache_note(0, peer->gid, &vqp->dc.dct);
	vqp_count_made(VQP_OBJ_LINK);
	queue_delayed_work(link_wq, &link->work, 0);
unlock:
	spin_unlock_bh(&link_list_lock);
}

/*
 * Count a request that could have gone by rc, and begin a link once the peer has had rc_busy of
 * them within a second. A large request counts more than once, but never makes a peer busy alone.
 * VQPs of a peer race here without a lock, so that the count is approximate.
 */
static void link_sample(struct vqp *vqp, const struct vqp_msg *msg)
{
	struct vqp_peer *peer = vqp->dc.peer;
	const unsigned long now = jiffies;
	u32 more;

	if (READ_ONCE(peer->link_reads_only) && msg->op != VQP_OP_READ)
		return;
	if (time_after(now, READ_ONCE(peer->link_second) + HZ)) {
		WRITE_ONCE(peer->link_rate,
			   time_after(now, READ_ONCE(peer->link_second) + 2 * HZ) ?
			   0 : READ_ONCE(peer->link_packets));
		WRITE_ONCE(peer->link_second, now);
		WRITE_ONCE(peer->link_requests, 0);
		WRITE_ONCE(peer->link_packets, 0);
	}
	WRITE_ONCE(peer->link_packets, peer->link_packets + 1 + msg->bytes / LINK_PACKET_BYTES);
	more = min(msg->bytes / LINK_SEGMENT_BYTES, LINK_SAMPLE_SEGMENTS);
	WRITE_ONCE(peer->link_requests, peer->link_requests + 1 + more);
	if (peer->link_requests >= rc_busy && time_after_eq(now, READ_ONCE(peer->link_retry_at)))
		link_begin(vqp);
}

/* ---- Requests ---- */

/*
 * May vqp look windows up? A function chooses how many its requests touch, and a request whose
 * windows do not exist has no price: without a bound, those of one list of requests would be looked
 * up for seconds, with bottom halves off.
 */
static bool link_may_look(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	if (vqp->rc.round != vqp->round) {
		vqp->rc.round = vqp->round;
		vqp->rc.lookups = 0;
	}
	return vqp->rc.lookups < LINK_LOOKUPS;
}

/*
 * Are rkeys for all windows that `msg` touches known, and do they allow the access? The function
 * wants some of the rkeys that are not known, and vqp_link.ask_work asks for them.
 */
static bool link_granted(struct vqp_link *link, struct vqp *vqp, const struct vqp_msg *msg)
{
	const u32 access = vqp_link_access(vqp, msg);
	u64 at = msg->remote_addr, end = at + msg->bytes;
	u32 bytes, lookups = 0, missing = 0;

	if (end < at || !link_may_look(vqp))
		return false;
	for (; at < end && missing < LINK_ASKS; at += bytes) {
		bytes = vqp_link_window_part(at, end - at);
		missing += !vqp_rkey_ready(link, vqp, msg->rkey, at, bytes, access);
		lookups++;
	}
	/* The one lookup that each request needs is no more than the rest of its handling. */
	vqp->rc.lookups += missing ? lookups : lookups - 1;
	return !missing;
}

bool vqp_link_ready(struct vqp *vqp, struct vqp_send *send)
{
	const struct vqp_msg *msg = &send->msg;
	struct vqp_link *link;
	bool ready = false;

	lockdep_assert_held(&vqp->lock);
	/* Kernel-to-kernel calls and lookups are too small and too rare for a link. */
	if (vqp_is_kernels(vqp) && !vqp_is_zcopy(vqp))
		return false;
	if (!READ_ONCE(rc_max) || !msg->bytes || vqp_prio_yields(vqp->ns))
		return false;
	rcu_read_lock();
	link = rcu_dereference(vqp->dc.peer->link);
	if (!link)
		link_sample(vqp, msg);
	/* Pairs with the release in link_rise(), which publishes the link's QP. */
	else if (smp_load_acquire(&link->up) && (!vqp->held || vqp->rc.link == link) &&
		 (link->writes || msg->op == VQP_OP_READ))
		ready = link_granted(link, vqp, msg);
	rcu_read_unlock();
	return ready;
}

/* Let waiting VQPs go on, VQP_WAIT_BUDGET at most. True: others may go on, too. */
static bool link_kick_some(struct vqp_link *link)
{
	u32 budget = VQP_WAIT_BUDGET;
	struct vqp_wait *wait;
	bool more;

	spin_lock_bh(&link->lock);
	for (;;) {
		more = !list_empty(&link->waiters) &&
		       (!link->up || link->nposted < VQP_LINK_DEPTH);
		if (!more || !budget--)
			break;
		wait = vqp_wait_take(&link->waiters);
		spin_unlock_bh(&link->lock);
		vqp_wait_go(wait);
		spin_lock_bh(&link->lock);
	}
	spin_unlock_bh(&link->lock);
	return more;
}

void vqp_link_kick(struct vqp_link *link)
{
	if (link_kick_some(link))
		queue_work(link_wq, &link->kick_work);
}

static void link_kick_all(struct vqp_link *link)
{
	while (link_kick_some(link))
		cond_resched();
}

/* VQP_RPC_LINK_ALIVE from node gid. */
static int link_alive(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_link *link = vqp_link_get(gid, be32_to_cpu(msg->link));

	if (!link)
		return -ENOENT;
	vqp_link_put(link);
	return 0;
}

/*
 * VQP_RPC_LINK_YIELD from node gid. What is under way goes on by dc, and the next link to that node
 * begins as if it had been refused.
 */
static int link_yield(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_link *link = vqp_link_get(gid, be32_to_cpu(msg->link));

	if (!link)
		return -ENOENT;
	spin_lock_bh(&link_list_lock);
	/* Nobody touches a link that has ended; see link_end(). */
	if (rcu_access_pointer(link->peer->link) == link) {
		link->peer->link_refusals = LINK_YIELD_REFUSALS;
		vqp_link_fail(link);
	}
	spin_unlock_bh(&link_list_lock);
	vqp_link_put(link);
	return 0;
}

/* VQP_RPC_LINK_COME from node gid. The next request that could go by rc begins a link. */
static int link_come(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at)
{
	struct vqp_peer *peer;

	rcu_read_lock();
	peer = vqp_peer_find(gid);
	if (peer)
		WRITE_ONCE(peer->link_retry_at, jiffies);
	rcu_read_unlock();
	return peer ? 0 : -ENOENT;
}

/* ---- Coming and going ---- */

/* vqp_device_user.down: the parent goes, and all VQPs on dc have failed. Ends all links. */
static void link_down(void)
{
	struct vqp_link *link;

	spin_lock_bh(&link_list_lock);
	list_for_each_entry(link, &link_list, node)
		vqp_link_fail(link);
	spin_unlock_bh(&link_list_lock);
	wait_var_event(&link_count, !READ_ONCE(link_count));
	vqp_rc_target_down();
	vqp_rc_qp_down();
}

struct vqp_device_user vqp_link_device_user = {
	.down = link_down,
};

int __init vqp_link_init(void)
{
	int ret;

	link_wq = alloc_workqueue("vqp_link", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!link_wq)
		return -ENOMEM;
	ret = vqp_rc_target_init();
	if (ret) {
		destroy_workqueue(link_wq);
		return ret;
	}
	vqp_mr_set_user(&vqp_window_mr_user);
	vqp_rpc_handle(VQP_RPC_LINK_ROOM, vqp_rc_target_room);
	vqp_rpc_handle(VQP_RPC_LINK_OPEN, vqp_rc_target_open);
	vqp_rpc_handle(VQP_RPC_LINK_PROBED, vqp_rc_target_probed);
	vqp_rpc_handle(VQP_RPC_LINK_CLOSE, vqp_rc_target_close);
	vqp_rpc_handle(VQP_RPC_LINK_ALIVE, link_alive);
	vqp_rpc_handle(VQP_RPC_LINK_YIELD, link_yield);
	vqp_rpc_handle(VQP_RPC_LINK_COME, link_come);
	vqp_rpc_handle(VQP_RPC_WINDOW, vqp_window_open);
	vqp_rpc_handle(VQP_RPC_REVOKE, vqp_rkey_revoke);
	return 0;
}

void vqp_link_exit(void)
{
	vqp_rc_target_exit();
	destroy_workqueue(link_wq);
}
