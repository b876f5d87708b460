// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/string.h>
#include "clock.h"
#include "rx_internal.h"

/* ---- Contexts --------------------------------------------------------- */

static struct list_head *vqp_rx_bucket(const struct vqp_rxtab *tab, const u8 *node_gid,
				       u32 src_epoch, u32 flow)
{
	return &tab->buckets[tab->ops->hash(node_gid, src_epoch, flow) & (tab->nbuckets - 1)];
}

static struct vqp_rx *vqp_rx_find(const struct vqp_rxtab *tab, const u8 *node_gid,
				  u32 src_epoch, u32 flow)
{
	struct vqp_rx *rx;

	list_for_each_entry(rx, vqp_rx_bucket(tab, node_gid, src_epoch, flow), hash)
		if (rx->flow == flow && rx->src_epoch == src_epoch &&
		    !memcmp(rx->node_gid, node_gid, sizeof(rx->node_gid)))
			return rx;
	return NULL;
}

static bool vqp_rx_live(const struct vqp_rx *rx)
{
	return rx->state == VQP_RX_OPEN || rx->state == VQP_RX_FAILED;
}

void vqp_rx_drop_held(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	struct vqp_rx_held *held;

	while ((held = list_first_entry_or_null(&rx->held, struct vqp_rx_held, link))) {
		list_del(&held->link);
		tab->ops->drop(held);
	}
	memset(&rx->held_mask, 0, sizeof(rx->held_mask));
}

void vqp_rx_break_off(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	vqp_rx_drop_held(tab, rx);
	rx->msg_op = 0;
	if (!rx->receiving)
		return;
	rx->receiving = false;
	tab->ops->recv_end(rx, NULL, rx->msg_done, false);
}

/* Release the receive and the namespace that a live context holds. */
static void vqp_rx_detach(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	vqp_rx_break_off(tab, rx);
	tab->ops->close(rx);
	rx->ns = NULL;
	tab->nlive--;
}

/* Close a context. It keeps the flow's PSN, so that duplicates are known as such. */
static void vqp_rx_shut(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	vqp_rx_detach(tab, rx);
	rx->state = VQP_RX_CLOSED;
	list_move_tail(&rx->lru, &tab->spare);
}

/* Forget a context. */
static void vqp_rx_free(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	if (vqp_rx_live(rx))
		vqp_rx_detach(tab, rx);
	tab->ops->forget(rx);
	list_del(&rx->hash);
	list_move(&rx->lru, &tab->spare);
	rx->state = VQP_RX_FREE;
}

/* The namespace has gone. A flow that is in the middle of a message cannot be reopened. */
static void vqp_rx_orphan(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	if (rx->state == VQP_RX_FAILED || rx->msg_op)
		vqp_rx_free(tab, rx);
	else
		vqp_rx_shut(tab, rx);
}

/* The live context whose flow has been silent longest, if that is longer than idle_us; or NULL. */
static struct vqp_rx *vqp_rx_abandoned(struct vqp_rxtab *tab, u64 now_us)
{
	struct vqp_rx *rx = list_first_entry_or_null(&tab->live, struct vqp_rx, lru);

	return rx && now_us - rx->last_us >= max_t(u64, tab->idle_us, tab->linger_us) ? rx : NULL;
}

/* Free the context that its initiator has abandoned longest ago; or NULL. */
static struct vqp_rx *vqp_rx_evict(struct vqp_rxtab *tab, u64 now_us)
{
	struct vqp_rx *rx = vqp_rx_abandoned(tab, now_us);

	if (!rx)
		return NULL;
	vqp_rx_free(tab, rx);
	tab->reused++;
	return rx;
}

/* May one more context be live? An abandoned one makes room. */
static bool vqp_rx_make_room(struct vqp_rxtab *tab, u64 now_us)
{
	return tab->nlive < tab->max_live || vqp_rx_evict(tab, now_us);
}

/*
 * A free context, a closed one that has lingered for linger_us, or an abandoned one. If there is
 * none, the oldest closed one is forgotten before its time: that is safe, and costs packets of its
 * initiator a challenge at most. NULL if all contexts are live.
 */
static struct vqp_rx *vqp_rx_take(struct vqp_rxtab *tab, u64 now_us)
{
	struct vqp_rx *rx = list_first_entry_or_null(&tab->spare, struct vqp_rx, lru);
	struct vqp_rx *evicted;

	if (rx && rx->state == VQP_RX_FREE)
		return rx;
	if (!rx || now_us - rx->last_us < tab->linger_us) {
		evicted = vqp_rx_evict(tab, now_us);
		if (evicted)
			return evicted;
	}
	if (rx)
		vqp_rx_free(tab, rx);
	return rx;
}

static void vqp_rx_refuse(const struct vqp_rx_call *call)
{
	call->tab->busy++;
	vqp_rx_nak(call, NULL, call->pkt->psn, VQP_NAK_BUSY);
}

/*
 * Is call->pkt, which has the flag OPEN, fresh? If not, its sender is challenged. rx is the flow's
 * context, or NULL.
 */
static bool vqp_rx_is_fresh(const struct vqp_rx_call *call, const struct vqp_rx *rx)
{
	const u32 echo = call->tab->ops->judge(call->reply_to, call->pkt, rx ? &rx->stamp : NULL,
					       call->now_us);

	if (echo)
		vqp_rx_challenge(call, echo);
	return !echo;
}

static struct vqp_rx *vqp_rx_open(const struct vqp_rx_call *call, const u8 *node_gid)
{
	const struct vqp_pkt *pkt = call->pkt;
	struct vqp_rxtab *tab = call->tab;
	struct list_head lru;
	struct vqp_rx *rx;

	if (!vqp_rx_is_fresh(call, NULL))
		return NULL;
	rx = vqp_rx_make_room(tab, call->now_us) ? vqp_rx_take(tab, call->now_us) : NULL;
	if (!rx) {
		vqp_rx_refuse(call);
		return NULL;
	}
	lru = rx->lru;
	memset(rx, 0, sizeof(*rx));
	rx->lru = lru;
	INIT_LIST_HEAD(&rx->held);
	memcpy(rx->node_gid, node_gid, sizeof(rx->node_gid));
	rx->src_epoch = pkt->src_epoch;
	rx->flow = pkt->flow;
	rx->psn = pkt->open_psn;
	rx->stamp = pkt->stamp;
	rx->turn = pkt->turn;
	rx->tenant = pkt->tenant;
	memcpy(rx->src_gid, pkt->src_gid, sizeof(rx->src_gid));
	memcpy(rx->dst_gid, pkt->dst_gid, sizeof(rx->dst_gid));
	rx->src_qp = pkt->src_qp;
	rx->dst_qp = pkt->dst_qp;
	rx->dst_port = pkt->dst_port;
	if (tab->ops->open(rx, pkt)) {
		vqp_rx_nak(call, NULL, pkt->psn, VQP_NAK_NO_NS);
		return NULL;
	}
	rx->state = VQP_RX_OPEN;
	list_add(&rx->hash, vqp_rx_bucket(tab, node_gid, rx->src_epoch, rx->flow));
	list_move_tail(&rx->lru, &tab->live);
	tab->nlive++;
	tab->opened++;
	return rx;
}

static bool vqp_rx_same_ends(const struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	return rx->tenant == pkt->tenant && rx->src_qp == pkt->src_qp &&
	       rx->dst_qp == pkt->dst_qp && rx->dst_port == pkt->dst_port &&
	       !memcmp(rx->src_gid, pkt->src_gid, sizeof(rx->src_gid)) &&
	       !memcmp(rx->dst_gid, pkt->dst_gid, sizeof(rx->dst_gid));
}

/* Go on at the packet's open_psn, which is that of the context or a later one. */
static void vqp_rx_go_on(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	rx->state = VQP_RX_OPEN;
	rx->psn = pkt->open_psn;
	rx->turn = pkt->turn;
	rx->gap = false;
	rx->rnr = false;
	rx->unacked = 0;
}

bool vqp_rx_matches(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;

	if (!vqp_rx_same_ends(rx, pkt)) {
		vqp_rx_nak(call, rx, rx->psn, VQP_NAK_OP);
		return false;
	}
	if (vqp_psn_before(rx->psn, pkt->open_psn)) {
		if (!vqp_rx_is_fresh(call, rx))
			return false;
		vqp_rx_break_off(call->tab, rx);
		vqp_rx_go_on(rx, pkt);
	}
	if (vqp_clock_before(rx->stamp, pkt->stamp))
		rx->stamp = pkt->stamp;
	return true;
}

/* Close the flow, unless a packet that was sent after the CLOSE has arrived before it. */
static void vqp_rx_close(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	if (!vqp_psn_before(pkt->psn, rx->psn) && (s16)(pkt->turn - rx->turn) >= 0)
		vqp_rx_shut(tab, rx);
}

/*
 * Reopen a closed flow. It goes on at the PSN where it was closed, or at a later one if it had
 * another target meanwhile. Packets with earlier PSNs are late duplicates. Returns false if
 * call->pkt does not reopen the flow.
 */
static bool vqp_rx_reopen(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;

	if (!(pkt->flags & VQP_PKT_OPEN)) {
		/* A late CLOSE has closed a flow that was open again: have it reopened. */
		if (pkt->op != VQP_OP_CLOSE && !vqp_psn_before(pkt->psn, rx->psn))
			vqp_rx_nak(call, NULL, rx->psn, VQP_NAK_CLOSED);
		return false;
	}
	if (vqp_psn_before(pkt->open_psn, rx->psn) || !vqp_rx_same_ends(rx, pkt))
		return false;
	if (pkt->open_psn != rx->psn && !vqp_rx_is_fresh(call, rx))
		return false;
	if (!vqp_rx_make_room(call->tab, call->now_us)) {
		vqp_rx_refuse(call);
		return false;
	}
	if (call->tab->ops->open(rx, pkt)) {
		vqp_rx_nak(call, NULL, pkt->psn, VQP_NAK_NO_NS);
		return false;
	}
	vqp_rx_go_on(rx, pkt);
	list_move_tail(&rx->lru, &call->tab->live);
	call->tab->nlive++;
	call->tab->opened++;
	return true;
}

/* ---- The table -------------------------------------------------------- */

void vqp_rxtab_init(struct vqp_rxtab *tab, const struct vqp_rx_ops *ops,
		    struct vqp_rx *slots, u32 nslots, u32 max_live,
		    struct list_head *buckets, u32 nbuckets,
		    u32 payload_bytes, u32 epoch, u64 linger_us, u64 idle_us)
{
	u32 i;

	memset(tab, 0, sizeof(*tab));
	tab->ops = ops;
	tab->slots = slots;
	tab->nslots = nslots;
	tab->max_live = max_live;
	tab->buckets = buckets;
	tab->nbuckets = nbuckets;
	tab->payload_bytes = payload_bytes;
	tab->epoch = epoch;
	tab->nlanes = 1;
	tab->linger_us = linger_us;
	tab->idle_us = idle_us;
	INIT_LIST_HEAD(&tab->spare);
	INIT_LIST_HEAD(&tab->live);
	for (i = 0; i < nbuckets; i++)
		INIT_LIST_HEAD(&buckets[i]);
	memset(slots, 0, nslots * sizeof(*slots));
	for (i = 0; i < nslots; i++)
		list_add_tail(&slots[i].lru, &tab->spare);
}

/*
 * Does the packet say truly that it is of the node from which it came? It says something of that
 * if it opens a flow in a node's own name, that of tenant 0: functions have addresses of their own,
 * and other packets are of the flow that was opened. The kernel's rpcs, and the cache, take the
 * address of such a flow for the node.
 */
static bool vqp_rx_is_of_node(const struct vqp_pkt *pkt, const u8 *node_gid)
{
	return !(pkt->flags & VQP_PKT_OPEN) || pkt->tenant ||
	       !memcmp(pkt->src_gid, node_gid, sizeof(pkt->src_gid));
}

/* A packet has arrived on the lane of its flow. */
static void vqp_rxtab_take(struct vqp_rxtab *tab, const u8 *node_gid, void *reply_to,
			   const struct vqp_pkt *pkt, u64 now_us)
{
	const struct vqp_rx_call call = { tab, pkt, reply_to, now_us };
	const bool closing = pkt->op == VQP_OP_CLOSE;
	struct vqp_rx *rx;

	if (pkt->op != VQP_OP_SEND && pkt->op != VQP_OP_WRITE && !vqp_op_returns_data(pkt->op) &&
	    !closing)
		return;
	if (pkt->dst_epoch != tab->epoch) {
		if (!closing)
			vqp_rx_nak(&call, NULL, pkt->psn, VQP_NAK_EPOCH);
		return;
	}
	rx = vqp_rx_find(tab, node_gid, pkt->src_epoch, pkt->flow);
	if (rx && vqp_rx_live(rx) && !tab->ops->alive(rx)) {
		vqp_rx_orphan(tab, rx);
		if (!closing)
			vqp_rx_nak(&call, NULL, pkt->psn, VQP_NAK_NO_NS);
		return;
	}
	if (!rx && !closing) {
		if (pkt->flags & VQP_PKT_OPEN)
			rx = vqp_rx_open(&call, node_gid);
		else
			vqp_rx_nak(&call, NULL, pkt->psn, VQP_NAK_NO_FLOW);
	}
	if (!rx)
		return;
	rx->last_us = now_us;
	list_move_tail(&rx->lru, vqp_rx_live(rx) ? &tab->live : &tab->spare);
	if (rx->state == VQP_RX_CLOSED && !vqp_rx_reopen(&call, rx))
		return;
	if (closing)
		vqp_rx_close(tab, rx, pkt);
	else
		vqp_rx_input(&call, rx);
}

bool vqp_rxtab_input(struct vqp_rxtab *tab, const u8 *node_gid, void *reply_to,
		     const struct vqp_pkt *pkt, u64 now_us)
{
	if (pkt->flow % tab->nlanes != tab->lane || !vqp_rx_is_of_node(pkt, node_gid))
		return false;
	vqp_rxtab_take(tab, node_gid, reply_to, pkt, now_us);
	return true;
}

void vqp_rxtab_expire(struct vqp_rxtab *tab, u64 now_us)
{
	struct vqp_rx *rx;

	while ((rx = vqp_rx_abandoned(tab, now_us)))
		vqp_rx_free(tab, rx);
}

void vqp_rxtab_purge(struct vqp_rxtab *tab, void *ns)
{
	u32 i;

	for (i = 0; i < tab->nslots; i++) {
		struct vqp_rx *rx = &tab->slots[i];

		if (!ns && rx->state != VQP_RX_FREE)
			vqp_rx_free(tab, rx);
		else if (vqp_rx_live(rx) && rx->ns == ns)
			vqp_rx_orphan(tab, rx);
	}
}

void vqp_rxtab_break(struct vqp_rxtab *tab, bool (*match)(const struct vqp_rx *rx, void *arg),
		     void *arg)
{
	u32 i;

	for (i = 0; i < tab->nslots; i++) {
		struct vqp_rx *rx = &tab->slots[i];

		if (!rx->receiving || !match(rx, arg))
			continue;
		vqp_rx_break_off(tab, rx);
		rx->state = VQP_RX_FAILED;
		rx->nak = VQP_NAK_INV_REQ;
	}
}
