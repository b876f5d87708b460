// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "rx_internal.h"

/* ---- Answers ---------------------------------------------------------- */

/* rx is NULL if the flow has no context. */
static void vqp_rx_fill(const struct vqp_rx_call *call, struct vqp_rx *rx, struct vqp_pkt *answer,
			u8 op)
{
	memset(answer, 0, sizeof(*answer));
	answer->op = op;
	answer->src_epoch = call->tab->epoch;
	answer->dst_epoch = call->pkt->src_epoch;
	answer->flow = call->pkt->flow;
	answer->psn = call->pkt->psn;
	answer->turn = call->pkt->turn;
	if (rx) {
		answer->marks = rx->marks;
		rx->marks = 0;
	}
}

static void vqp_rx_ack(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	struct vqp_pkt answer;

	vqp_rx_fill(call, rx, &answer, VQP_OP_ACK);
	answer.ack_psn = rx->psn;
	rx->unacked = 0;
	call->tab->ops->reply(call->reply_to, &answer, rx, 0, 0, 0);
}

void vqp_rx_nak(const struct vqp_rx_call *call, struct vqp_rx *rx, u32 ack_psn, u8 nak)
{
	struct vqp_pkt answer;

	vqp_rx_fill(call, rx, &answer, VQP_OP_NAK);
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

void vqp_rx_challenge(const struct vqp_rx_call *call, u32 echo)
{
	struct vqp_pkt answer;

	vqp_rx_fill(call, NULL, &answer, VQP_OP_NAK);
	answer.ack_psn = call->pkt->psn;
	answer.nak = VQP_NAK_STALE;
	answer.echo = echo;
	call->tab->stale++;
	call->tab->ops->reply(call->reply_to, &answer, NULL, 0, 0, 0);
}

static void vqp_rx_respond(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;
	struct vqp_pkt answer;
	u32 done = 0;

	rx->unacked = 0;
	do {
		const u32 bytes = min_t(u32, pkt->msg_bytes - done, call->tab->payload_bytes);

		vqp_rx_fill(call, rx, &answer, VQP_OP_READ_RESP);
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
	vqp_rx_fill(call, rx, &answer, VQP_OP_READ_RESP);
	answer.payload = &before;
	answer.payload_bytes = sizeof(before);
	call->tab->ops->reply(call->reply_to, &answer, rx, 0, 0, sizeof(before));
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

void vqp_rx_input(const struct vqp_rx_call *call, struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = call->pkt;

	if ((pkt->flags & VQP_PKT_OPEN) && !vqp_rx_matches(call, rx))
		return;
	if (pkt->ce && rx->marks < VQP_PKT_MARKS_MAX)
		rx->marks++;
	if (vqp_psn_before(pkt->psn, rx->psn)) {
		vqp_rx_duplicate(call, rx);
		return;
	}
	/* A late copy may be so old that its turn seems to come. What has this PSN is no copy. */
	if ((s16)(pkt->turn - rx->turn) > 0)
		rx->turn = pkt->turn;
	if (rx->state == VQP_RX_FAILED)
		vqp_rx_nak(call, rx, rx->psn, rx->nak);
	else if (pkt->psn == rx->psn)
		vqp_rx_next(call, rx);
	else
		vqp_rx_early(call, rx);
}
