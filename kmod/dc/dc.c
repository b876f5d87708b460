// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/timer.h>
#include <linux/xarray.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/ids.h"
#include "base/trace.h"
#include "dc/dc.h"
#include "dc/initiator.h"
#include "dc/responder.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"
#include "queue/carrier.h"
#include "queue/send.h"
#include "queue/vqp.h"

/*
 * The VQPs of this node by flow number. The array changes in process context and is read under RCU.
 * A target remembers a flow for VQP_FORGET_US and takes packets of a new flow of that number for
 * old ones, so that numbers are handed out in turn.
 */
#define DC_FLOW_MAX	S32_MAX
static DEFINE_XARRAY_FLAGS(dc_flows, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 dc_next_flow;	/* under dc_flows' lock */

/* ---- Attaching ---- */

/*
 * Give vqp the target dct at *peer. The reference on *peer becomes vqp's, and *peer the old peer
 * with vqp's reference, or NULL. Returns 0; or -EIO if vqp has failed. Under vqp.lock.
 *
 * From dc to dc no carrier leaves: what rc has posted of a request is over, or is under way on the
 * old peer's link. rc_post() goes on with the rest by the new peer's link, which is right if the
 * node is the same. If the target has moved, its regions have other keys there, and no part of the
 * request reaches any.
 */
static int dc_set_target(struct vqp *vqp, const struct vqp_parent *parent,
			 const struct vqp_dct *dct, struct vqp_peer **peer)
{
	if (vqp->state != VQP_QP_INIT && vqp->state != VQP_QP_CONNECTED)
		return -EIO;
	swap(vqp->dc.peer, *peer);
	vqp->dc.dct = *dct;
	if (vqp->carrier == &vqp_dc_carrier) {
		vqp_initiator_retarget(vqp);
	} else {
		/* vqp was not connected, or on the loop carrier: it begins a new flow. */
		vqp_carrier_attach(vqp, &vqp_dc_carrier);
		vqp_initiator_begin(vqp, &parent->cfg);
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
		vqp_initiator_unwait(vqp, parent);
		dc_unpublish(vqp);
		vqp->dc.flow = 0;
	}
	/* From here on answers find vqp; the engine ignores those to nothing that it sent. */
	if (!vqp->dc.flow)
		ret = vqp_id_take(&dc_flows, DC_FLOW_MAX, &dc_next_flow, vqp, &vqp->dc.flow);
	if (!ret) {
		spin_lock_bh(&vqp->lock);
		ret = dc_set_target(vqp, parent, dct, &peer);
		vqp_initiator_keep_alive(vqp);
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
		vqp_initiator_input(vqp, pkt);
	} else {
		vqp_count_event(VQP_EV_RX_FOREIGN);
	}
	spin_unlock(&vqp->lock);
	vqp_put(vqp);
}

static void dc_input(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes,
		     bool ce)
{
	struct vqp_peer *peer;
	struct vqp_pkt pkt;

	if (vqp_wire_parse(buf, bytes, &pkt)) {
		vqp_count_event(VQP_EV_RX_MALFORMED);
		return;
	}
	pkt.ce = ce;
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

static bool dc_full(const struct vqp *vqp)
{
	return vqp->dc.tx.nmsgs >= VQP_CARRIER_DEPTH;
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
	vqp_initiator_reset(vqp);
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
	vqp_initiator_unwait(vqp, parent);
	vqp_parent_leave(token);
}

struct vqp_device_user vqp_dc_device_user = {
	.up = vqp_responder_up,
	.down = dc_fail_all,
	.input = dc_input,
};

const struct vqp_carrier_ops vqp_dc_carrier = {
	.id = VQP_CARRIER_DC,
	.init = vqp_initiator_init,
	.release = dc_release,
	.take = dc_take,
	.prepare = vqp_initiator_prepare,
	.run = vqp_initiator_run,
	.idle = dc_idle,
	.full = dc_full,
	.lost = dc_lost,
	.abort = dc_abort,
	.leave = dc_leave,
	.close = dc_close,
	.kick = vqp_initiator_kick,
	.detach = dc_detach,
	/* The work may have rerouted vqp, and given it a flow number, until it ended. */
	.forget = dc_unpublish,
	.break_recvs = vqp_responder_break,
};
