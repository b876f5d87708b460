// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/ids.h"
#include "base/trace.h"
#include "dc/dc.h"
#include "dc/responder.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"
#include "mem/cursor.h"
#include "ns/namespace.h"
#include "ns/prio.h"
#include "queue/carrier.h"
#include "queue/send.h"
#include "queue/vqp.h"

static unsigned int keepalive_ms;
module_param(keepalive_ms, uint, 0444);
MODULE_PARM_DESC(keepalive_ms, "how often to ask whether those live from whom messages are awaited (default: 0, never)");

/*
 * The VQPs of this node by flow number. The array changes in process context and is read under RCU.
 * A target remembers a flow for VQP_FORGET_US and takes packets of a new flow of that number for
 * old ones, so that numbers are handed out in turn.
 */
#define DC_FLOW_MAX	S32_MAX
static DEFINE_XARRAY_ALLOC1(dc_flows);
static u32 dc_next_flow;	/* under dc_flows' lock */

static u64 dc_now_us(void)
{
	return ktime_to_us(ktime_get());
}

/* ---- The initiator's half: struct vqp_tx_ops. All these are called under vqp.lock. ---- */

static void dc_fill_open(const struct vqp *vqp, const struct vqp_parent *parent,
			 struct vqp_pkt *pkt)
{
	pkt->tenant = vqp->ns->tenant;
	memcpy(pkt->src_gid, vqp->ns->gid, VQP_GID_BYTES);
	memcpy(pkt->dst_gid, vqp->remote_gid, VQP_GID_BYTES);
	pkt->src_qp = vqp->qp_num;
	pkt->dst_qp = vqp->remote_qp;
	pkt->dst_port = vqp->remote_port;
	pkt->src_lanes = parent->dct.lanes;
	memcpy(pkt->src_qpn, parent->dct.qpn, sizeof(pkt->src_qpn));
}

static struct vqp_lane *dc_lane(const struct vqp *vqp, const struct vqp_parent *parent)
{
	return parent->lanes[vqp->dc.cpu % parent->nlanes];
}

/*
 * vqp_carrier_ops.prepare, before requests are posted: the VQP's lane follows the posting thread to
 * its processor, unless a packet under way could be overtaken or the VQP waits for a slot of its
 * old lane.
 */
static void dc_prepare(struct vqp *vqp)
{
	const u16 cpu = smp_processor_id();

	lockdep_assert_held(&vqp->lock);
	if (vqp->dc.cpu == cpu || !vqp_tx_idle(&vqp->dc.tx) ||
	    vqp_wait_is_queued(&vqp->dc.wait))
		return;
	vqp->dc.cpu = cpu;
	vqp_count_event(VQP_EV_FOLLOWED);
}

static void dc_tell_resent(struct vqp *vqp)
{
	const u32 resent = vqp->dc.tx.packets_resent;

	vqp_count_events(VQP_EV_RESENT, resent - vqp->dc.resent_told);
	vqp->dc.resent_told = resent;
}

static int dc_send(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		   u32 offset, u32 bytes)
{
	struct vqp *vqp = vqp_of_tx(tx);
	struct vqp_lane_dest dest = {
		.qpn = vqp->dc.dct.qpn[vqp->dc.flow % vqp->dc.dct.lanes],
		.qkey = vqp->dc.dct.qkey,
	};
	struct vqp_parent *parent;
	struct vqp_cursor c = {};
	struct vqp_lane *lane;
	int ret = 0;

	if (bytes) {
		vqp_send_cursor(&c, vqp, vqp_send_of(msg), 0);
		vqp_cursor_skip(&c, offset);
	}
	rcu_read_lock();
	parent = vqp_parent_rcu();
	/*
	 * If the parent that the flow began with has gone, the address handle has gone with it.
	 * The packet is lost, and dc_fail_all() fails the VQP.
	 */
	if (parent && vqp->dc.peer->life == parent->life) {
		pkt->src_epoch = parent->dct.epoch;
		pkt->dst_epoch = vqp->dc.dct.epoch;
		pkt->src_qkey = parent->dct.qkey;
		if (pkt->flags & VQP_PKT_OPEN)
			dc_fill_open(vqp, parent, pkt);
		dest.ah = vqp->dc.peer->ah;
		vqp_prio_note(vqp->ns);
		vqp->dc.peer->tx_packets++;
		dc_tell_resent(vqp);
		lane = dc_lane(vqp, parent);
		ret = vqp_lane_send(lane, &dest, pkt, &c, bytes,
				    pkt->op == VQP_OP_CLOSE ? NULL : &vqp->dc.wait);
		if (!ret)
			trace_vqp_tx_packet(lane->index, vqp->dc.dct.node_gid, pkt->flow, pkt->op,
					    pkt->psn, bytes);
	}
	rcu_read_unlock();
	vqp_cursor_end(&c);
	return ret;
}

/*
 * vqp_tx_ops.xmit. The namespace's rate is charged for the payload of each packet, retransmissions
 * included, and for the data that a READ or an atomic operation will return.
 */
static int dc_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		   u32 offset, u32 bytes)
{
	const u32 charge = vqp_op_returns_data(pkt->op) ? pkt->msg_bytes : bytes;
	int passed, ret;

	passed = vqp_send_pass(vqp_of_tx(tx), charge);
	if (passed < 0)
		return passed;
	/* The namespace has used up its rate, so that a later packet may ask for an answer late. */
	if (passed && !vqp_op_returns_data(pkt->op))
		pkt->flags |= VQP_PKT_ACK_REQ;
	ret = dc_send(tx, pkt, msg, offset, bytes);
	if (ret)
		vqp_send_refund(vqp_of_tx(tx), charge);
	return ret;
}

static int dc_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset,
		    const void *data, u32 bytes)
{
	struct vqp_cursor c;
	int ret;

	vqp_send_cursor(&c, vqp_of_tx(tx), vqp_send_of(msg), VQP_ACCESS_LOCAL_WRITE);
	vqp_cursor_skip(&c, offset);
	ret = vqp_cursor_scatter(&c, data, bytes);
	vqp_cursor_end(&c);
	return ret;
}

static void dc_arm(struct vqp_tx *tx, u64 at_us)
{
	struct vqp *vqp = vqp_of_tx(tx);
	u64 now = dc_now_us();

	mod_timer(&vqp->dc.timer, jiffies + usecs_to_jiffies(at_us > now ? at_us - now : 0));
}

static void dc_stale(struct vqp_tx *tx)
{
	vqp_do_later(vqp_of_tx(tx), VQP_TODO_REROUTE);
}

static void dc_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	vqp_send_complete(vqp_of_tx(tx), vqp_send_of(msg), status);
}

static const struct vqp_tx_ops dc_tx_ops = {
	.xmit = dc_xmit,
	.place = dc_place,
	.complete = dc_complete,
	.arm = dc_arm,
	.stale = dc_stale,
};

/*
 * A target that does not answer for this time has probably moved or died: packet loss hardly
 * explains it. The VQP's work looks the target up. Meta servers may not know its new place yet, so
 * that each further lookup follows after twice the time of the one before.
 */
#define DC_SUSPECT_US	(300ULL * 1000)

static void dc_watch(struct vqp *vqp, u64 now_us)
{
	if (vqp->state != VQP_QP_CONNECTED || list_empty(&vqp->dc.tx.msgs) ||
	    now_us - vqp->dc.tx.progress_us < DC_SUSPECT_US << vqp->suspicions)
		return;
	vqp->suspicions++;
	vqp_do_later(vqp, VQP_TODO_SUSPECT);
}

/* A request of the kernel's own that makes the target show that it is alive. */
struct dc_probe {
	struct vqp *vqp;
	struct vqp_send send;
};

static void dc_probe_done(struct vqp_send *send, u32 status)
{
	struct dc_probe *probe = container_of(send, struct dc_probe, send);

	/* The probe is not a request of vqp's owner: undo how vqp_send_complete() counted it. */
	probe->vqp->sends++;
	if (!status)
		probe->vqp->tx_msgs--;
	kfree(probe);
}

/* Post a probe: a WRITE of no bytes, which the target only answers. Without memory, post none. */
static void dc_probe(struct vqp *vqp, u64 now_us)
{
	struct dc_probe *probe = kzalloc(sizeof(*probe), GFP_ATOMIC | __GFP_NOWARN);

	if (!probe)
		return;
	probe->vqp = vqp;
	probe->send.opcode = VQP_WR_RDMA_WRITE;
	probe->send.done = dc_probe_done;
	probe->send.msg.op = VQP_OP_WRITE;
	vqp_count_made(VQP_OBJ_SEND);
	vqp_tx_post(&vqp->dc.tx, &probe->send.msg, now_us);
}

/*
 * Does vqp have nothing under way, and receives to be filled by its target? The engine does not use
 * the timer then.
 */
static bool dc_rests(const struct vqp *vqp)
{
	return vqp->max_recv_wr && vqp->state == VQP_QP_CONNECTED && vqp_tx_idle(&vqp->dc.tx) &&
	       !vqp->dc.tx.deadline_us;
}

static void dc_arm_keepalive(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && dc_rests(vqp))
		dc_arm(&vqp->dc.tx, now_us + keepalive_ms * 1000ULL);
}

/*
 * With keepalive_ms set, send a probe to a target that has been silent for that time while receives
 * are posted. Requests fail when their target has died, but receives alone would wait for ever.
 */
static void dc_keep_alive(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && dc_rests(vqp) && READ_ONCE(vqp->recvs) &&
	    now_us - vqp->dc.tx.heard_us >= keepalive_ms * 1000ULL)
		dc_probe(vqp, now_us);
	dc_arm_keepalive(vqp, now_us);
}

/* The state of a flow before a call of the engine, from which dc_end() tells what changed. */
struct dc_before {
	u32 cwnd;
	u64 resent;
};

/* Each call of the engine that may send packets stands between dc_begin() and dc_end(). */
static struct dc_before dc_begin(struct vqp *vqp)
{
	struct vqp_tx *tx = &vqp->dc.tx;

	lockdep_assert_held(&vqp->lock);
	/* While a namespace of a higher priority sends, the flow may have one packet in flight. */
	tx->cap = vqp_prio_yields(vqp->ns) ? 1 : 0;
	return (struct dc_before) { .cwnd = tx->cwnd, .resent = tx->packets_resent };
}

static void dc_end(struct vqp *vqp, const struct dc_before *before)
{
	struct vqp_tx *tx = &vqp->dc.tx;

	if (tx->cap && vqp_tx_is_capped(tx))
		vqp_count_event(VQP_EV_YIELDED);
	if (tx->cwnd != before->cwnd)
		trace_vqp_cwnd(tx->flow, vqp->qp_num, before->cwnd, tx->cwnd, tx->ssthresh,
			       tx->srtt_us);
	if (tx->packets_resent != before->resent)
		trace_vqp_resend(tx->flow, vqp->qp_num, tx->packets_resent, tx->rto_us);
}

static void dc_timeout(struct timer_list *timer)
{
	struct vqp *vqp = timer_container_of(vqp, timer, dc.timer);
	struct dc_before before;

	spin_lock(&vqp->lock);
	if (vqp->carrier == &vqp_dc_carrier) {
		before = dc_begin(vqp);
		vqp_tx_timeout(&vqp->dc.tx, dc_now_us());
		dc_end(vqp, &before);
		vqp_send_resume(vqp);
		if (vqp->dc.tx.packets_resent != before.resent)
			vqp_count_event(VQP_EV_TIMEOUTS);
		dc_watch(vqp, dc_now_us());
		dc_keep_alive(vqp, dc_now_us());
	}
	spin_unlock(&vqp->lock);
}

static void dc_run(struct vqp *vqp)
{
	const struct dc_before before = dc_begin(vqp);

	vqp_tx_run(&vqp->dc.tx, dc_now_us());
	dc_end(vqp, &before);
}

static void dc_kick(struct vqp *vqp)
{
	spin_lock_bh(&vqp->lock);
	if (vqp->carrier == &vqp_dc_carrier) {
		dc_run(vqp);
		vqp_send_resume(vqp);
	}
	spin_unlock_bh(&vqp->lock);
}

/* ---- Attaching ---- */

/* The configuration of a VQP that is not attached to a parent, and so sends nothing. */
static const struct vqp_tx_cfg dc_no_cfg = { .payload_bytes = 1024, .window_packets = 1 };

static void dc_reset(struct vqp *vqp, const struct vqp_tx_cfg *cfg, u32 flow, u32 first_psn)
{
	vqp_tx_init(&vqp->dc.tx, &dc_tx_ops, cfg, flow, first_psn);
	vqp->dc.resent_told = 0;
}

/*
 * Give vqp the target dct at *peer. The reference on *peer becomes vqp's, and *peer the old peer
 * with vqp's reference, or NULL. Returns 0; or -EIO if vqp has failed. Under vqp.lock.
 */
static int dc_set_target(struct vqp *vqp, const struct vqp_parent *parent,
			 const struct vqp_dct *dct, struct vqp_peer **peer)
{
	if (vqp->state != VQP_QP_INIT && vqp->state != VQP_QP_CONNECTED)
		return -EIO;
	swap(vqp->dc.peer, *peer);
	vqp->dc.dct = *dct;
	if (vqp->carrier == &vqp_dc_carrier) {
		vqp_tx_retarget(&vqp->dc.tx, dc_now_us());
	} else {
		/* vqp was not connected, or on the loop carrier: it begins a new flow. */
		vqp_carrier_attach(vqp, &vqp_dc_carrier);
		dc_reset(vqp, &parent->cfg, vqp->dc.flow, get_random_u32());
	}
	vqp_send_resume(vqp);
	return 0;
}

/*
 * The peer at the node `dct`, referenced; or ERR_PTR. If the peer is not known, its address is
 * resolved, which may take seconds.
 */
static struct vqp_peer *dc_peer(struct vqp_parent *parent, const struct vqp_dct *dct)
{
	struct vqp_peer *peer = vqp_peer_get(parent, dct->node_gid);

	if (IS_ERR(peer) && PTR_ERR(peer) != -ENOMEM)
		return ERR_PTR(-EHOSTUNREACH);
	return peer;
}

int vqp_dc_resolve(const struct vqp_dct *dct)
{
	struct vqp_parent *parent;
	struct vqp_peer *peer;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	peer = dc_peer(parent, dct);
	if (IS_ERR(peer))
		ret = PTR_ERR(peer);
	else
		vqp_peer_put(peer);
	vqp_parent_leave(token);
	return ret;
}

/* Take vqp out of dc_flows: answers to its flow are foreign from here on. */
static void dc_unpublish(struct vqp *vqp)
{
	if (vqp->dc.flow)
		xa_erase(&dc_flows, vqp->dc.flow);
}

/* Make vqp wait no longer for a slot of the parent's lane, and drop the reference of dc_hold(). */
static void dc_unwait(struct vqp *vqp, const struct vqp_parent *parent)
{
	if (vqp_lane_unwait(dc_lane(vqp, parent), &vqp->dc.wait))
		vqp_put(vqp);
}

int vqp_dc_attach(struct vqp *vqp, const struct vqp_dct *dct)
{
	struct vqp_parent *parent;
	struct vqp_peer *peer;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	peer = dc_peer(parent, dct);
	if (IS_ERR(peer)) {
		ret = PTR_ERR(peer);
		goto leave;
	}
	if (vqp->dc.flow && vqp->carrier != &vqp_dc_carrier) {
		/*
		 * vqp comes back from the loop carrier. The target of its old flow may remember
		 * that flow, so that the new one needs a number of its own.
		 */
		dc_unwait(vqp, parent);
		dc_unpublish(vqp);
		vqp->dc.flow = 0;
	}
	/* From here on answers find vqp; the engine ignores those to nothing that it sent. */
	if (!vqp->dc.flow)
		ret = vqp_id_take(&dc_flows, DC_FLOW_MAX, &dc_next_flow, vqp, &vqp->dc.flow);
	if (!ret) {
		spin_lock_bh(&vqp->lock);
		ret = dc_set_target(vqp, parent, dct, &peer);
		dc_arm_keepalive(vqp, dc_now_us());
		spin_unlock_bh(&vqp->lock);
	}
	if (peer)
		vqp_peer_put(peer);
leave:
	vqp_parent_leave(token);
	return ret;
}

static void dc_fail_all(void)
{
	unsigned long flow = 0;
	struct vqp *vqp;

	for (;;) {
		rcu_read_lock();
		vqp = flow ? xa_find_after(&dc_flows, &flow, ULONG_MAX, XA_PRESENT) :
			     xa_find(&dc_flows, &flow, ULONG_MAX, XA_PRESENT);
		if (vqp && !kref_get_unless_zero(&vqp->ref)) {
			rcu_read_unlock();
			continue;
		}
		rcu_read_unlock();
		if (!vqp)
			break;
		if (READ_ONCE(vqp->carrier) == &vqp_dc_carrier)
			vqp_fail(vqp, VQP_WC_RETRY_EXC_ERR);
		vqp_put(vqp);
	}
}

/* ---- Packets ---- */

/*
 * Does an answer come from the target's node and of the epoch that the flow knows? A NAK that tells
 * of a new epoch is accepted, too.
 */
static bool dc_is_target(const struct vqp *vqp, const u8 *gid, const struct vqp_pkt *pkt)
{
	return !memcmp(vqp->dc.dct.node_gid, gid, VQP_GID_BYTES) &&
	       (pkt->src_epoch == vqp->dc.dct.epoch ||
		(pkt->op == VQP_OP_NAK && pkt->nak == VQP_NAK_EPOCH));
}

static void dc_input_answer(const u8 *gid, const struct vqp_pkt *pkt)
{
	struct dc_before before;
	struct vqp *vqp;

	rcu_read_lock();
	vqp = xa_load(&dc_flows, pkt->flow);
	if (vqp && !kref_get_unless_zero(&vqp->ref))
		vqp = NULL;
	rcu_read_unlock();
	if (!vqp) {
		vqp_count_event(VQP_EV_RX_FOREIGN);
		return;
	}
	spin_lock(&vqp->lock);
	if (vqp->carrier == &vqp_dc_carrier && dc_is_target(vqp, gid, pkt)) {
		vqp->dc.peer->rx_packets++;
		vqp->dc.peer->epoch = pkt->src_epoch;
		before = dc_begin(vqp);
		vqp_tx_input(&vqp->dc.tx, pkt, dc_now_us());
		dc_end(vqp, &before);
		vqp_send_resume(vqp);
	} else {
		vqp_count_event(VQP_EV_RX_FOREIGN);
	}
	spin_unlock(&vqp->lock);
	vqp_put(vqp);
}

static void dc_input(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes)
{
	struct vqp_peer *peer;
	struct vqp_pkt pkt;

	if (vqp_wire_parse(buf, bytes, &pkt)) {
		vqp_count_event(VQP_EV_RX_MALFORMED);
		return;
	}
	trace_vqp_rx_packet(lane->index, gid, pkt.flow, pkt.op, pkt.psn, bytes);
	switch (pkt.op) {
	case VQP_OP_ACK:
	case VQP_OP_NAK:
	case VQP_OP_READ_RESP:
		if (pkt.dst_epoch == lane->parent->dct.epoch)
			dc_input_answer(gid, &pkt);
		return;
	}
	rcu_read_lock();
	/* A parent that is going sends no answers, because its peers are about to be destroyed. */
	if (vqp_parent_rcu() == lane->parent) {
		peer = vqp_peer_find(gid);
		if (peer)
			vqp_responder_input(lane, peer, qpn, &pkt);
		else
			vqp_peer_defer(lane, gid, qpn, buf, bytes);
	}
	rcu_read_unlock();
}

/* ---- struct vqp_carrier_ops ---- */

static void dc_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, dc.wait)->ref);
}

/* vqp_wait_ops.go: the lane has a free slot, or goes. Drops the reference of dc_hold(). */
static void dc_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, dc.wait);

	dc_kick(vqp);
	vqp_put(vqp);
}

static const struct vqp_wait_ops dc_wait_ops = {
	.hold = dc_hold,
	.go = dc_go,
};

static void dc_init(struct vqp *vqp)
{
	dc_reset(vqp, &dc_no_cfg, 0, 0);
	vqp_wait_init(&vqp->dc.wait, &dc_wait_ops);
	timer_setup(&vqp->dc.timer, dc_timeout, 0);
}

static void dc_release(struct vqp *vqp)
{
	if (vqp->dc.peer)
		vqp_peer_put(vqp->dc.peer);
}

static int dc_take(struct vqp *vqp, struct vqp_send *send)
{
	list_del(&send->msg.link);
	vqp_tx_queue(&vqp->dc.tx, &send->msg);
	return 0;
}

static bool dc_idle(const struct vqp *vqp)
{
	return vqp_tx_idle(&vqp->dc.tx);
}

static bool dc_lost(const struct vqp *vqp)
{
	return vqp->dc.tx.stopped;
}

/* vqp_carrier_ops.abort: a flow without requests is stopped by it, too. */
static void dc_abort(struct vqp *vqp, u32 status)
{
	vqp_tx_abort(&vqp->dc.tx, status);
}

static void dc_close(struct vqp *vqp)
{
	vqp_tx_close(&vqp->dc.tx);
}

/* vqp_carrier_ops.leave: the flow uses nothing of the parent from here on. */
static void dc_leave(struct vqp *vqp)
{
	list_splice_init(&vqp->dc.tx.msgs, &vqp->unsent);
	dc_reset(vqp, &dc_no_cfg, 0, 0);
}

static void dc_detach(struct vqp *vqp)
{
	struct vqp_parent *parent;
	int token;

	timer_shutdown_sync(&vqp->dc.timer);
	if (!vqp->dc.flow)
		return;
	parent = vqp_parent_enter(&token);
	if (!parent)
		return;
	dc_unwait(vqp, parent);
	vqp_parent_leave(token);
}

struct vqp_device_user vqp_dc_device_user = {
	.up = vqp_responder_up,
	.down = dc_fail_all,
	.input = dc_input,
};

const struct vqp_carrier_ops vqp_dc_carrier = {
	.id = VQP_CARRIER_DC,
	.init = dc_init,
	.release = dc_release,
	.take = dc_take,
	.prepare = dc_prepare,
	.run = dc_run,
	.idle = dc_idle,
	.lost = dc_lost,
	.abort = dc_abort,
	.leave = dc_leave,
	.close = dc_close,
	.kick = dc_kick,
	.detach = dc_detach,
	/* The work may have rerouted vqp, and given it a flow number, until it ended. */
	.forget = dc_unpublish,
	.break_recvs = vqp_responder_break,
};
