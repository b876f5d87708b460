// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include "compat.h"
#include "counters.h"
#include "cursor.h"
#include "dc.h"
#include "gate.h"
#include "lane.h"
#include "ns.h"
#include "number.h"
#include "parent.h"
#include "peer.h"
#include "prio.h"
#include "qp.h"
#include "responder.h"
#include "send.h"

static unsigned int keepalive_ms;
module_param(keepalive_ms, uint, 0444);
MODULE_PARM_DESC(keepalive_ms, "how often to ask whether those live from whom messages are awaited (default: 0, never)");

/*
 * Flow number -> VQP. Written in process context, read under RCU. Targets remember a flow for half
 * a minute, and take no other for it.
 */
#define DC_FLOW_MAX	S32_MAX
static DEFINE_XARRAY_ALLOC1(dc_flows);
static u32 dc_next_flow;	/* under its lock */

static u64 dc_now_us(void)
{
	return ktime_to_us(ktime_get());
}

/* ---- The initiator's side: struct vqp_tx_ops, all under vqp.lock ---- */

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
	return parent->lanes[vqp->cpu % parent->nlanes];
}

/*
 * A thread that has moved to another processor takes its VQP along, when nothing is under way that
 * could be overtaken, or waits for a slot of the lane.
 */
void vqp_dc_follow(struct vqp *vqp)
{
	const u16 cpu = smp_processor_id();

	lockdep_assert_held(&vqp->lock);
	if (vqp->cpu == cpu || !vqp_tx_idle(&vqp->tx) ||
	    !list_empty_careful(&vqp->lane_wait))
		return;
	vqp->cpu = cpu;
	vqp_count_event(VQP_EV_FOLLOWED);
}

static void dc_tell_resent(struct vqp *vqp)
{
	const u32 resent = vqp->tx.packets_resent;

	vqp_count_events(VQP_EV_RESENT, resent - vqp->resent_told);
	vqp->resent_told = resent;
}

static int dc_send(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		   u32 offset, u32 bytes)
{
	struct vqp *vqp = vqp_of_tx(tx);
	struct vqp_lane_dest dest = {
		.qpn = vqp->dct.qpn[vqp->flow % vqp->dct.lanes],
		.qkey = vqp->dct.qkey,
	};
	struct vqp_parent *parent;
	struct vqp_cursor c = {};
	int ret = 0;

	if (bytes) {
		vqp_send_cursor(&c, vqp, vqp_send_of(msg), 0);
		vqp_cursor_skip(&c, offset);
	}
	rcu_read_lock();
	parent = vqp_parent_rcu();
	/*
	 * Without the parent that the flow began with the packet is lost on the
	 * way out, and the address handle is gone; vqp_dc_fail_all() does the rest.
	 */
	if (parent && vqp->peer->life == parent->life) {
		pkt->src_epoch = parent->dct.epoch;
		pkt->dst_epoch = vqp->dct.epoch;
		pkt->src_qkey = parent->dct.qkey;
		if (pkt->flags & VQP_PKT_OPEN)
			dc_fill_open(vqp, parent, pkt);
		dest.ah = vqp->peer->ah;
		vqp_prio_note(vqp);
		vqp->peer->tx_packets++;
		dc_tell_resent(vqp);
		ret = vqp_lane_send(dc_lane(vqp, parent), &dest,
				    pkt, &c, bytes, pkt->op == VQP_OP_CLOSE ? NULL : vqp);
	}
	rcu_read_unlock();
	vqp_cursor_end(&c);
	return ret;
}

/* The namespace's rate is for what is sent, also again, and for what is asked for. */
static int dc_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		   u32 offset, u32 bytes)
{
	const u32 charge = vqp_op_fetches(pkt->op) ? pkt->msg_bytes : bytes;
	int passed, ret;

	passed = vqp_gate_pass(vqp_of_tx(tx), charge);
	if (passed < 0)
		return passed;
	/* It may be long until the next packet asks for an answer. */
	if (passed && !vqp_op_fetches(pkt->op))
		pkt->flags |= VQP_PKT_ACK_REQ;
	ret = dc_send(tx, pkt, msg, offset, bytes);
	if (ret)
		vqp_gate_refund(vqp_of_tx(tx), charge);
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

	mod_timer(&vqp->timer, jiffies + usecs_to_jiffies(at_us > now ? at_us - now : 0));
}

static void dc_stale(struct vqp_tx *tx)
{
	vqp_do_later(vqp_of_tx(tx), VQP_TODO_REROUTE);
}

static const struct vqp_tx_ops dc_tx_ops = {
	.xmit = dc_xmit,
	.place = dc_place,
	.complete = vqp_send_complete,
	.arm = dc_arm,
	.stale = dc_stale,
};

/*
 * Silent for this long is longer than loss explains. The target's new place may
 * not be known yet, so it is looked up again after twice the time, and so on.
 */
#define DC_SUSPECT_US	(300ULL * 1000)

static void dc_watch(struct vqp *vqp, u64 now_us)
{
	if (!vqp->ctx || vqp->state != VQP_QP_CONNECTED || list_empty(&vqp->tx.msgs) ||
	    now_us - vqp->tx.progress_us < DC_SUSPECT_US << vqp->suspicions)
		return;
	vqp->suspicions++;
	vqp_do_later(vqp, VQP_TODO_SUSPECT);
}

/* Asks a target whether it is alive. */
struct dc_probe {
	struct vqp *vqp;
	struct vqp_send send;
};

static void dc_probe_done(struct vqp_send *send, u32 status)
{
	struct dc_probe *probe = container_of(send, struct dc_probe, send);

	/* Nobody has posted it. */
	probe->vqp->sends++;
	if (!status)
		probe->vqp->tx_msgs--;
	kfree(probe);
}

/* A WRITE of nothing: the target but answers it. Without memory it is for the next time. */
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
	vqp_tx_post(&vqp->tx, &probe->send.msg, now_us);
}

/* Nothing is under way, and the timer is not the engine's. */
static bool dc_rests(const struct vqp *vqp)
{
	return vqp->ctx && vqp->state == VQP_QP_CONNECTED && vqp_tx_idle(&vqp->tx) &&
	       !vqp->tx.deadline_us;
}

static void dc_arm_keepalive(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && dc_rests(vqp))
		dc_arm(&vqp->tx, now_us + keepalive_ms * 1000ULL);
}

/* Requests notice that their target has died. Receives alone would wait for ever. */
static void dc_keep_alive(struct vqp *vqp, u64 now_us)
{
	if (keepalive_ms && dc_rests(vqp) && READ_ONCE(vqp->recvs) &&
	    now_us - vqp->tx.heard_us >= keepalive_ms * 1000ULL)
		dc_probe(vqp, now_us);
	dc_arm_keepalive(vqp, now_us);
}

static void dc_timeout(struct timer_list *timer)
{
	struct vqp *vqp = timer_container_of(vqp, timer, timer);
	u64 resent;

	spin_lock(&vqp->lock);
	if (vqp->carrier == VQP_CARRIER_DC) {
		resent = vqp->tx.packets_resent;
		vqp_prio_begin(vqp);
		vqp_tx_timeout(&vqp->tx, dc_now_us());
		vqp_prio_end(vqp);
		vqp_send_resume(vqp);
		if (vqp->tx.packets_resent != resent)
			vqp_count_event(VQP_EV_TIMEOUTS);
		dc_watch(vqp, dc_now_us());
		dc_keep_alive(vqp, dc_now_us());
	}
	spin_unlock(&vqp->lock);
}

void vqp_dc_run(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	vqp_prio_begin(vqp);
	vqp_tx_run(&vqp->tx, dc_now_us());
	vqp_prio_end(vqp);
}

void vqp_dc_kick(struct vqp *vqp)
{
	spin_lock_bh(&vqp->lock);
	if (vqp->carrier == VQP_CARRIER_DC) {
		vqp_dc_run(vqp);
		vqp_send_resume(vqp);
	}
	spin_unlock_bh(&vqp->lock);
}

/* ---- Attaching ---- */

/* Used until a VQP is attached to a parent; nothing is sent with it. */
static const struct vqp_tx_cfg dc_no_cfg = { .payload_bytes = 1024, .window_packets = 1 };

void vqp_dc_init(struct vqp *vqp)
{
	vqp_tx_init(&vqp->tx, &dc_tx_ops, &dc_no_cfg, 0, 0);
	timer_setup(&vqp->timer, dc_timeout, 0);
}

void vqp_dc_release(struct vqp *vqp)
{
	if (vqp->peer)
		vqp_peer_put(vqp->peer);
}

void vqp_dc_leave(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	vqp->tx.cfg = &dc_no_cfg;
	vqp->tx.next = NULL;
	memset(vqp->tx.reads, 0, sizeof(vqp->tx.reads));
}

/* From nowhere, or from the loop carrier: a new flow that begins with what is queued. */
static void dc_start(struct vqp *vqp, const struct vqp_parent *parent)
{
	struct vqp_msg *msg, *next;
	LIST_HEAD(queued);

	lockdep_assert_held(&vqp->lock);
	list_splice_init(&vqp->tx.msgs, &queued);
	vqp_tx_init(&vqp->tx, &dc_tx_ops, &parent->cfg, vqp->flow, get_random_u32());
	vqp->resent_told = 0;
	list_for_each_entry_safe(msg, next, &queued, link) {
		list_del(&msg->link);
		vqp_tx_queue(&vqp->tx, msg);
	}
}

/* Swap in the new target; the reference in *peer becomes the old one's. */
static int dc_set_target(struct vqp *vqp, const struct vqp_parent *parent,
			 const struct vqp_dct *dct, struct vqp_peer **peer)
{
	if (vqp->state != VQP_QP_INIT && vqp->state != VQP_QP_CONNECTED)
		return -EIO;
	swap(vqp->peer, *peer);
	vqp->dct = *dct;
	if (vqp->carrier == VQP_CARRIER_DC) {
		vqp_tx_retarget(&vqp->tx, dc_now_us());
	} else {
		dc_start(vqp, parent);
		vqp->carrier = VQP_CARRIER_DC;
		vqp->state = VQP_QP_CONNECTED;
		vqp_dc_run(vqp);
	}
	vqp_send_resume(vqp);
	return 0;
}

/* The peer at the node `dct`, referenced. Unless it is known, to resolve it takes seconds. */
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
	if (vqp->flow && vqp->carrier != VQP_CARRIER_DC) {
		/* Gone to this node and away again: the old number's target may remember it. */
		vqp_lane_unwait(dc_lane(vqp, parent), vqp);
		vqp_dc_unpublish(vqp);
		vqp->flow = 0;
	}
	/* Found from here on; answers to nothing are ignored. */
	if (!vqp->flow)
		ret = vqp_number_take(&dc_flows, DC_FLOW_MAX, &dc_next_flow, vqp, &vqp->flow);
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

void vqp_dc_unpublish(struct vqp *vqp)
{
	if (vqp->flow)
		xa_erase(&dc_flows, vqp->flow);
}

void vqp_dc_detach(struct vqp *vqp)
{
	struct vqp_parent *parent;
	int token;

	timer_shutdown_sync(&vqp->timer);
	if (!vqp->flow)
		return;
	parent = vqp_parent_enter(&token);
	if (!parent)
		return;
	vqp_lane_unwait(dc_lane(vqp, parent), vqp);
	vqp_parent_leave(token);
}

void vqp_dc_fail_all(void)
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
		if (READ_ONCE(vqp->carrier) == VQP_CARRIER_DC)
			vqp_fail(vqp, VQP_WC_RETRY_EXC_ERR);
		vqp_put(vqp);
	}
}

/* ---- Packets ---- */

/* From the node that the flow goes to, in its present life unless it says that it is a new one. */
static bool dc_is_target(const struct vqp *vqp, const u8 *gid, const struct vqp_pkt *pkt)
{
	return !memcmp(vqp->dct.node_gid, gid, VQP_GID_BYTES) &&
	       (pkt->src_epoch == vqp->dct.epoch ||
		(pkt->op == VQP_OP_NAK && pkt->nak == VQP_NAK_EPOCH));
}

static void dc_input_answer(const u8 *gid, const struct vqp_pkt *pkt)
{
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
	if (vqp->carrier == VQP_CARRIER_DC && dc_is_target(vqp, gid, pkt)) {
		vqp->peer->rx_packets++;
		vqp->peer->epoch = pkt->src_epoch;
		vqp_prio_begin(vqp);
		vqp_tx_input(&vqp->tx, pkt, dc_now_us());
		vqp_prio_end(vqp);
		vqp_send_resume(vqp);
	} else {
		vqp_count_event(VQP_EV_RX_FOREIGN);
	}
	spin_unlock(&vqp->lock);
	vqp_put(vqp);
}

void vqp_dc_input(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes)
{
	struct vqp_peer *peer;
	struct vqp_pkt pkt;

	if (vqp_wire_parse(buf, bytes, &pkt)) {
		vqp_count_event(VQP_EV_RX_MALFORMED);
		return;
	}
	switch (pkt.op) {
	case VQP_OP_ACK:
	case VQP_OP_NAK:
	case VQP_OP_READ_RESP:
		if (pkt.dst_epoch == lane->parent->dct.epoch)
			dc_input_answer(gid, &pkt);
		return;
	}
	rcu_read_lock();
	/* A parent on its way out answers nobody: its peers are about to go. */
	if (vqp_parent_rcu() == lane->parent) {
		peer = vqp_peer_find(gid);
		if (peer)
			vqp_responder_input(lane, peer, qpn, &pkt);
		else
			vqp_peer_defer(lane, gid, qpn, buf, bytes);
	}
	rcu_read_unlock();
}
