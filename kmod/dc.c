// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/xarray.h>
#include "counters.h"
#include "cursor.h"
#include "dc.h"
#include "lane.h"
#include "meta.h"
#include "mr.h"
#include "ns.h"
#include "parent.h"
#include "peer.h"
#include "recv.h"
#include "qp.h"

/*
 * Flow number -> VQP. Written in process context, read under RCU. Cyclic: a number rests long
 * before it comes back.
 */
static DEFINE_XARRAY_ALLOC1(dc_flows);
static u32 dc_next_flow;

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

static int dc_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
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
	if (parent && vqp->peer->parent_epoch == parent->dct.epoch) {
		pkt->src_epoch = parent->dct.epoch;
		pkt->dst_epoch = vqp->dct.epoch;
		pkt->src_qkey = parent->dct.qkey;
		if (pkt->flags & VQP_PKT_OPEN)
			dc_fill_open(vqp, parent, pkt);
		dest.ah = vqp->peer->ah;
		vqp->peer->tx_packets++;
		ret = vqp_lane_send(parent->lanes[vqp->flow % parent->nlanes], &dest,
				    pkt, &c, bytes, pkt->op == VQP_OP_CLOSE ? NULL : vqp);
	}
	rcu_read_unlock();
	vqp_cursor_end(&c);
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

static void dc_timeout(struct timer_list *timer)
{
	struct vqp *vqp = from_timer(vqp, timer, timer);
	u64 resent;

	spin_lock(&vqp->lock);
	if (vqp->carrier == VQP_CARRIER_DC) {
		resent = vqp->tx.packets_resent;
		vqp_tx_timeout(&vqp->tx, dc_now_us());
		if (vqp->tx.packets_resent != resent)
			vqp_count_event(VQP_EV_TIMEOUTS);
		dc_watch(vqp, dc_now_us());
	}
	spin_unlock(&vqp->lock);
}

void vqp_dc_run(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	vqp_tx_run(&vqp->tx, dc_now_us());
}

void vqp_dc_kick(struct vqp *vqp)
{
	spin_lock_bh(&vqp->lock);
	if (vqp->carrier == VQP_CARRIER_DC)
		vqp_dc_run(vqp);
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
		return 0;
	}
	dc_start(vqp, parent);
	vqp->carrier = VQP_CARRIER_DC;
	vqp->state = VQP_QP_CONNECTED;
	vqp_dc_run(vqp);
	return 0;
}

int vqp_dc_attach(struct vqp *vqp, const struct vqp_dct *dct)
{
	struct vqp_parent *parent;
	struct vqp_peer *peer;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return -ENETDOWN;
	peer = vqp_peer_get(parent, dct->node_gid);
	if (IS_ERR(peer)) {
		ret = PTR_ERR(peer) == -ENOMEM ? -ENOMEM : -EHOSTUNREACH;
		goto leave;
	}
	if (vqp->flow && vqp->carrier != VQP_CARRIER_DC) {
		/* Gone to this node and away again: the old number's target may remember it. */
		vqp_lane_unwait(parent->lanes[vqp->flow % parent->nlanes], vqp);
		vqp_dc_unpublish(vqp);
		vqp->flow = 0;
	}
	if (!vqp->flow) {
		/* Found from here on; answers to nothing are ignored. */
		ret = xa_alloc_cyclic(&dc_flows, &vqp->flow, vqp, xa_limit_31b,
				      &dc_next_flow, GFP_KERNEL_ACCOUNT);
		ret = min(ret, 0);
		/* Without memory a number is written all the same; it is another VQP's. */
		if (ret)
			vqp->flow = 0;
	}
	if (!ret) {
		spin_lock_bh(&vqp->lock);
		ret = dc_set_target(vqp, parent, dct, &peer);
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
	vqp_lane_unwait(parent->lanes[vqp->flow % parent->nlanes], vqp);
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

/* ---- The target's side: struct vqp_rx_ops, all under the lane's rx_lock ---- */

/* Where the answers to the packet at hand go. */
struct dc_sender {
	struct vqp_lane *lane;
	struct vqp_lane_dest dest;
};

static int dc_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
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
	vqp_meta_learn(pkt->tenant, pkt->src_gid, &dct);
	return 0;
}

static void dc_close(struct vqp_rx *rx)
{
	vqp_ns_put(rx->ns);
	rx->ns = NULL;
}

static bool dc_alive(struct vqp_rx *rx)
{
	return vqp_ns_alive(rx->ns);
}

static int dc_recv_begin(struct vqp_rx *rx, u32 bytes)
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

static int dc_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	struct vqp_recv *recv = rx->recv;
	struct vqp_cursor c;
	int ret;

	if (READ_ONCE(recv->vqp->silent))
		return -ENOENT;
	vqp_cursor_init(&c, recv->vqp->ns, recv->vqp->ctx, VQP_ACCESS_LOCAL_WRITE,
			recv->sge, recv->num_sge);
	vqp_cursor_skip(&c, offset);
	ret = vqp_cursor_scatter(&c, data, bytes);
	vqp_cursor_end(&c);
	/* The receive names memory that is no longer there: the receiver's fault. */
	if (ret)
		vqp_fail_later(recv->vqp);
	return ret;
}

static void dc_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
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

static int dc_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
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

static int dc_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	return !bytes || vqp_mr_valid(rx->ns, rkey, addr, bytes, VQP_ACCESS_REMOTE_READ, NULL) ?
	       0 : -EACCES;
}

static int dc_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx,
		    u32 rkey, u64 addr, u32 bytes)
{
	struct vqp_sge remote = { .addr = addr, .length = bytes, .lkey = rkey };
	struct dc_sender *to = reply_to;
	struct vqp_cursor c = {};
	int ret;

	if (bytes)
		vqp_cursor_init(&c, rx->ns, NULL, VQP_ACCESS_REMOTE_READ, &remote, 1);
	ret = vqp_lane_send(to->lane, &to->dest, pkt, &c, bytes, NULL);
	vqp_cursor_end(&c);
	if (ret)
		vqp_count_event(VQP_EV_REPLY_LOST);
	return ret;
}

const struct vqp_rx_ops vqp_dc_rx_ops = {
	.open = dc_open,
	.close = dc_close,
	.alive = dc_alive,
	.recv_begin = dc_recv_begin,
	.recv_data = dc_recv_data,
	.recv_end = dc_recv_end,
	.write = dc_write,
	.read_check = dc_read_check,
	.reply = dc_reply,
};

/* Call fn on each lane under its rx_lock. Process context. */
static void dc_for_each_lane(void (*fn)(struct vqp_lane *lane, void *arg), void *arg)
{
	struct vqp_parent *parent;
	int token;
	u32 i;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return;
	for (i = 0; i < parent->nlanes; i++) {
		spin_lock_bh(&parent->lanes[i]->rx_lock);
		fn(parent->lanes[i], arg);
		spin_unlock_bh(&parent->lanes[i]->rx_lock);
	}
	vqp_parent_leave(token);
}

static void dc_purge_lane(struct vqp_lane *lane, void *ns)
{
	vqp_rxtab_purge(&lane->tab, ns);
}

void vqp_dc_purge(struct vqp_ns *ns)
{
	dc_for_each_lane(dc_purge_lane, ns);
}

static bool dc_receives_for(const struct vqp_rx *rx, void *vqp)
{
	return ((struct vqp_recv *)rx->recv)->vqp == vqp;
}

static void dc_break_lane(struct vqp_lane *lane, void *vqp)
{
	vqp_rxtab_break(&lane->tab, dc_receives_for, vqp);
}

void vqp_dc_break(struct vqp *vqp)
{
	dc_for_each_lane(dc_break_lane, vqp);
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
		vqp_tx_input(&vqp->tx, pkt, dc_now_us());
	} else {
		vqp_count_event(VQP_EV_RX_FOREIGN);
	}
	spin_unlock(&vqp->lock);
	vqp_put(vqp);
}

/* Under rcu_read_lock(), which keeps peer and its address handle. */
static void dc_input_request(struct vqp_lane *lane, struct vqp_peer *peer, u32 qpn,
			     const struct vqp_pkt *pkt)
{
	struct dc_sender sender = { .lane = lane };

	peer->rx_packets++;
	peer->epoch = pkt->src_epoch;
	peer->qkey = pkt->src_qkey;
	sender.dest.ah = peer->ah;
	sender.dest.qpn = qpn;
	sender.dest.qkey = pkt->src_qkey;
	spin_lock(&lane->rx_lock);
	vqp_rxtab_input(&lane->tab, peer->gid, &sender, pkt, dc_now_us());
	spin_unlock(&lane->rx_lock);
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
			dc_input_request(lane, peer, qpn, &pkt);
		else
			vqp_peer_defer(lane, gid, qpn, buf, bytes);
	}
	rcu_read_unlock();
}
