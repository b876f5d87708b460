// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/hash.h"
#include "base/node.h"
#include "base/trace.h"
#include "dc/responder.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"
#include "engine/rx.h"
#include "mem/atomic.h"
#include "mem/cursor.h"
#include "mem/mr.h"
#include "mem/pull.h"
#include "ns/namespace.h"
#include "queue/recv.h"
#include "queue/vqp.h"

#define RESPONDER_LIVE		1024	/* the contexts of a lane that are open or failed */
/* All contexts of a lane: so many more may be closed, and linger. */
#define RESPONDER_CONTEXTS	(RESPONDER_LIVE + 1024)
#define RESPONDER_BUCKETS	1024
#define RESPONDER_LINGER_US	(500U * 1000)	/* A closed flow keeps its context for this time. */
/*
 * A flow that is silent for this time has vanished, and its context is reused. The time is longer
 * than any initiator retransmits: if a context expired while packets of the flow are under way,
 * they would open a new context, which would carry the same requests out again.
 */
#define RESPONDER_IDLE_US	(VQP_FORGET_US + 5U * 1000 * 1000)
#define RESPONDER_EXPIRE_PERIOD	(10 * HZ)
#define RESPONDER_HELD_MAX	1024	/* the most held packets of all flows: 4 MiB */

/* The contexts of the flows that arrive on one lane. */
struct vqp_responder {
	spinlock_t lock;		/* guards tab; held while requests are carried out */
	struct vqp_rxtab tab;
	struct vqp_rx *contexts;
	struct list_head *buckets;
};

static struct vqp_responder *responders;
static u32 nresponders;
static atomic_t responder_held;		/* the number of held packets */

static u64 responder_now_us(void)
{
	return ktime_to_us(ktime_get());
}

/* ---- struct vqp_rx_ops. All these are called under vqp_responder.lock. ---- */

/* The destination of the answers to a packet. */
struct responder_sender {
	struct vqp_peer *peer;
	struct vqp_lane *lane;
	struct vqp_lane_dest dest;
};

static u32 responder_hash(const u8 *node_gid, u32 src_epoch, u32 flow)
{
	return vqp_hash_gid(node_gid, (u64)src_epoch << 32 | flow);
}

static u32 responder_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	struct vqp_peer *peer = ((struct responder_sender *)reply_to)->peer;
	u32 echo;

	spin_lock(&peer->clock_lock);
	echo = vqp_clock_judge(&peer->clock, pkt, seen, now_us);
	spin_unlock(&peer->clock_lock);
	if (echo)
		vqp_count_event(VQP_EV_CHALLENGED);
	return echo;
}

/*
 * If the peer has gone, what was known of its clock has gone, too. The next peer of that address
 * begins with a challenge, which is later than all that was forgotten before.
 */
static void responder_forget(const struct vqp_rx *rx)
{
	struct vqp_peer *peer;

	rcu_read_lock();
	peer = vqp_peer_find(rx->node_gid);
	if (peer) {
		spin_lock(&peer->clock_lock);
		vqp_clock_forget(&peer->clock, rx->src_epoch, rx->stamp, rx->last_us,
				 responder_now_us());
		spin_unlock(&peer->clock_lock);
	}
	rcu_read_unlock();
}

static int responder_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	struct vqp_dct dct = {
		.epoch = pkt->src_epoch,
		.qkey = pkt->src_qkey,
		.lanes = pkt->src_lanes,
	};

	rx->ns = vqp_ns_find(pkt->tenant, pkt->dst_gid);
	if (!rx->ns)
		return -ENOENT;
	memcpy(dct.node_gid, rx->node_gid, VQP_GID_BYTES);
	memcpy(dct.qpn, pkt->src_qpn, sizeof(dct.qpn));
	vqp_dct_cache_learn(pkt->tenant, pkt->src_gid, &dct);
	return 0;
}

static void responder_close(struct vqp_rx *rx)
{
	vqp_ns_put(rx->ns);
	rx->ns = NULL;
}

static bool responder_alive(struct vqp_rx *rx)
{
	return vqp_ns_alive(rx->ns);
}

static int responder_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	struct vqp *vqp = vqp_find_target(rx->ns, rx->dst_qp, rx->dst_port, rx->src_gid);
	struct vqp_recv *recv;
	int ret;

	if (!vqp)
		return -ENOENT;
	ret = vqp_recv_take(vqp, bytes, &recv);
	if (!ret)
		rx->recv = recv;
	vqp_put(vqp);
	return ret;
}

static int responder_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	struct vqp_recv *recv = rx->recv;
	struct vqp_cursor c;
	int ret;

	if (READ_ONCE(recv->vqp->silent))
		return -ENOENT;
	vqp_recv_cursor(&c, recv->vqp, recv);
	vqp_cursor_skip(&c, offset);
	ret = vqp_cursor_scatter(&c, data, bytes);
	vqp_cursor_end(&c);
	/* The receive names memory that is not registered any more: the receiving VQP fails. */
	if (ret)
		vqp_fail_later(recv->vqp);
	return ret;
}

static void responder_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	struct vqp_recv *recv = rx->recv;
	struct vqp_recv_info info;

	rx->recv = NULL;
	if (!ok) {
		vqp_recv_put_back(recv);
		return;
	}
	info = (struct vqp_recv_info) {
		.opcode = pkt->op == VQP_OP_WRITE ? VQP_WC_RECV_RDMA_WITH_IMM : VQP_WC_RECV,
		.bytes = bytes,
		.with_imm = pkt->flags & VQP_PKT_IMM,
		.imm = pkt->imm,
		.src_qp = rx->src_qp,
		.src_gid = rx->src_gid,
	};
	vqp_recv_complete(recv, &info);
}

static int responder_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
{
	struct vqp_sge remote = { .addr = addr, .length = bytes, .lkey = rkey };
	struct vqp_cursor c;
	int ret;

	if (!bytes)
		return 0;
	vqp_cursor_init(&c, rx->ns, NULL, VQP_ACCESS_REMOTE_WRITE, &remote, 1);
	ret = vqp_cursor_scatter(&c, data, bytes);
	vqp_cursor_end(&c);
	return ret;
}

/*
 * The rights that a READ needs. VQPs of a kernel, which have no number, READ zero-copy messages
 * from regions that grant none.
 */
static u32 responder_read_access(const struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	return !rx->src_qp && vqp_pull_covers(rx->ns, rx->node_gid, rkey, addr, bytes) ?
	       0 : VQP_ACCESS_REMOTE_READ;
}

static int responder_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	const u32 access = responder_read_access(rx, rkey, addr, bytes);

	return !bytes || vqp_mr_valid(rx->ns, rkey, addr, bytes, access, NULL) ? 0 : -EACCES;
}

static int responder_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	const struct vqp_atomic atomic = {
		.op = pkt->op,
		.rkey = pkt->rkey,
		.addr = pkt->addr,
		.compare_add = pkt->compare_add,
		.swap = pkt->swap,
	};

	return vqp_atomic_do(rx->ns, &atomic, before);
}

static int responder_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx,
			   u32 rkey, u64 addr, u32 bytes)
{
	struct vqp_sge remote = { .addr = addr, .length = bytes, .lkey = rkey };
	struct responder_sender *to = reply_to;
	struct vqp_cursor c = {};
	int ret;

	if (pkt->payload)
		vqp_cursor_init_kernel(&c, (void *)pkt->payload);
	else if (bytes)
		vqp_cursor_init(&c, rx->ns, NULL, responder_read_access(rx, rkey, addr, bytes),
				&remote, 1);
	ret = vqp_lane_send(to->lane, &to->dest, pkt, &c, bytes, NULL);
	vqp_cursor_end(&c);
	if (ret)
		vqp_count_event(VQP_EV_REPLY_LOST);
	else
		trace_vqp_tx_packet(to->lane->index, to->peer->gid, pkt->flow, pkt->op, pkt->psn,
				    bytes);
	return ret;
}

static struct vqp_rx_held *responder_hold(const struct vqp_pkt *pkt)
{
	struct vqp_rx_held *held = NULL;
	void *payload = NULL;

	if (atomic_inc_return(&responder_held) <= RESPONDER_HELD_MAX)
		held = kmalloc(sizeof(*held), GFP_NOWAIT | __GFP_NOWARN);
	if (held)
		payload = kmemdup(pkt->payload, pkt->payload_bytes, GFP_NOWAIT | __GFP_NOWARN);
	if (!payload) {
		kfree(held);
		atomic_dec(&responder_held);
		return NULL;
	}
	held->pkt = *pkt;
	held->pkt.payload = payload;
	vqp_count_made(VQP_OBJ_HELD);
	return held;
}

static void responder_drop(struct vqp_rx_held *held)
{
	kfree(held->pkt.payload);
	kfree(held);
	atomic_dec(&responder_held);
	vqp_count_freed(VQP_OBJ_HELD);
}

static const struct vqp_rx_ops responder_ops = {
	.hash = responder_hash,
	.judge = responder_judge,
	.forget = responder_forget,
	.open = responder_open,
	.close = responder_close,
	.alive = responder_alive,
	.recv_begin = responder_recv_begin,
	.recv_data = responder_recv_data,
	.recv_end = responder_recv_end,
	.write = responder_write,
	.read_check = responder_read_check,
	.atomic = responder_atomic,
	.reply = responder_reply,
	.hold = responder_hold,
	.drop = responder_drop,
};

/* ---- Packets, and the end of namespaces and VQPs ---- */

void vqp_responder_input(struct vqp_lane *lane, struct vqp_peer *peer, u32 qpn,
			 const struct vqp_pkt *pkt)
{
	struct vqp_responder *responder = &responders[lane->index];
	struct responder_sender sender = {
		.peer = peer,
		.lane = lane,
		.dest = { .ah = vqp_peer_ah(peer), .qpn = qpn, .qkey = pkt->src_qkey },
	};
	bool taken;

	spin_lock(&responder->lock);
	taken = vqp_rxtab_input(&responder->tab, peer->gid, &sender, pkt, responder_now_us());
	spin_unlock(&responder->lock);
	if (!taken) {
		vqp_count_event(VQP_EV_RX_FOREIGN);
		return;
	}
	vqp_aged_use(&peer->aged);
	peer->rx_packets++;
	peer->epoch = pkt->src_epoch;
	peer->qkey = pkt->src_qkey;
}

/* Release the contexts of a namespace, or all contexts if `ns` is NULL. */
static void responder_purge(struct vqp_ns *ns)
{
	u32 i;

	for (i = 0; i < nresponders; i++) {
		spin_lock_bh(&responders[i].lock);
		vqp_rxtab_purge(&responders[i].tab, ns);
		spin_unlock_bh(&responders[i].lock);
	}
}

static bool responder_receives_for(const struct vqp_rx *rx, void *vqp)
{
	return ((struct vqp_recv *)rx->recv)->vqp == vqp;
}

void vqp_responder_break(struct vqp *vqp)
{
	u32 i;

	for (i = 0; i < nresponders; i++) {
		spin_lock_bh(&responders[i].lock);
		vqp_rxtab_break(&responders[i].tab, responder_receives_for, vqp);
		spin_unlock_bh(&responders[i].lock);
	}
}

static void responder_expire_work(struct work_struct *work)
{
	u32 i;

	for (i = 0; i < nresponders; i++) {
		spin_lock_bh(&responders[i].lock);
		vqp_rxtab_expire(&responders[i].tab, responder_now_us());
		spin_unlock_bh(&responders[i].lock);
	}
	queue_delayed_work(system_dfl_wq, to_delayed_work(work), RESPONDER_EXPIRE_PERIOD);
}

static DECLARE_DEFERRABLE_WORK(responder_expire, responder_expire_work);

/* ---- Making and destroying ---- */

static u64 responder_bytes(void)
{
	return nresponders * (sizeof(struct vqp_responder) +
			      RESPONDER_CONTEXTS * sizeof(struct vqp_rx) +
			      RESPONDER_BUCKETS * sizeof(struct list_head));
}

void vqp_responder_up(struct vqp_parent *parent)
{
	u32 i;

	for (i = 0; i < nresponders; i++) {
		spin_lock_bh(&responders[i].lock);
		responders[i].tab.payload_bytes = parent->cfg.payload_bytes;
		spin_unlock_bh(&responders[i].lock);
	}
	parent->pool_bytes += responder_bytes();
}

struct vqp_ns_user vqp_responder_ns_user = {
	.kill = responder_purge,
};

static void responder_free(void)
{
	u32 i;

	for (i = 0; i < nresponders; i++) {
		kvfree(responders[i].buckets);
		kvfree(responders[i].contexts);
	}
	kfree(responders);
}

static int __init responder_create(struct vqp_responder *responder)
{
	spin_lock_init(&responder->lock);
	responder->contexts = kvcalloc(RESPONDER_CONTEXTS, sizeof(*responder->contexts),
				       GFP_KERNEL);
	responder->buckets = kvcalloc(RESPONDER_BUCKETS, sizeof(*responder->buckets), GFP_KERNEL);
	if (!responder->contexts || !responder->buckets)
		return -ENOMEM;
	vqp_rxtab_init(&responder->tab, &responder_ops, responder->contexts, RESPONDER_CONTEXTS,
		       RESPONDER_LIVE, responder->buckets, RESPONDER_BUCKETS, VQP_WIRE_HEADER_MAX,
		       vqp_node_epoch(), RESPONDER_LINGER_US, RESPONDER_IDLE_US);
	return 0;
}

int __init vqp_responder_init(void)
{
	const u32 lanes = vqp_node_lanes();
	u32 i;

	responders = kcalloc(lanes, sizeof(*responders), GFP_KERNEL);
	if (!responders)
		return -ENOMEM;
	nresponders = lanes;
	for (i = 0; i < lanes; i++) {
		if (responder_create(&responders[i])) {
			responder_free();
			return -ENOMEM;
		}
		responders[i].tab.lane = i;
		responders[i].tab.nlanes = lanes;
	}
	queue_delayed_work(system_dfl_wq, &responder_expire, RESPONDER_EXPIRE_PERIOD);
	return 0;
}

/* After the device has been released: no packet arrives any more. */
void vqp_responder_exit(void)
{
	cancel_delayed_work_sync(&responder_expire);
	responder_purge(NULL);
	responder_free();
}
