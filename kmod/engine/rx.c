// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "rx.h"

/* A packet that the table is dealing with. */
struct vqp_rx_call {
	struct vqp_rxtab *tab;
	const struct vqp_pkt *pkt;
	void *reply_to;			/* is passed to vqp_rx_ops.reply */
	u64 now_us;
};

/* ---- Answers ---------------------------------------------------------- */

static void vqp_rx_fill(const struct vqp_rx_call *call, struct vqp_pkt *answer, u8 op)
{
	memset(answer, 0, sizeof(*answer));
	answer->op = op;
	answer->src_epoch = call->tab->epoch;
	answer->dst_epoch = call->pkt->src_epoch;
	answer->flow = call->pkt->flow;
	answer->psn = call->pkt->psn;
	answer->turn = call->pkt->turn;
}

static void vqp_rx_ack(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	struct vqp_pkt answer;

	vqp_rx_fill(call, &answer, VQP_OP_ACK);
	answer.ack_psn = rx->psn;
	rx->unacked = 0;
	call->tab->ops->reply(call->reply_to, &answer, rx, 0, 0, 0);
}

/* Send a NAK. rx is NULL if the flow has no context, and then nak is not VQP_NAK_SEQ. */
static void vqp_rx_nak(const struct vqp_rx_call *call, struct vqp_rx *rx, u32 ack_psn, u8 nak)
{
	struct vqp_pkt answer;

	vqp_rx_fill(call, &answer, VQP_OP_NAK);
	answer.ack_psn = ack_psn;
	answer.nak = nak;
	if (nak == VQP_NAK_SEQ) {
		answer.held = rx->held_mask;
		rx->untold = 0;
		rx->unacked = 0;
	}
	if (nak == VQP_NAK_RNR)
		answer.rnr_us = VQP_RX_RNR_US;
	else if (nak == VQP_NAK_BUSY)
		answer.rnr_us = VQP_RX_BUSY_US;
	call->tab->ops->reply(call->reply_to, &answer, rx, 0, 0, 0);
}

static void vqp_rx_respond(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;
	struct vqp_pkt answer;
	u32 done = 0;

	rx->unacked = 0;
	do {
		const u32 bytes = min_t(u32, pkt->msg_bytes - done, call->tab->payload_bytes);

		vqp_rx_fill(call, &answer, VQP_OP_READ_RESP);
		answer.offset = pkt->offset + done;
		answer.payload_bytes = bytes;
		if (call->tab->ops->reply(call->reply_to, &answer, rx,
					  pkt->rkey, pkt->addr + done, bytes))
			return;
		done += bytes;
	} while (done < pkt->msg_bytes);
}

/* The index in rx->found of the value that the latest atomic operation but `age` found. */
static u32 vqp_rx_found(const struct vqp_rx *rx, u32 age)
{
	return (rx->found_last + VQP_READ_CHUNKS - age) % VQP_READ_CHUNKS;
}

/*
 * Send the value that the atomic operation call->pkt, which has been carried out, found. rx->found
 * has room for all values whose answers may be missing. If the value is not there, the packet is a
 * late duplicate, and the initiator ignores the NAK.
 */
static void vqp_rx_tell_found(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	struct vqp_pkt answer;
	__be64 before;
	u32 age = 0;

	while (age < rx->nfound && rx->found[vqp_rx_found(rx, age)].psn != call->pkt->psn)
		age++;
	if (age == rx->nfound) {
		vqp_rx_nak(call, rx, call->pkt->psn, VQP_NAK_OP);
		return;
	}
	before = cpu_to_be64(rx->found[vqp_rx_found(rx, age)].before);
	rx->unacked = 0;
	vqp_rx_fill(call, &answer, VQP_OP_READ_RESP);
	answer.payload = &before;
	answer.payload_bytes = sizeof(before);
	call->tab->ops->reply(call->reply_to, &answer, rx, 0, 0, sizeof(before));
}

/* ---- Contexts --------------------------------------------------------- */

static struct list_head *vqp_rx_bucket(const struct vqp_rxtab *tab, const u8 *node_gid,
				       u32 src_epoch, u32 flow)
{
	u32 words[6], hash = 0, i;

	memcpy(words, node_gid, 16);
	words[4] = src_epoch;
	words[5] = flow;
	for (i = 0; i < 6; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b1;
		hash ^= hash >> 15;
	}
	return &tab->buckets[hash & (tab->nbuckets - 1)];
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

static void vqp_rx_drop_held(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	struct vqp_rx_held *held;

	while ((held = list_first_entry_or_null(&rx->held, struct vqp_rx_held, link))) {
		list_del(&held->link);
		tab->ops->drop(held);
	}
	memset(&rx->held_mask, 0, sizeof(rx->held_mask));
}

static void vqp_rx_break_off(struct vqp_rxtab *tab, struct vqp_rx *rx)
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
}

/* Close a context. It keeps the flow's PSN, so that duplicates are known as such. */
static void vqp_rx_shut(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	vqp_rx_detach(tab, rx);
	rx->state = VQP_RX_CLOSED;
	list_move_tail(&rx->lru, &tab->spare);
}

static void vqp_rx_free(struct vqp_rxtab *tab, struct vqp_rx *rx)
{
	if (vqp_rx_live(rx))
		vqp_rx_detach(tab, rx);
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

/*
 * A free context, a closed one that has lingered for linger_us, or one that its initiator has
 * abandoned; or NULL if all contexts are in use.
 */
static struct vqp_rx *vqp_rx_take(struct vqp_rxtab *tab, u64 now_us)
{
	struct vqp_rx *rx;

	rx = list_first_entry_or_null(&tab->spare, struct vqp_rx, lru);
	if (rx && rx->state == VQP_RX_FREE)
		return rx;
	if (rx && now_us - rx->last_us >= tab->linger_us) {
		vqp_rx_free(tab, rx);
		return rx;
	}
	rx = vqp_rx_abandoned(tab, now_us);
	if (rx) {
		vqp_rx_free(tab, rx);
		tab->reused++;
	}
	return rx;
}

static struct vqp_rx *vqp_rx_open(const struct vqp_rx_call *call, const u8 *node_gid)
{
	const struct vqp_pkt *pkt = call->pkt;
	struct vqp_rxtab *tab = call->tab;
	struct list_head lru;
	struct vqp_rx *rx;

	rx = vqp_rx_take(tab, call->now_us);
	if (!rx) {
		tab->busy++;
		vqp_rx_nak(call, NULL, pkt->psn, VQP_NAK_BUSY);
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

/* Does a packet with the flag OPEN belong to the flow of this context? */
static bool vqp_rx_matches(const struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	return vqp_rx_same_ends(rx, pkt) && !vqp_psn_before(rx->psn, pkt->open_psn);
}

/* ---- Requests --------------------------------------------------------- */

/*
 * Each of these carries out one packet. It returns 0, or the enum vqp_nak to send. After
 * VQP_NAK_RNR the packet can be carried out later, and after others the flow has failed.
 */

static u8 vqp_rx_recv_nak(int err)
{
	switch (err) {
	case -EAGAIN:
		return VQP_NAK_RNR;
	case -ENOENT:
	case -EMSGSIZE:
		return VQP_NAK_INV_REQ;
	}
	return VQP_NAK_OP;
}

/* Does the packet begin a message where one may begin, or go on with the one in progress? */
static bool vqp_rx_in_order(const struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	if (pkt->flags & VQP_PKT_FIRST)
		return !rx->msg_op;
	return rx->msg_op == pkt->op;
}

static u8 vqp_rx_send(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	const bool first = pkt->flags & VQP_PKT_FIRST;
	const bool last = pkt->flags & VQP_PKT_LAST;
	const u32 done = first ? 0 : rx->msg_done;
	int err;

	if (!vqp_rx_in_order(rx, pkt) || (!first && pkt->msg_bytes != rx->msg_bytes) ||
	    pkt->offset != done || pkt->payload_bytes > pkt->msg_bytes - done ||
	    last != (pkt->payload_bytes == pkt->msg_bytes - done))
		return VQP_NAK_OP;
	if (first) {
		err = tab->ops->recv_begin(rx, pkt->msg_bytes);
		if (err)
			return vqp_rx_recv_nak(err);
		rx->receiving = true;
		rx->msg_op = VQP_OP_SEND;
		rx->msg_bytes = pkt->msg_bytes;
		rx->msg_done = 0;
	}
	if (pkt->payload_bytes && tab->ops->recv_data(rx, done, pkt->payload, pkt->payload_bytes))
		return VQP_NAK_OP;
	rx->msg_done = done + pkt->payload_bytes;
	if (last) {
		rx->msg_op = 0;
		rx->receiving = false;
		tab->ops->recv_end(rx, pkt, rx->msg_bytes, true);
	}
	return 0;
}

/*
 * The data is written before a receive is taken, so that no receive is consumed by a WRITE that
 * fails. If there is no receive, the packet comes again, and its data is written again.
 */
static u8 vqp_rx_write(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	const u32 done = pkt->flags & VQP_PKT_FIRST ? 0 : rx->msg_done;
	const bool last = pkt->flags & VQP_PKT_LAST;
	int err;

	if (!vqp_rx_in_order(rx, pkt) || pkt->payload_bytes > VQP_WIRE_MSG_MAX - done)
		return VQP_NAK_OP;
	if (pkt->addr + pkt->payload_bytes < pkt->addr ||
	    tab->ops->write(rx, pkt->rkey, pkt->addr, pkt->payload, pkt->payload_bytes))
		return VQP_NAK_ACCESS;
	if (last && (pkt->flags & VQP_PKT_IMM)) {
		err = tab->ops->recv_begin(rx, 0);
		if (err)
			return vqp_rx_recv_nak(err);
		tab->ops->recv_end(rx, pkt, done + pkt->payload_bytes, true);
	}
	rx->msg_op = last ? 0 : VQP_OP_WRITE;
	rx->msg_done = done + pkt->payload_bytes;
	return 0;
}

/* Check whether a READ may be answered. */
static u8 vqp_rx_check_read(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	const u32 chunk_bytes = tab->payload_bytes * VQP_READ_CHUNK_PACKETS;

	if (pkt->offset > chunk_bytes || pkt->msg_bytes > chunk_bytes - pkt->offset)
		return VQP_NAK_OP;
	if (pkt->addr + pkt->msg_bytes < pkt->addr ||
	    (pkt->msg_bytes && tab->ops->read_check(rx, pkt->rkey, pkt->addr, pkt->msg_bytes)))
		return VQP_NAK_ACCESS;
	return 0;
}

static u8 vqp_rx_atomic(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	u64 before;

	if (pkt->addr % VQP_ATOMIC_BYTES)
		return VQP_NAK_INV_REQ;
	if (tab->ops->atomic(rx, pkt, &before))
		return VQP_NAK_ACCESS;
	rx->found_last = (rx->found_last + 1) % VQP_READ_CHUNKS;
	rx->nfound = min_t(u32, rx->nfound + 1, VQP_READ_CHUNKS);
	rx->found[rx->found_last].psn = pkt->psn;
	rx->found[rx->found_last].before = before;
	return 0;
}

static u8 vqp_rx_carry_out(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	switch (pkt->op) {
	case VQP_OP_SEND:
		return vqp_rx_send(tab, rx, pkt);
	case VQP_OP_WRITE:
		return vqp_rx_write(tab, rx, pkt);
	}
	if (rx->msg_op)
		return VQP_NAK_OP;
	return pkt->op == VQP_OP_READ ? vqp_rx_check_read(tab, rx, pkt) :
	       vqp_rx_atomic(tab, rx, pkt);
}

/* ---- Sequence --------------------------------------------------------- */

/*
 * Hold a packet that has come behind a gap, if there is room. Returns true if the packet shows a
 * further gap, between it and the packets that are held already.
 */
static bool vqp_rx_hold(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const u32 ahead = call->pkt->psn - rx->psn;
	struct vqp_rx_held *held;
	struct vqp_mask beyond;
	struct list_head *at;

	if (ahead >= VQP_MASK_BITS || vqp_mask_has(&rx->held_mask, ahead))
		return false;
	held = call->tab->ops->hold(call->pkt);
	if (!held)
		return false;
	for (at = rx->held.prev; at != &rx->held; at = at->prev)
		if (vqp_psn_before(list_entry(at, struct vqp_rx_held, link)->pkt.psn,
				   held->pkt.psn))
			break;
	list_add(&held->link, at);
	rx->untold++;
	beyond = rx->held_mask;
	vqp_mask_advance(&beyond, ahead);
	vqp_mask_set(&rx->held_mask, ahead);
	return !vqp_mask_any(&beyond) && ahead > 1 && !vqp_mask_has(&rx->held_mask, ahead - 1);
}

/*
 * A packet has come behind a gap. Send a NAK for each new gap, when a packet of a later turn shows
 * that the missing one was sent again and lost again, and after every VQP_RX_ACK_EVERY packets
 * held, so that the initiator goes on meanwhile.
 */
static void vqp_rx_early(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const u16 turn = call->pkt->turn;
	const bool newer = !rx->gap || (s16)(turn - rx->gap_turn) > 0;

	if (rx->rnr && !newer)
		return;
	if (!vqp_rx_hold(call, rx) && !newer && rx->untold < VQP_RX_ACK_EVERY &&
	    !(call->pkt->flags & VQP_PKT_ACK_REQ))
		return;
	if (newer) {
		rx->gap_turn = turn;
		rx->rnr = false;
	}
	rx->gap = true;
	vqp_rx_nak(call, rx, rx->psn, VQP_NAK_SEQ);
}

static void vqp_rx_duplicate(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	u8 nak;

	if (vqp_op_is_atomic(call->pkt->op)) {
		vqp_rx_tell_found(call, rx);
		return;
	}
	if (call->pkt->op != VQP_OP_READ) {
		vqp_rx_ack(call, rx);
		return;
	}
	/* A late duplicate of a READ may name memory that is gone. That must not fail the flow. */
	nak = vqp_rx_check_read(call->tab, rx, call->pkt);
	if (nak)
		vqp_rx_nak(call, rx, call->pkt->psn, nak);
	else
		vqp_rx_respond(call, rx);
}

/* Carry out the packet that is expected. Returns false if it cannot be, or not yet. */
static bool vqp_rx_step(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;
	const u8 nak = vqp_rx_carry_out(call->tab, rx, pkt);

	if (nak == VQP_NAK_RNR) {
		/* The initiator waits, and goes back to this packet; held ones come again. */
		vqp_rx_drop_held(call->tab, rx);
		rx->gap = true;
		rx->rnr = true;
		rx->gap_turn = pkt->turn;
		vqp_rx_nak(call, rx, rx->psn, nak);
		return false;
	}
	if (nak) {
		vqp_rx_break_off(call->tab, rx);
		rx->state = VQP_RX_FAILED;
		rx->nak = nak;
		vqp_rx_nak(call, rx, rx->psn, nak);
		return false;
	}
	rx->gap = false;
	rx->rnr = false;
	rx->psn++;
	vqp_mask_advance(&rx->held_mask, 1);
	rx->unacked++;
	if (pkt->op == VQP_OP_READ)
		vqp_rx_respond(call, rx);
	else if (vqp_op_is_atomic(pkt->op))
		vqp_rx_tell_found(call, rx);
	return true;
}

/*
 * Carry out the packet that is expected, and then the held packets that follow it. One answer says
 * how far that went.
 */
static void vqp_rx_next(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	struct vqp_rx_call next = *call;
	struct vqp_rx_held *held;
	bool more = vqp_rx_step(call, rx), drained = false;

	while (more && (held = list_first_entry_or_null(&rx->held, struct vqp_rx_held, link)) &&
	       held->pkt.psn == rx->psn) {
		list_del(&held->link);
		next.pkt = &held->pkt;
		more = vqp_rx_step(&next, rx);
		call->tab->ops->drop(held);
		drained = true;
	}
	if (!more || !rx->unacked ||
	    !(drained || (call->pkt->flags & VQP_PKT_ACK_REQ) || rx->unacked >= VQP_RX_ACK_EVERY))
		return;
	if (list_empty(&rx->held))
		vqp_rx_ack(call, rx);
	else
		vqp_rx_nak(call, rx, rx->psn, VQP_NAK_SEQ);
}

static void vqp_rx_input(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;

	if ((pkt->flags & VQP_PKT_OPEN) && !vqp_rx_matches(rx, pkt))
		vqp_rx_nak(call, rx, rx->psn, VQP_NAK_OP);
	else if (vqp_psn_before(pkt->psn, rx->psn))
		vqp_rx_duplicate(call, rx);
	else if (rx->state == VQP_RX_FAILED)
		vqp_rx_nak(call, rx, rx->psn, rx->nak);
	else if (pkt->psn == rx->psn)
		vqp_rx_next(call, rx);
	else
		vqp_rx_early(call, rx);
}

/* Close the flow, unless packets that were sent after the CLOSE have overtaken it. */
static void vqp_rx_close(struct vqp_rxtab *tab, struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	if (!vqp_psn_before(pkt->psn, rx->psn))
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
	if (call->tab->ops->open(rx, pkt)) {
		vqp_rx_nak(call, NULL, pkt->psn, VQP_NAK_NO_NS);
		return false;
	}
	rx->state = VQP_RX_OPEN;
	rx->psn = pkt->open_psn;
	rx->gap = false;
	rx->rnr = false;
	rx->unacked = 0;
	list_move_tail(&rx->lru, &call->tab->live);
	call->tab->opened++;
	return true;
}

/* ---- The table -------------------------------------------------------- */

void vqp_rxtab_init(struct vqp_rxtab *tab, const struct vqp_rx_ops *ops,
		    struct vqp_rx *slots, u32 nslots,
		    struct list_head *buckets, u32 nbuckets,
		    u32 payload_bytes, u32 epoch, u64 linger_us, u64 idle_us)
{
	u32 i;

	memset(tab, 0, sizeof(*tab));
	tab->ops = ops;
	tab->slots = slots;
	tab->nslots = nslots;
	tab->buckets = buckets;
	tab->nbuckets = nbuckets;
	tab->payload_bytes = payload_bytes;
	tab->epoch = epoch;
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

void vqp_rxtab_input(struct vqp_rxtab *tab, const u8 *node_gid, void *reply_to,
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
