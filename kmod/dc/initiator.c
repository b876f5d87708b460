// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/node.h"
#include "base/trace.h"
#include "dc/initiator.h"
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
 * The time for which this machine was suspended counts: meanwhile the target may have forgotten
 * what it has carried out, see vqp_tx_cfg.forget_us.
 */
static u64 initiator_now_us(void)
{
	return ktime_to_us(ktime_get_boottime());
}

static void initiator_fill_open(const struct vqp *vqp, const struct vqp_parent *parent,
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

/* Is vqp attached to dc? Under vqp.lock. */
static bool initiator_is_attached(const struct vqp *vqp)
{
	return vqp->carrier && vqp->carrier->id == VQP_CARRIER_DC;
}

static struct vqp_lane *initiator_lane(const struct vqp *vqp, const struct vqp_parent *parent)
{
	return parent->lanes[vqp->dc.cpu % parent->nlanes];
}

/*
 * The VQP's lane follows the posting thread to its processor, unless a packet under way could be
 * overtaken or the VQP waits for a slot of its old lane.
 */
void vqp_initiator_prepare(struct vqp *vqp)
{
	const u16 cpu = smp_processor_id();

	lockdep_assert_held(&vqp->lock);
	if (vqp->dc.cpu == cpu || !vqp_tx_idle(&vqp->dc.tx) ||
	    vqp_wait_is_queued(&vqp->dc.wait))
		return;
	vqp->dc.cpu = cpu;
	vqp_count_event(VQP_EV_FOLLOWED);
}

static void initiator_tell_resent(struct vqp *vqp)
{
	const u32 resent = vqp->dc.tx.packets_resent;

	vqp_count_events(VQP_EV_RESENT, resent - vqp->dc.resent_told);
	vqp->dc.resent_told = resent;
}

static int initiator_send(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
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
			initiator_fill_open(vqp, parent, pkt);
		dest.ah = vqp_peer_ah(vqp->dc.peer);
		vqp_prio_note(vqp->ns);
		vqp->dc.peer->tx_packets++;
		initiator_tell_resent(vqp);
		lane = initiator_lane(vqp, parent);
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
 * included, and for the data that a READ or an atomic operation will return. The first packet that
 * repeats an echo does not wait for that: the target may drop the echo at any time, when it forgets
 * another flow of this node.
 */
static int initiator_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
			  u32 offset, u32 bytes)
{
	const u32 charge = vqp_op_returns_data(pkt->op) ? pkt->msg_bytes : bytes;
	int passed, ret;

	passed = tx->challenged ? vqp_send_charge(vqp_of_tx(tx), charge) :
				  vqp_send_pass(vqp_of_tx(tx), charge);
	if (passed < 0)
		return passed;
	/* The namespace has used up its rate, so that a later packet may ask for an answer late. */
	if (passed && !vqp_op_returns_data(pkt->op))
		pkt->flags |= VQP_PKT_ACK_REQ;
	ret = initiator_send(tx, pkt, msg, offset, bytes);
	if (ret)
		vqp_send_refund(vqp_of_tx(tx), charge);
	return ret;
}

static int initiator_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset,
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

static void initiator_arm(struct vqp_tx *tx, u64 at_us)
{
	struct vqp *vqp = vqp_of_tx(tx);
	u64 now = initiator_now_us();
	u64 left = at_us > now ? at_us - now : 0;

	/* usecs_to_jiffies() takes 71 minutes at most. A timer that is early is armed again. */
	mod_timer(&vqp->dc.timer, jiffies + usecs_to_jiffies(min_t(u64, left, U32_MAX)));
}

static void initiator_stale(struct vqp_tx *tx)
{
	vqp_do_later(vqp_of_tx(tx), VQP_TODO_REROUTE);
}

static void initiator_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	vqp_send_complete(vqp_of_tx(tx), vqp_send_of(msg), status);
}

static u32 initiator_stamp(struct vqp_tx *tx)
{
	return vqp_node_stamp();
}

static const struct vqp_tx_ops initiator_ops = {
	.xmit = initiator_xmit,
	.place = initiator_place,
	.complete = initiator_complete,
	.arm = initiator_arm,
	.stale = initiator_stale,
	.stamp = initiator_stamp,
};

/*
 * A target that does not answer for this time has probably moved or died: packet loss hardly
 * explains it. The VQP's work looks the target up. Meta servers may not know its new place yet, so
 * that each further lookup follows after twice the time of the one before.
 */
#define INITIATOR_SUSPECT_US	(300ULL * 1000)

static void initiator_watch(struct vqp *vqp, u64 now_us)
{
	if (vqp->state != VQP_QP_CONNECTED || list_empty(&vqp->dc.tx.msgs) ||
	    now_us - vqp->dc.tx.progress_us < INITIATOR_SUSPECT_US << vqp->suspicions)
		return;
	vqp->suspicions++;
	vqp_do_later(vqp, VQP_TODO_SUSPECT);
}

/* A request of the kernel's own that makes the target show that it is alive. */
struct probe {
	struct vqp *vqp;
	struct vqp_send send;
};

static void probe_done(struct vqp_send *send, u32 status)
{
	struct probe *probe = container_of(send, struct probe, send);

	/* The probe is not a request of vqp's owner: undo how vqp_send_complete() counted it. */
	probe->vqp->sends++;
	if (!status)
		probe->vqp->tx_msgs--;
	kfree(probe);
}

/* Post a probe: a WRITE of no bytes, which the target only answers. Without memory, post none. */
static void initiator_probe(struct vqp *vqp, u64 now_us)
{
	struct probe *probe = kzalloc(sizeof(*probe), GFP_ATOMIC | __GFP_NOWARN);

	if (!probe)
		return;
	probe->vqp = vqp;
	probe->send.opcode = VQP_WR_RDMA_WRITE;
	probe->send.done = probe_done;
	probe->send.msg.op = VQP_OP_WRITE;
	vqp_count_made(VQP_OBJ_SEND);
	vqp_tx_post(&vqp->dc.tx, &probe->send.msg, now_us);
}

/*
 * Does vqp have nothing under way, and receives to be filled by its target? The engine does not use
 * the timer then.
 */
static bool initiator_rests(const struct vqp *vqp)
{
	return vqp->max_recv_wr && vqp->state == VQP_QP_CONNECTED && vqp_tx_idle(&vqp->dc.tx) &&
	       !vqp->dc.tx.deadline_us;
}

static void initiator_arm_keepalive(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && initiator_rests(vqp))
		initiator_arm(&vqp->dc.tx, now_us + keepalive_ms * 1000ULL);
}

/*
 * With keepalive_ms set, send a probe to a target that has been silent for that time while receives
 * are posted. Requests fail when their target has died, but receives alone would wait for ever.
 */
static void initiator_probe_if_silent(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && initiator_rests(vqp) && READ_ONCE(vqp->recvs) &&
	    now_us - vqp->dc.tx.heard_us >= keepalive_ms * 1000ULL)
		initiator_probe(vqp, now_us);
	initiator_arm_keepalive(vqp, now_us);
}

/* The state of a flow before a call of the engine, by which initiator_leave() sees changes. */
struct initiator_before {
	u32 cwnd;
	u64 resent;
};

/* Each call of the engine that may send packets stands between this and initiator_leave(). */
static struct initiator_before initiator_enter(struct vqp *vqp)
{
	struct vqp_tx *tx = &vqp->dc.tx;

	lockdep_assert_held(&vqp->lock);
	/* While a namespace of a higher priority sends, the flow may have one packet in flight. */
	tx->cap = vqp_prio_yields(vqp->ns) ? 1 : 0;
	return (struct initiator_before) { .cwnd = vqp_congestion_window(&tx->cc),
					   .resent = tx->packets_resent };
}

static void initiator_leave(struct vqp *vqp, const struct initiator_before *before)
{
	struct vqp_tx *tx = &vqp->dc.tx;
	const u32 cwnd = vqp_congestion_window(&tx->cc);

	if (tx->cap && vqp_tx_is_capped(tx))
		vqp_count_event(VQP_EV_YIELDED);
	if (cwnd != before->cwnd)
		trace_vqp_cwnd(tx->flow, vqp->qp_num, before->cwnd, cwnd,
			       tx->cc.ssthresh / VQP_CWND_ONE, tx->cc.srtt_us);
	if (tx->packets_resent != before->resent)
		trace_vqp_resend(tx->flow, vqp->qp_num, tx->packets_resent, tx->rto_us);
}

static void initiator_timeout(struct timer_list *timer)
{
	struct vqp *vqp = timer_container_of(vqp, timer, dc.timer);
	struct initiator_before before;

	spin_lock(&vqp->lock);
	if (initiator_is_attached(vqp)) {
		before = initiator_enter(vqp);
		vqp_tx_hear_node(&vqp->dc.tx, READ_ONCE(vqp->dc.peer->heard_us));
		vqp_tx_timeout(&vqp->dc.tx, initiator_now_us());
		initiator_leave(vqp, &before);
		vqp_send_resume(vqp);
		if (vqp->dc.tx.packets_resent != before.resent)
			vqp_count_event(VQP_EV_TIMEOUTS);
		initiator_watch(vqp, initiator_now_us());
		initiator_probe_if_silent(vqp, initiator_now_us());
	}
	spin_unlock(&vqp->lock);
}

void vqp_initiator_run(struct vqp *vqp)
{
	const struct initiator_before before = initiator_enter(vqp);

	vqp_tx_run(&vqp->dc.tx, initiator_now_us());
	initiator_leave(vqp, &before);
}

void vqp_initiator_kick(struct vqp *vqp)
{
	spin_lock_bh(&vqp->lock);
	if (initiator_is_attached(vqp)) {
		vqp_initiator_run(vqp);
		vqp_send_resume(vqp);
	}
	spin_unlock_bh(&vqp->lock);
}

void vqp_initiator_input(struct vqp *vqp, const struct vqp_pkt *pkt)
{
	const struct initiator_before before = initiator_enter(vqp);
	const u64 now_us = initiator_now_us();

	WRITE_ONCE(vqp->dc.peer->heard_us, now_us);
	vqp_tx_input(&vqp->dc.tx, pkt, now_us);
	initiator_leave(vqp, &before);
	vqp_send_resume(vqp);
}

static void initiator_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, dc.wait)->ref);
}

/* vqp_wait_ops.go: the lane has a free slot, or goes. Drops the reference of initiator_hold(). */
static void initiator_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, dc.wait);

	vqp_initiator_kick(vqp);
	vqp_put(vqp);
}

static const struct vqp_wait_ops initiator_wait_ops = {
	.hold = initiator_hold,
	.go = initiator_go,
};

void vqp_initiator_unwait(struct vqp *vqp, const struct vqp_parent *parent)
{
	if (vqp_lane_unwait(initiator_lane(vqp, parent), &vqp->dc.wait))
		vqp_put(vqp);
}

/* ---- The flow's beginning and end ---- */

static void initiator_set(struct vqp *vqp, const struct vqp_tx_cfg *cfg, u32 flow, u32 first_psn)
{
	vqp_tx_init(&vqp->dc.tx, &initiator_ops, cfg, flow, first_psn);
	vqp->dc.resent_told = 0;
}

void vqp_initiator_reset(struct vqp *vqp)
{
	/* Nothing is sent with this configuration. */
	static const struct vqp_tx_cfg no_cfg = { .payload_bytes = 1024, .window_packets = 1 };

	initiator_set(vqp, &no_cfg, 0, 0);
}

void vqp_initiator_init(struct vqp *vqp)
{
	vqp_initiator_reset(vqp);
	vqp_wait_init(&vqp->dc.wait, &initiator_wait_ops);
	timer_setup(&vqp->dc.timer, initiator_timeout, 0);
}

void vqp_initiator_begin(struct vqp *vqp, const struct vqp_tx_cfg *cfg)
{
	lockdep_assert_held(&vqp->lock);
	initiator_set(vqp, cfg, vqp->dc.flow, get_random_u32());
}

void vqp_initiator_retarget(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	vqp_tx_retarget(&vqp->dc.tx, initiator_now_us());
}

void vqp_initiator_keep_alive(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	initiator_arm_keepalive(vqp, initiator_now_us());
}
