// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/vqp.h>
#include "clock.h"
#include "tx_internal.h"

void vqp_tx_seek(struct vqp_tx *tx)
{
	struct vqp_msg *msg;

	tx->next = NULL;
	list_for_each_entry(msg, &tx->msgs, link) {
		if (!msg->assigned || vqp_psn_before(tx->psn_send, msg->psn + msg->psns)) {
			tx->next = msg;
			return;
		}
	}
}

void vqp_tx_begin_anew(struct vqp_tx *tx)
{
	tx->held = 0;
	tx->back_turn = ++tx->turn;
	tx->cut_turn = tx->turn;
}

void vqp_tx_go_back(struct vqp_tx *tx)
{
	tx->lost = vqp_mask_below(tx->psn_send - tx->psn_acked);
	vqp_tx_begin_anew(tx);
}

/*
 * Do neither a failure nor the window forbid to send `psn`? The window never forbids the packet
 * that the target expects next.
 */
static bool vqp_tx_may_send(const struct vqp_tx *tx, u32 psn)
{
	if (tx->fail && !vqp_psn_before(psn, tx->fail_psn))
		return false;
	return psn == tx->psn_acked || vqp_tx_room(tx);
}

/*
 * The message of the packet psn_send, if that may be sent; or NULL. The packet is within
 * VQP_MASK_BITS of psn_acked, so that the target can name it as held behind a gap.
 */
static struct vqp_msg *vqp_tx_sendable(struct vqp_tx *tx)
{
	struct vqp_msg *msg = tx->next;

	if (!msg || tx->psn_send - tx->psn_acked >= VQP_MASK_BITS ||
	    !vqp_tx_may_send(tx, tx->psn_send))
		return NULL;
	/* The response to a READ is as much as many packets. */
	if (tx->cap && vqp_op_returns_data(msg->op) && vqp_tx_fetching(tx))
		return NULL;
	if (msg->op == VQP_OP_READ && tx->psn_send != tx->psn_acked &&
	    !vqp_tx_may_ask(tx, VQP_READ_CHUNK_PACKETS))
		return NULL;
	if (msg->fence && vqp_tx_reading_before(tx, msg))
		return NULL;
	if (vqp_op_is_atomic(msg->op) && tx->psn_send == tx->psn_next &&
	    !vqp_tx_may_add_atomic(tx))
		return NULL;
	return !vqp_op_returns_data(msg->op) || vqp_tx_read_slot(tx, tx->psn_send) ? msg : NULL;
}

int vqp_tx_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	int err;

	pkt->flow = tx->flow;
	pkt->turn = tx->turn;
	pkt->payload_bytes = bytes;
	if (!tx->opened && pkt->op != VQP_OP_CLOSE) {
		pkt->flags |= VQP_PKT_OPEN;
		pkt->open_psn = tx->psn_acked;
		pkt->stamp = tx->ops->stamp(tx);
		pkt->age = vqp_clock_age(tx->born, pkt->stamp);
		pkt->echo = tx->echo;
	}
	err = tx->ops->xmit(tx, pkt, msg, offset, bytes);
	if (err)
		return err;
	tx->touched = true;
	if (pkt->flags & VQP_PKT_OPEN)
		tx->challenged = false;
	tx->packets_sent++;
	return 0;
}

/* Send one packet of a SEND or a WRITE. `flags` is VQP_PKT_ACK_REQ or 0. */
static int vqp_tx_send_data(struct vqp_tx *tx, struct vqp_msg *msg, u32 psn, u32 flags)
{
	const u32 index = psn - msg->psn;
	const u32 offset = index * tx->cfg->payload_bytes;
	const u32 bytes = min_t(u32, msg->bytes - offset, tx->cfg->payload_bytes);
	struct vqp_pkt pkt;

	memset(&pkt, 0, sizeof(pkt));
	pkt.op = msg->op;
	pkt.psn = psn;
	pkt.flags = flags;
	if (index == 0)
		pkt.flags |= VQP_PKT_FIRST;
	if (index == msg->psns - 1) {
		pkt.flags |= VQP_PKT_LAST | (msg->flags & (VQP_PKT_IMM | VQP_PKT_SOLICITED));
		if (msg->flags & VQP_PKT_IMM)
			pkt.imm = msg->imm;
	}
	if (msg->op == VQP_OP_SEND) {
		pkt.msg_bytes = msg->bytes;
		pkt.offset = offset;
	} else {
		pkt.addr = msg->remote_addr + offset;
		pkt.rkey = msg->rkey;
	}
	return vqp_tx_xmit(tx, &pkt, msg, offset, bytes);
}

/* Send a packet, at first or again, and `ask` for an acknowledgement. */
static int vqp_tx_send_packet(struct vqp_tx *tx, struct vqp_msg *msg, u32 psn, bool ask,
			      bool idle, u64 now_us)
{
	int err;

	if (vqp_op_returns_data(msg->op))
		err = vqp_tx_send_chunk(tx, msg, psn, now_us);
	else
		err = vqp_tx_send_data(tx, msg, psn, ask ? VQP_PKT_ACK_REQ : 0);
	if (err) {
		if (!vqp_tx_is_held_back(err))
			vqp_tx_fail(tx, psn, VQP_WC_LOC_PROT_ERR);
		return err;
	}
	if (idle) {
		tx->progress_us = now_us;
		tx->heard_us = now_us;
	}
	if (psn == tx->psn_acked)
		tx->wait_us = now_us;
	if (ask)
		tx->psn_asked = psn + 1;
	if (ask || vqp_op_returns_data(msg->op))
		vqp_tx_time_rtt(tx, psn, now_us);
	return 0;
}

static void vqp_tx_note_resent(struct vqp_tx *tx, u32 psn)
{
	tx->packets_resent++;
	if (vqp_psn_before(tx->psn_resent, psn + 1))
		tx->psn_resent = psn + 1;
}

/*
 * Does the packet `psn` ask for an acknowledgement? The last packet of a burst does. In a large
 * window most bursts go on before that, since the target acknowledges every VQP_RX_ACK_EVERY
 * packets unasked.
 */
static bool vqp_tx_asks(struct vqp_tx *tx, u32 psn)
{
	if (vqp_tx_sendable(tx))
		return false;
	return !tx->next || vqp_tx_window(tx) < 2 * VQP_TX_ASK_EVERY ||
	       psn - tx->psn_asked >= VQP_TX_ASK_EVERY - 1;
}

/* Send the packet psn_send, which is a packet of msg. */
static int vqp_tx_send_next(struct vqp_tx *tx, struct vqp_msg *msg, u64 now_us)
{
	const u32 psn = tx->psn_send;
	const bool fresh = psn == tx->psn_next;
	const bool idle = !vqp_tx_outstanding(tx);
	int err;

	if (!msg->assigned) {
		msg->psn = psn;
		msg->assigned = true;
	}
	/* A READ before it, which is asked for again, opens the flow at this PSN, too. */
	if (fresh && psn == tx->psn_acked && !tx->opened && !vqp_tx_fetching(tx))
		tx->born = tx->ops->stamp(tx);
	tx->psn_send++;
	if (fresh)
		tx->psn_next++;
	if (!vqp_tx_has(msg, tx->psn_send))
		tx->next = list_is_last(&msg->link, &tx->msgs) ? NULL : list_next_entry(msg, link);
	err = vqp_tx_send_packet(tx, msg, psn, vqp_tx_asks(tx, psn), idle, now_us);
	if (err) {
		tx->psn_send = psn;
		if (fresh)
			tx->psn_next = psn;
		tx->next = msg;
	} else if (!fresh) {
		vqp_tx_note_resent(tx, psn);
	}
	return err;
}

/* The message of `psn`. The search begins at `from`, or at the oldest message if that is NULL. */
static struct vqp_msg *vqp_tx_find(struct vqp_tx *tx, struct vqp_msg *from, u32 psn)
{
	struct vqp_msg *msg = from;

	if (!msg)
		msg = list_first_entry(&tx->msgs, struct vqp_msg, link);
	while (!vqp_tx_has(msg, psn))
		msg = list_next_entry(msg, link);
	return msg;
}

/* Send the lost packets again, oldest first. */
static int vqp_tx_send_lost(struct vqp_tx *tx, u64 now_us)
{
	struct vqp_msg *msg = NULL;
	u32 i, after;
	int err;

	for (i = vqp_mask_next(&tx->lost, 0); i < VQP_MASK_BITS; i = after) {
		if (!vqp_tx_may_send(tx, tx->psn_acked + i))
			return 0;
		vqp_mask_clear(&tx->lost, i);
		after = vqp_mask_next(&tx->lost, i);
		msg = vqp_tx_find(tx, msg, tx->psn_acked + i);
		err = vqp_tx_send_packet(tx, msg, tx->psn_acked + i,
					 after < VQP_MASK_BITS ?
					 !vqp_tx_may_send(tx, tx->psn_acked + after) :
					 !vqp_tx_sendable(tx), false, now_us);
		if (err) {
			vqp_mask_set(&tx->lost, i);
			return err;
		}
		vqp_tx_note_resent(tx, tx->psn_acked + i);
	}
	return 0;
}

/*
 * Note whether the carrier has held back a packet. A flow with nothing outstanding gets no answer:
 * if the carrier has no room, only giveup_us ends the wait. A throttled flow waits for its turn
 * however long that takes.
 */
static void vqp_tx_note_held_back(struct vqp_tx *tx, int err, u64 now_us)
{
	const bool resting = vqp_tx_is_held_back(err) && !vqp_tx_outstanding(tx);

	if (resting && !tx->blocked && !tx->throttled_us)
		tx->progress_us = now_us;
	tx->blocked = resting && err == -EAGAIN;
	tx->throttled_us = err == -EBUSY ? now_us : 0;
}

void vqp_tx_send(struct vqp_tx *tx, u64 now_us)
{
	struct vqp_msg *msg;
	int err = 0;

	if (!tx->pause_us) {
		if (vqp_mask_any(&tx->lost))
			err = vqp_tx_send_lost(tx, now_us);
		if (!err)
			err = vqp_tx_send_rest(tx, now_us);
		while (!err && !vqp_mask_any(&tx->lost) && (msg = vqp_tx_sendable(tx)))
			err = vqp_tx_send_next(tx, msg, now_us);
	}
	vqp_tx_note_held_back(tx, err, now_us);
}

bool vqp_tx_send_close(struct vqp_tx *tx)
{
	struct vqp_pkt pkt;

	memset(&pkt, 0, sizeof(pkt));
	pkt.op = VQP_OP_CLOSE;
	pkt.psn = tx->psn_next;
	if (vqp_tx_xmit(tx, &pkt, NULL, 0, 0))
		return false;
	tx->touched = false;
	tx->opened = false;
	vqp_congestion_rest(&tx->cc);
	/* A late copy of the CLOSE, and late answers to what was sent before, are thus known. */
	vqp_tx_begin_anew(tx);
	return true;
}
