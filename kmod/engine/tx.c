// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/vqp.h>
#include <asm/byteorder.h>
#include "tx.h"

static u32 vqp_tx_count(u32 bytes, u32 unit)
{
	return bytes ? (bytes - 1) / unit + 1 : 1;
}

static bool vqp_tx_has(const struct vqp_msg *msg, u32 psn)
{
	return msg->assigned && psn - msg->psn < msg->psns;
}

/* ---- Outstanding READ chunks ------------------------------------------ */

/* The slot of the chunk or atomic with this PSN, or a free slot, or NULL. */
static struct vqp_tx_read *vqp_tx_read_slot(struct vqp_tx *tx, u32 psn)
{
	struct vqp_tx_read *free = NULL;
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (read->msg && read->psn == psn)
			return read;
		if (!read->msg)
			free = read;
	}
	return free;
}

static struct vqp_tx_read *vqp_tx_read_find(struct vqp_tx *tx, u32 psn)
{
	struct vqp_tx_read *read = vqp_tx_read_slot(tx, psn);

	return read && read->msg ? read : NULL;
}

static bool vqp_tx_read_pending(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg == msg)
			return true;
	return false;
}

/*
 * May one more atomic be outstanding? Its answer may be lost any number of times, so the target has
 * to remember its result until then; it remembers those of the last VQP_READ_CHUNKS atomics.
 */
static bool vqp_tx_may_add_atomic(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && vqp_op_is_atomic(tx->reads[i].msg->op) &&
		    tx->atomics - tx->reads[i].number >= VQP_READ_CHUNKS)
			return false;
	return true;
}

/* Has the target carried out the chunk, of whose response a part has not arrived? */
static bool vqp_tx_read_late(const struct vqp_tx *tx, const struct vqp_tx_read *read)
{
	return read->msg && vqp_psn_before(read->psn, tx->psn_acked);
}

/* ---- Ends ------------------------------------------------------------- */

void vqp_tx_abort(struct vqp_tx *tx, u32 status)
{
	struct vqp_msg *msg;

	tx->dead = true;
	tx->next = NULL;
	memset(tx->reads, 0, sizeof(tx->reads));
	while ((msg = list_first_entry_or_null(&tx->msgs, struct vqp_msg, link))) {
		list_del(&msg->link);
		tx->ops->complete(tx, msg, status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
}

/*
 * The packet `psn` cannot be carried out. Packets before it still can, so its message fails when it
 * is the oldest one. Nothing from `psn` on is sent or awaited any more.
 */
static void vqp_tx_fail(struct vqp_tx *tx, u32 psn, u32 status)
{
	u32 i;

	if (tx->fail && !vqp_psn_before(psn, tx->fail_psn))
		return;
	tx->fail = status;
	tx->fail_psn = psn;
	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (!vqp_psn_before(tx->reads[i].psn, psn))
			tx->reads[i].msg = NULL;
}

static bool vqp_tx_done(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	return msg->assigned && !vqp_psn_before(tx->psn_acked, msg->psn + msg->psns) &&
	       !vqp_tx_read_pending(tx, msg);
}

/* Complete the messages that are finished, in order. */
static void vqp_tx_reap(struct vqp_tx *tx)
{
	struct vqp_msg *msg;

	while ((msg = list_first_entry_or_null(&tx->msgs, struct vqp_msg, link))) {
		if (tx->fail && vqp_tx_has(msg, tx->fail_psn)) {
			vqp_tx_abort(tx, tx->fail);
			return;
		}
		if (!vqp_tx_done(tx, msg))
			return;
		list_del(&msg->link);
		tx->ops->complete(tx, msg, VQP_WC_SUCCESS);
	}
}

/* ---- Time ------------------------------------------------------------- */

/* Are packets unacknowledged that come before a packet that has failed? */
static bool vqp_tx_waiting(const struct vqp_tx *tx)
{
	if (tx->fail && vqp_psn_before(tx->fail_psn, tx->psn_next))
		return vqp_psn_before(tx->psn_acked, tx->fail_psn);
	return tx->psn_acked != tx->psn_next;
}

static bool vqp_tx_outstanding(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg)
			return true;
	return vqp_tx_waiting(tx);
}

/* Does the target hold a context that the flow does not need at present? */
static bool vqp_tx_closable(const struct vqp_tx *tx)
{
	return tx->touched && list_empty(&tx->msgs) && tx->cfg->close_us;
}

static u64 vqp_tx_deadline(const struct vqp_tx *tx)
{
	u64 at;
	u32 i;

	if (tx->dead)
		return 0;
	if (tx->pause_us)
		return tx->pause_us;
	if (tx->throttled_us)
		return 0;
	if (!vqp_tx_outstanding(tx) && !tx->blocked)
		return vqp_tx_closable(tx) ? tx->progress_us + tx->cfg->close_us : 0;
	at = tx->progress_us + tx->cfg->giveup_us;
	if (vqp_tx_waiting(tx))
		at = min_t(u64, at, tx->wait_us + tx->rto_us);
	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (vqp_tx_read_late(tx, &tx->reads[i]))
			at = min_t(u64, at, tx->reads[i].wait_us + tx->rto_us);
	return at;
}

/* The time that a flow was throttled does not count against its target. */
static void vqp_tx_make_good(struct vqp_tx *tx, u64 now_us)
{
	const u64 us = now_us - tx->throttled_us;
	u32 i;

	if (!tx->throttled_us)
		return;
	tx->throttled_us = now_us;
	tx->progress_us += us;
	tx->wait_us += us;
	for (i = 0; i < VQP_READ_CHUNKS; i++)
		tx->reads[i].wait_us += us;
}

/*
 * Arm the timer for the deadline, unless it is armed for an earlier time: vqp_tx_timeout() then
 * arms it anew.
 */
static void vqp_tx_arm(struct vqp_tx *tx)
{
	const u64 at = vqp_tx_deadline(tx);

	if (!at || (tx->deadline_us && tx->deadline_us <= at))
		return;
	tx->deadline_us = at;
	tx->ops->arm(tx, at);
}

static void vqp_tx_set_rto(struct vqp_tx *tx)
{
	const u32 rto = tx->srtt_us + 4 * tx->rttvar_us;

	tx->rto_us = min_t(u32, max_t(u32, rto, tx->cfg->rto_min_us), tx->cfg->rto_max_us);
}

/* RFC 6298 without Karn's rule, since PSN and turn name one transmission of a packet. */
static void vqp_tx_sample_rtt(struct vqp_tx *tx, const struct vqp_pkt *answer, u64 now_us)
{
	u32 rtt, error;

	if (!tx->rtt_sent_us || answer->psn != tx->rtt_psn || answer->turn != tx->rtt_turn)
		return;
	rtt = min_t(u64, now_us - tx->rtt_sent_us, tx->cfg->rto_max_us);
	tx->rtt_sent_us = 0;
	if (tx->srtt_us) {
		error = rtt > tx->srtt_us ? rtt - tx->srtt_us : tx->srtt_us - rtt;
		tx->rttvar_us = tx->rttvar_us - tx->rttvar_us / 4 + error / 4;
		tx->srtt_us = tx->srtt_us - tx->srtt_us / 8 + rtt / 8;
	} else {
		tx->rttvar_us = rtt / 2;
		tx->srtt_us = rtt;
	}
	tx->srtt_us = max_t(u32, tx->srtt_us, 1);
	vqp_tx_set_rto(tx);
}

/* ---- The window ------------------------------------------------------- */

static void vqp_tx_open_window(struct vqp_tx *tx, u32 acked)
{
	u32 grown;

	if (tx->cwnd < tx->ssthresh) {
		tx->cwnd = min_t(u32, tx->cwnd + acked, tx->ssthresh);
		return;
	}
	tx->cwnd_growth += acked * VQP_TX_GROWTH;
	grown = tx->cwnd_growth / tx->cwnd;
	tx->cwnd_growth -= grown * tx->cwnd;
	tx->cwnd = min_t(u32, tx->cwnd + grown, tx->cfg->window_packets);
}

/*
 * Remember the window before a cut for packets that may only be late. Packets that are sent from
 * now on belong to a later turn.
 */
static void vqp_tx_note_window(struct vqp_tx *tx)
{
	if (tx->cwnd_before)
		return;
	tx->cwnd_before = tx->cwnd;
	tx->undo_turn = tx->turn + 1;
}

static void vqp_tx_cut_window(struct vqp_tx *tx, const struct vqp_pkt *pkt, u32 lost)
{
	/* Losses of packets from before the latest cut belong to the round trip of that cut. */
	if ((s16)(pkt->turn - tx->cut_turn) >= 0) {
		tx->cut_turn = tx->turn + 1;
		tx->cwnd_least = max_t(u32, tx->cwnd / 2, 1);
	}
	tx->cwnd -= min_t(u32, lost, tx->cwnd - min_t(u32, tx->cwnd, tx->cwnd_least));
	tx->ssthresh = tx->cwnd;
}

/* A packet that was taken for lost has arrived late, and the others may do so as well. */
static void vqp_tx_undo_cuts(struct vqp_tx *tx)
{
	memset(&tx->lost, 0, sizeof(tx->lost));
	tx->cwnd = max_t(u32, tx->cwnd, tx->cwnd_before);
	tx->ssthresh = max_t(u32, tx->ssthresh, tx->cwnd);
}

/* ---- Sending ---------------------------------------------------------- */

/* Set `next` to the message of psn_send. */
static void vqp_tx_seek(struct vqp_tx *tx)
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

/* Packets in flight do not count any more, and answers to them are late. */
static void vqp_tx_begin_anew(struct vqp_tx *tx)
{
	tx->held = 0;
	tx->back_turn = ++tx->turn;
	tx->cut_turn = tx->turn;
}

/* All packets that are not acknowledged are to be sent again. */
static void vqp_tx_go_back(struct vqp_tx *tx)
{
	tx->lost = vqp_mask_below(tx->psn_send - tx->psn_acked);
	vqp_tx_begin_anew(tx);
}

/*
 * Begin a new turn without a return to an earlier PSN. The other turns stay within half of the
 * range, since turns are compared modulo 2^16.
 */
static void vqp_tx_next_turn(struct vqp_tx *tx)
{
	tx->turn++;
	if ((u16)(tx->turn - tx->back_turn) > 0x4000)
		tx->back_turn++;
	if ((u16)(tx->turn - tx->cut_turn) > 0x4000)
		tx->cut_turn++;
}

/*
 * Is a READ or an atomic of an earlier message outstanding? After a return to an earlier PSN later
 * ones may be outstanding, too, which do not count.
 */
static bool vqp_tx_reading_before(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && tx->reads[i].msg != msg &&
		    vqp_psn_before(tx->reads[i].psn, tx->psn_send))
			return true;
	return false;
}

/* Is a chunk or an atomic before psn_send outstanding? Those behind it will be requested again. */
static bool vqp_tx_fetching(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && vqp_psn_before(tx->reads[i].psn, tx->psn_send))
			return true;
	return false;
}

static u32 vqp_tx_in_flight(const struct vqp_tx *tx)
{
	const u32 absent = tx->held + vqp_mask_count(&tx->lost);
	const u32 ahead = tx->psn_send - tx->psn_acked;

	return ahead - min_t(u32, ahead, absent);
}

static u32 vqp_tx_window(const struct vqp_tx *tx)
{
	return tx->cap ? min_t(u32, tx->cap, tx->cwnd) : tx->cwnd;
}

/*
 * Do neither a failure nor the window forbid to send `psn`? The window never forbids the packet
 * that the target expects next.
 */
static bool vqp_tx_may_send(const struct vqp_tx *tx, u32 psn)
{
	if (tx->fail && !vqp_psn_before(psn, tx->fail_psn))
		return false;
	return psn == tx->psn_acked || vqp_tx_in_flight(tx) < vqp_tx_window(tx);
}

/*
 * May the packet psn_send be sent? It is within VQP_MASK_BITS of psn_acked, so that the target can
 * name it as held behind a gap.
 */
static bool vqp_tx_sendable(struct vqp_tx *tx)
{
	if (!tx->next || tx->psn_send - tx->psn_acked >= VQP_MASK_BITS ||
	    !vqp_tx_may_send(tx, tx->psn_send))
		return false;
	/* The response to a READ is as much as many packets. */
	if (tx->cap && vqp_op_returns_data(tx->next->op) && vqp_tx_fetching(tx))
		return false;
	if (tx->next->fence && vqp_tx_reading_before(tx, tx->next))
		return false;
	if (vqp_op_is_atomic(tx->next->op) && tx->psn_send == tx->psn_next &&
	    !vqp_tx_may_add_atomic(tx))
		return false;
	return !vqp_op_returns_data(tx->next->op) || vqp_tx_read_slot(tx, tx->psn_send);
}

/* Did the carrier hold back a packet? It will call vqp_tx_run() when the flow may go on. */
static bool vqp_tx_is_held_back(int err)
{
	return err == -EAGAIN || err == -EBUSY;
}

static int vqp_tx_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg,
		       u32 offset, u32 bytes)
{
	int err;

	pkt->flow = tx->flow;
	pkt->turn = tx->turn;
	pkt->payload_bytes = bytes;
	if (!tx->opened && pkt->op != VQP_OP_CLOSE) {
		pkt->flags |= VQP_PKT_OPEN;
		pkt->open_psn = tx->psn_acked;
	}
	err = tx->ops->xmit(tx, pkt, msg, offset, bytes);
	if (err)
		return err;
	tx->touched = true;
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

/* Request what is missing of a chunk, or the result of an atomic. */
static int vqp_tx_send_read(struct vqp_tx *tx, struct vqp_tx_read *read, u64 now_us)
{
	u32 first = 0, last = VQP_READ_CHUNK_PACKETS - 1;
	struct vqp_pkt pkt;
	int err;

	while (!(read->missing & (1U << first)))
		first++;
	while (!(read->missing & (1U << last)))
		last--;
	memset(&pkt, 0, sizeof(pkt));
	pkt.op = read->msg->op;
	pkt.psn = read->psn;
	pkt.rkey = read->msg->rkey;
	pkt.offset = first * tx->cfg->payload_bytes;
	pkt.addr = read->msg->remote_addr + read->offset + pkt.offset;
	pkt.msg_bytes = min_t(u32, (last + 1) * tx->cfg->payload_bytes, read->bytes) - pkt.offset;
	pkt.compare_add = read->msg->compare_add;
	pkt.swap = read->msg->swap;
	vqp_tx_next_turn(tx);
	err = vqp_tx_xmit(tx, &pkt, read->msg, 0, 0);
	if (err)
		return err;
	read->again = false;
	read->last = last;
	read->turn = tx->turn;
	read->wait_us = now_us;
	return 0;
}

/*
 * Request the chunk at `psn`, at first or again. vqp_tx_sendable() has seen that there is a slot.
 */
static int vqp_tx_send_chunk(struct vqp_tx *tx, struct vqp_msg *msg, u32 psn, u64 now_us)
{
	const u32 chunk_bytes = tx->cfg->payload_bytes * VQP_READ_CHUNK_PACKETS;
	struct vqp_tx_read *read = vqp_tx_read_slot(tx, psn);
	int err;

	if (!read->msg) {
		read->msg = msg;
		read->psn = psn;
		read->offset = (psn - msg->psn) * chunk_bytes;
		read->bytes = min_t(u32, msg->bytes - read->offset, chunk_bytes);
		read->missing = (1U << vqp_tx_count(read->bytes, tx->cfg->payload_bytes)) - 1;
		read->number = tx->atomics;
		err = vqp_tx_send_read(tx, read, now_us);
		if (err)
			read->msg = NULL;
		else if (vqp_op_is_atomic(msg->op))
			tx->atomics++;
		return err;
	}
	return vqp_tx_send_read(tx, read, now_us);
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
	if ((ask || vqp_op_returns_data(msg->op)) && !tx->rtt_sent_us) {
		tx->rtt_sent_us = now_us;
		tx->rtt_psn = psn;
		tx->rtt_turn = tx->turn;
	}
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

/* Send the packet psn_send. */
static int vqp_tx_send_next(struct vqp_tx *tx, u64 now_us)
{
	struct vqp_msg *msg = tx->next;
	const u32 psn = tx->psn_send;
	const bool fresh = psn == tx->psn_next;
	const bool idle = !vqp_tx_outstanding(tx);
	int err;

	if (!msg->assigned) {
		msg->psn = psn;
		msg->assigned = true;
	}
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
		msg = list_first_entry_or_null(&tx->msgs, struct vqp_msg, link);
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

/* Request the chunks again that are marked. */
static int vqp_tx_send_again(struct vqp_tx *tx, u64 now_us)
{
	int err;
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (!vqp_tx_read_late(tx, read) || !read->again)
			continue;
		err = vqp_tx_send_read(tx, read, now_us);
		if (vqp_tx_is_held_back(err))
			return err;
		if (err)
			vqp_tx_fail(tx, read->psn, VQP_WC_LOC_PROT_ERR);
		else
			tx->packets_resent++;
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

/* ---- Targets that forget ---------------------------------------------- */

/* Send again from psn_acked to a target that may know nothing of the flow. */
static void vqp_tx_restart(struct vqp_tx *tx)
{
	u32 i;

	tx->opened = false;
	tx->cwnd_before = 0;
	tx->psn_send = tx->psn_acked;
	memset(&tx->lost, 0, sizeof(tx->lost));
	vqp_tx_begin_anew(tx);
	vqp_tx_seek(tx);
	/* The new target cannot go on in the middle of a SEND or WRITE; of a READ it can. */
	if (tx->next && tx->next->assigned && tx->next->op != VQP_OP_READ) {
		tx->psn_acked = tx->next->psn;
		tx->psn_send = tx->next->psn;
	}
	for (i = 0; i < VQP_READ_CHUNKS; i++)
		tx->reads[i].again = true;
}

/*
 * Suppose that all packets before `end` were carried out. Is one of them unacknowledged that would
 * have an effect if it were carried out again? Of a SEND the last packet has, of a WRITE each
 * packet, and an atomic until its result arrives.
 */
static bool vqp_tx_may_repeat(const struct vqp_tx *tx, u32 end)
{
	const struct vqp_msg *msg;

	list_for_each_entry(msg, &tx->msgs, link) {
		const u32 seen = msg->op == VQP_OP_SEND ? msg->psn + msg->psns - 1 : msg->psn;

		if (!msg->assigned)
			break;
		if (msg->op != VQP_OP_READ && vqp_psn_before(seen, end) && !vqp_tx_done(tx, msg))
			return true;
	}
	return false;
}

/*
 * If the target has not answered for so long that it may have forgotten the flow, it may carry out
 * packets a second time that are sent again. True: the flow has failed for that reason.
 */
static bool vqp_tx_overdue(struct vqp_tx *tx, u64 now_us)
{
	if (!tx->cfg->forget_us || tx->psn_acked == tx->psn_next ||
	    now_us - tx->heard_us < tx->cfg->forget_us || !vqp_tx_may_repeat(tx, tx->psn_next))
		return false;
	vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
	return true;
}

/*
 * The target answers that it has forgotten the flow. It takes packets in order, so if it names the
 * first unacknowledged packet, and that was sent only once, it has carried out none of them.
 */
static void vqp_tx_take_forgotten(struct vqp_tx *tx, const struct vqp_pkt *pkt)
{
	const bool none = pkt->psn == tx->psn_acked &&
			  !vqp_psn_before(tx->psn_acked, tx->psn_resent);

	if (vqp_tx_may_repeat(tx, none ? tx->psn_acked : tx->psn_next))
		vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
	else
		vqp_tx_restart(tx);
}

void vqp_tx_run(struct vqp_tx *tx, u64 now_us)
{
	int err = 0;

	if (tx->dead || tx->stopped || vqp_tx_overdue(tx, now_us))
		return;
	vqp_tx_make_good(tx, now_us);
	if (tx->pause_us && tx->pause_us <= now_us) {
		tx->pause_us = 0;
		tx->wait_us = now_us;
	}
	if (!tx->pause_us)
		err = vqp_tx_send_again(tx, now_us);
	if (!err && !tx->pause_us && vqp_mask_any(&tx->lost))
		err = vqp_tx_send_lost(tx, now_us);
	while (!err && !tx->pause_us && !vqp_mask_any(&tx->lost) && vqp_tx_sendable(tx))
		err = vqp_tx_send_next(tx, now_us);
	vqp_tx_note_held_back(tx, err, now_us);
	vqp_tx_reap(tx);
	vqp_tx_arm(tx);
}

/* ---- Answers ---------------------------------------------------------- */

/*
 * The target has carried out all packets before `psn`, which is above psn_acked. `turn` is that of
 * the answer.
 */
static void vqp_tx_advance(struct vqp_tx *tx, u32 psn, u16 turn, u64 now_us)
{
	const u32 acked = psn - tx->psn_acked;

	if (tx->cwnd_before && (s16)(turn - tx->undo_turn) < 0)
		vqp_tx_undo_cuts(tx);
	tx->cwnd_before = 0;
	/* Held packets have left the network before, and packets given up tell nothing of it. */
	vqp_tx_open_window(tx, min_t(u32, acked - min_t(u32, acked, tx->held),
				     vqp_tx_in_flight(tx)));
	tx->held = 0;
	vqp_mask_advance(&tx->lost, acked);
	tx->psn_acked = psn;
	if (vqp_psn_before(tx->psn_resent, psn))
		tx->psn_resent = psn;
	tx->progress_us = now_us;
	tx->wait_us = now_us;
	tx->pause_us = 0;
	tx->pauses = 0;
	if (vqp_psn_before(tx->rtt_psn, psn))
		tx->rtt_sent_us = 0;
	if (vqp_psn_before(tx->psn_send, psn)) {
		tx->psn_send = psn;
		vqp_tx_seek(tx);
	}
}

static void vqp_tx_take_ack(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 acked = pkt->ack_psn - tx->psn_acked;

	if (!acked || acked > tx->psn_next - tx->psn_acked)
		return;
	tx->opened = true;
	vqp_tx_advance(tx, pkt->ack_psn, pkt->turn, now_us);
}

/*
 * The last packet of a response has arrived: what is missing of this response and of those that
 * were requested before it is lost.
 */
static void vqp_tx_read_lost(struct vqp_tx *tx, const struct vqp_tx_read *ended)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (vqp_tx_read_late(tx, read) && read->missing &&
		    (s16)(ended->turn - read->turn) >= 0)
			read->again = true;
	}
}

static int vqp_tx_place(struct vqp_tx *tx, const struct vqp_tx_read *read,
			const struct vqp_pkt *pkt)
{
	const void *data = pkt->payload;
	__be64 wire;
	u64 before;

	if (vqp_op_is_atomic(read->msg->op)) {
		memcpy(&wire, pkt->payload, sizeof(wire));
		before = be64_to_cpu(wire);
		data = &before;
	}
	return tx->ops->place(tx, read->msg, read->offset + pkt->offset, data, pkt->payload_bytes);
}

static void vqp_tx_take_resp(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 payload = tx->cfg->payload_bytes;
	const u32 index = pkt->offset / payload;
	struct vqp_tx_read *read = vqp_tx_read_find(tx, pkt->psn);
	u32 bytes;

	if (!read || pkt->offset % payload || index >= vqp_tx_count(read->bytes, payload))
		return;
	bytes = min_t(u32, payload, read->bytes - pkt->offset);
	if (pkt->payload_bytes != bytes)
		return;
	tx->opened = true;
	if (vqp_psn_before(tx->psn_acked, pkt->psn + 1))
		vqp_tx_advance(tx, pkt->psn + 1, pkt->turn, now_us);
	if (read->missing & (1U << index)) {
		if (bytes && vqp_tx_place(tx, read, pkt)) {
			vqp_tx_fail(tx, pkt->psn, VQP_WC_LOC_PROT_ERR);
			return;
		}
		read->missing &= ~(1U << index);
		read->wait_us = now_us;
		tx->progress_us = now_us;
	}
	if (index == read->last && pkt->turn == read->turn)
		vqp_tx_read_lost(tx, read);
	if (!read->missing)
		read->msg = NULL;
}

/*
 * A packet that was sent before a packet that has arrived, and that the target does not hold, is
 * lost. From back_turn on packets were sent in order of their PSNs. Before that turn this is known
 * only of the packets from psn_resent on, which were sent once. Returns the number of packets that
 * were not known to be lost.
 */
static u32 vqp_tx_note_lost(struct vqp_tx *tx, const struct vqp_pkt *pkt, bool late)
{
	const u32 sent = min_t(u32, tx->psn_send - tx->psn_acked, VQP_MASK_BITS);
	const u32 resent = min_t(u32, tx->psn_resent - tx->psn_acked, sent);
	const struct vqp_mask again = vqp_mask_below(resent);
	struct vqp_mask here = vqp_mask_below(sent), before, once, news;
	u32 end = 0, i;
	u64 absent;

	if (!late && !vqp_psn_before(pkt->psn, tx->psn_acked))
		end = min_t(u32, pkt->psn + 1 - tx->psn_acked, sent);
	for (i = 0; i < VQP_MASK_WORDS; i++)
		here.words[i] &= pkt->held.words[i];
	before = vqp_mask_below(end);
	once = vqp_mask_below(vqp_mask_end(&here));
	for (i = 0; i < VQP_MASK_WORDS; i++) {
		absent = (before.words[i] | (once.words[i] & ~again.words[i])) & ~here.words[i];
		news.words[i] = absent & ~tx->lost.words[i];
		tx->lost.words[i] = (tx->lost.words[i] | absent) & ~here.words[i];
	}
	tx->held = vqp_mask_count(&here);
	return vqp_mask_count(&news);
}

static void vqp_tx_take_gap(struct vqp_tx *tx, const struct vqp_pkt *pkt)
{
	const bool late = (s16)(pkt->turn - tx->back_turn) < 0;
	u32 lost;

	if (tx->pause_us || (s16)(tx->turn - pkt->turn) < 0)
		return;
	if (!vqp_mask_any(&pkt->held)) {
		if (!late) {
			tx->cwnd_before = 0;
			vqp_tx_cut_window(tx, pkt, vqp_tx_in_flight(tx));
			vqp_tx_go_back(tx);
		}
		return;
	}
	lost = vqp_tx_note_lost(tx, pkt, late);
	if (!lost)
		return;
	vqp_tx_note_window(tx);
	vqp_tx_cut_window(tx, pkt, lost);
	tx->back_turn = ++tx->turn;
}

/*
 * Pause for as long as the target asks. The pause doubles while no packet gets through, so that
 * many initiators that wait for one receiver leave it the time to work.
 */
static void vqp_tx_take_pause(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 first_us = min_t(u32, pkt->rnr_us, tx->cfg->rto_max_us);

	tx->pause_us = now_us + ((u64)first_us << tx->pauses);
	if (tx->pauses < VQP_TX_PAUSE_DOUBLINGS)
		tx->pauses++;
	tx->progress_us = now_us;
	tx->cwnd_before = 0;
	tx->cwnd = 1;
	vqp_tx_go_back(tx);
}

/* Take a NAK that says which PSN the target's context expects. */
static void vqp_tx_take_refusal(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 acked = pkt->ack_psn - tx->psn_acked;
	const bool current = acked < tx->psn_next - tx->psn_acked;

	if (current) {
		tx->opened = true;
		if (acked)
			vqp_tx_advance(tx, pkt->ack_psn, pkt->turn, now_us);
	}
	switch (pkt->nak) {
	case VQP_NAK_SEQ:
		if (current)
			vqp_tx_take_gap(tx, pkt);
		break;
	case VQP_NAK_RNR:
		if (current)
			vqp_tx_take_pause(tx, pkt, now_us);
		break;
	case VQP_NAK_ACCESS:
		/* It may be of a chunk that was requested again. */
		if (current || vqp_tx_read_find(tx, pkt->ack_psn))
			vqp_tx_fail(tx, pkt->ack_psn, VQP_WC_REM_ACCESS_ERR);
		break;
	case VQP_NAK_INV_REQ:
		if (current)
			vqp_tx_fail(tx, pkt->ack_psn, VQP_WC_REM_INV_REQ_ERR);
		break;
	case VQP_NAK_OP:
		if (current)
			vqp_tx_fail(tx, pkt->ack_psn, VQP_WC_REM_OP_ERR);
		else if (vqp_tx_read_find(tx, pkt->ack_psn))
			/* An earlier target carried it out, and this one has no result. */
			vqp_tx_fail(tx, pkt->ack_psn, VQP_WC_RETRY_EXC_ERR);
		break;
	}
}

static void vqp_tx_take_nak(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	/* The NAK is about a target or a context before the present one. */
	const bool late = (s16)(pkt->turn - tx->back_turn) < 0;

	if (tx->stopped)
		return;
	switch (pkt->nak) {
	case VQP_NAK_NO_NS:
	case VQP_NAK_EPOCH:
		if (late)
			break;
		tx->stopped = true;
		tx->touched = false;
		tx->ops->stale(tx);
		break;
	case VQP_NAK_NO_FLOW:
		/* Further such NAKs answer packets that were sent before the first one arrived. */
		if (tx->opened && !late)
			vqp_tx_take_forgotten(tx, pkt);
		break;
	case VQP_NAK_CLOSED:
		if (!tx->opened || late)
			break;
		vqp_tx_take_ack(tx, pkt, now_us);
		if (pkt->ack_psn == tx->psn_acked)
			vqp_tx_restart(tx);
		break;
	case VQP_NAK_BUSY:
		/* When the target has a context, this NAK can only be late. */
		if (!tx->opened)
			vqp_tx_take_pause(tx, pkt, now_us);
		break;
	default:
		vqp_tx_take_refusal(tx, pkt, now_us);
		break;
	}
}

void vqp_tx_input(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	if (pkt->flow != tx->flow || tx->dead || !vqp_tx_outstanding(tx) ||
	    vqp_tx_overdue(tx, now_us))
		return;
	tx->heard_us = now_us;
	vqp_tx_make_good(tx, now_us);
	vqp_tx_sample_rtt(tx, pkt, now_us);
	switch (pkt->op) {
	case VQP_OP_ACK:
		vqp_tx_take_ack(tx, pkt, now_us);
		break;
	case VQP_OP_READ_RESP:
		vqp_tx_take_resp(tx, pkt, now_us);
		break;
	case VQP_OP_NAK:
		vqp_tx_take_nak(tx, pkt, now_us);
		break;
	default:
		return;
	}
	vqp_tx_reap(tx);
	vqp_tx_run(tx, now_us);
}

/* ---- The caller's side ------------------------------------------------ */

void vqp_tx_init(struct vqp_tx *tx, const struct vqp_tx_ops *ops,
		 const struct vqp_tx_cfg *cfg, u32 flow, u32 first_psn)
{
	memset(tx, 0, sizeof(*tx));
	tx->ops = ops;
	tx->cfg = cfg;
	INIT_LIST_HEAD(&tx->msgs);
	tx->flow = flow;
	tx->psn_next = first_psn;
	tx->psn_send = first_psn;
	tx->psn_acked = first_psn;
	tx->psn_resent = first_psn;
	tx->psn_asked = first_psn;
	tx->cwnd = cfg->window_packets;
	tx->ssthresh = cfg->window_packets;
	tx->cwnd_least = 1;
	vqp_tx_set_rto(tx);
}

void vqp_tx_queue(struct vqp_tx *tx, struct vqp_msg *msg)
{
	u32 packet;

	if (tx->dead) {
		tx->ops->complete(tx, msg, VQP_WC_WR_FLUSH_ERR);
		return;
	}
	packet = tx->cfg->payload_bytes;
	msg->assigned = false;
	msg->psns = vqp_tx_count(msg->bytes, msg->op == VQP_OP_READ ?
				 packet * VQP_READ_CHUNK_PACKETS : packet);
	list_add_tail(&msg->link, &tx->msgs);
	if (!tx->next)
		tx->next = msg;
}

void vqp_tx_post(struct vqp_tx *tx, struct vqp_msg *msg, u64 now_us)
{
	vqp_tx_queue(tx, msg);
	vqp_tx_run(tx, now_us);
}

/*
 * Tell the target that it may let go of its context, until the next message or for good. False: the
 * carrier has no room.
 */
static bool vqp_tx_send_close(struct vqp_tx *tx)
{
	struct vqp_pkt pkt;

	memset(&pkt, 0, sizeof(pkt));
	pkt.op = VQP_OP_CLOSE;
	pkt.psn = tx->psn_next;
	if (vqp_tx_xmit(tx, &pkt, NULL, 0, 0))
		return false;
	tx->touched = false;
	tx->opened = false;
	return true;
}

/*
 * The timer is late if its processor had no time for it. Meanwhile nothing was sent again, and
 * answers were not looked at. That time does not count against the target.
 */
static void vqp_tx_excuse(struct vqp_tx *tx, u64 deadline_us, u64 now_us)
{
	if (deadline_us && deadline_us < now_us)
		tx->progress_us += min_t(u64, now_us - deadline_us, now_us - tx->progress_us);
}

void vqp_tx_timeout(struct vqp_tx *tx, u64 now_us)
{
	const u64 deadline_us = tx->deadline_us;
	bool due = false;
	u32 i;

	tx->deadline_us = 0;
	if (tx->dead || tx->stopped)
		return;
	vqp_tx_make_good(tx, now_us);
	vqp_tx_excuse(tx, deadline_us, now_us);
	if (!tx->pause_us && (vqp_tx_outstanding(tx) || tx->blocked)) {
		if (now_us - tx->progress_us >= tx->cfg->giveup_us) {
			vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
			return;
		}
		for (i = 0; i < VQP_READ_CHUNKS; i++) {
			struct vqp_tx_read *read = &tx->reads[i];

			if (vqp_tx_read_late(tx, read) && now_us - read->wait_us >= tx->rto_us) {
				read->again = true;
				read->wait_us = now_us;
				due = true;
			}
		}
		if (vqp_tx_waiting(tx) && now_us - tx->wait_us >= tx->rto_us) {
			tx->wait_us = now_us;
			if (!tx->cwnd_before)
				tx->ssthresh = max_t(u32, tx->cwnd / 2, 1);
			vqp_tx_note_window(tx);
			tx->cwnd = 1;
			vqp_tx_go_back(tx);
			due = true;
		}
		if (due)
			tx->rto_us = min_t(u64, 2ULL * tx->rto_us, tx->cfg->rto_max_us);
	} else if (vqp_tx_closable(tx) && now_us - tx->progress_us >= tx->cfg->close_us) {
		if (!vqp_tx_send_close(tx))
			tx->progress_us = now_us;
	}
	vqp_tx_run(tx, now_us);
}

void vqp_tx_retarget(struct vqp_tx *tx, u64 now_us)
{
	if (tx->dead)
		return;
	vqp_tx_restart(tx);
	tx->stopped = false;
	tx->blocked = false;
	tx->throttled_us = 0;
	tx->pause_us = 0;
	tx->cwnd = tx->cfg->window_packets;
	tx->ssthresh = tx->cwnd;
	tx->srtt_us = 0;
	tx->rttvar_us = 0;
	tx->rtt_sent_us = 0;
	vqp_tx_set_rto(tx);
	tx->progress_us = now_us;
	tx->wait_us = now_us;
	vqp_tx_run(tx, now_us);
}

bool vqp_tx_is_capped(struct vqp_tx *tx)
{
	return !tx->dead && !tx->stopped && !tx->pause_us && !tx->throttled_us && tx->next &&
	       vqp_tx_in_flight(tx) >= tx->cap && vqp_tx_in_flight(tx) < tx->cwnd;
}

void vqp_tx_close(struct vqp_tx *tx)
{
	vqp_tx_abort(tx, VQP_WC_WR_FLUSH_ERR);
	if (tx->touched)
		vqp_tx_send_close(tx);
}
