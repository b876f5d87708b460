// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/vqp.h>
#include "tx_internal.h"

void vqp_tx_advance(struct vqp_tx *tx, u32 psn, u16 turn, u64 now_us)
{
	const u32 acked = psn - tx->psn_acked;

	if (tx->cwnd_before && (s16)(turn - tx->undo_turn) < 0)
		vqp_tx_undo_cuts(tx);
	tx->cwnd_before = 0;
	/* Held packets have left the network before, and packets given up tell nothing of it. */
	tx->left += min_t(u32, acked - min_t(u32, acked, tx->held), vqp_tx_in_flight(tx));
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
	vqp_tx_note_opened(tx);
	vqp_tx_advance(tx, pkt->ack_psn, pkt->turn, now_us);
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
			vqp_tx_cut_window(tx, pkt->turn, vqp_tx_in_flight(tx));
			vqp_tx_go_back(tx);
		}
		return;
	}
	lost = vqp_tx_note_lost(tx, pkt, late);
	if (!lost)
		return;
	vqp_tx_note_window(tx);
	vqp_tx_cut_window(tx, pkt->turn, lost);
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
	tx->cwnd_before = 0;
	vqp_congestion_pause(&tx->cc);
	vqp_tx_go_back(tx);
}

/*
 * The target has no context for the flow. It may have one in a moment, but it may also be full for
 * good, and then the flow fails like one to a target that is silent.
 */
static void vqp_tx_take_busy(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	if (vqp_tx_is_hopeless(tx, now_us))
		vqp_tx_fail(tx, tx->psn_acked, VQP_WC_RETRY_EXC_ERR);
	else
		vqp_tx_take_pause(tx, pkt, now_us);
}

/* Take a NAK that says which PSN the target's context expects. */
static void vqp_tx_take_refusal(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 acked = pkt->ack_psn - tx->psn_acked;
	const bool current = acked < tx->psn_next - tx->psn_acked;

	if (current) {
		vqp_tx_note_opened(tx);
		if (acked)
			vqp_tx_advance(tx, pkt->ack_psn, pkt->turn, now_us);
	}
	switch (pkt->nak) {
	case VQP_NAK_SEQ:
		if (current)
			vqp_tx_take_gap(tx, pkt);
		break;
	case VQP_NAK_RNR:
		if (!current)
			break;
		/* The target is there, and its owner may post a receive whenever it likes. */
		tx->progress_us = now_us;
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

/* Is the packet `psn` unanswered, or a part of what it asked for? */
static bool vqp_tx_awaits(struct vqp_tx *tx, u32 psn)
{
	return !vqp_psn_before(psn, tx->psn_acked) || vqp_tx_read_find(tx, psn);
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
		/*
		 * Further such NAKs answer packets that were sent before the first one arrived, or
		 * that came late.
		 */
		if (tx->opened && !late && vqp_tx_awaits(tx, pkt->psn))
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
			vqp_tx_take_busy(tx, pkt, now_us);
		break;
	case VQP_NAK_STALE:
		vqp_tx_take_stale(tx, pkt, now_us);
		break;
	default:
		vqp_tx_take_refusal(tx, pkt, now_us);
		break;
	}
}

/* Does a context of the flow answer? The other NAKs say that the target has none. */
static bool vqp_tx_hears_context(const struct vqp_pkt *pkt)
{
	if (pkt->op == VQP_OP_ACK || pkt->op == VQP_OP_READ_RESP)
		return true;
	if (pkt->op != VQP_OP_NAK)
		return false;
	switch (pkt->nak) {
	case VQP_NAK_NO_NS:
	case VQP_NAK_NO_FLOW:
	case VQP_NAK_BUSY:
	case VQP_NAK_EPOCH:
	case VQP_NAK_STALE:
		return false;
	}
	return true;
}

void vqp_tx_input(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	/* The window of a flow that does not use it tells nothing of the network. */
	bool used;

	if (pkt->flow != tx->flow || tx->dead || !vqp_tx_outstanding(tx) ||
	    vqp_tx_overdue(tx, now_us))
		return;
	if (vqp_tx_hears_context(pkt))
		tx->heard_us = now_us;
	vqp_tx_hear_node(tx, now_us);
	vqp_tx_make_good(tx, now_us);
	vqp_tx_sample_rtt(tx, pkt, now_us);
	used = 2 * vqp_tx_in_flight(tx) >= vqp_tx_window(tx);
	tx->left = 0;
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
	vqp_congestion_ack(&tx->cc, tx->left, pkt->marks + pkt->ce, used, now_us);
	vqp_tx_reap(tx);
	vqp_tx_run(tx, now_us);
}
