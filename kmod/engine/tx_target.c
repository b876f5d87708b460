// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>
#include <linux/vqp.h>
#include "tx_internal.h"

void vqp_tx_note_opened(struct vqp_tx *tx)
{
	tx->opened = true;
	tx->echo = 0;
	tx->challenged = false;
}

/*
 * An ACK of a context before the restart may still come, if the new target is the same node. What
 * it acknowledges was carried out, and the flow takes it for open. If the context is there no more,
 * the target says so to the next packet, and vqp_tx_take_forgotten() decides once more: the flow
 * goes back to the beginning of its message, or fails.
 */
void vqp_tx_restart(struct vqp_tx *tx)
{
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
	vqp_tx_mark_again(tx);
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
 * A target that has not heard of a flow for forget_us may have forgotten it, and would carry out
 * packets a second time that are sent again.
 */
bool vqp_tx_overdue(struct vqp_tx *tx, u64 now_us)
{
	if (!tx->cfg->forget_us || tx->psn_acked == tx->psn_next ||
	    now_us - tx->heard_us < tx->cfg->forget_us || !vqp_tx_may_repeat(tx, tx->psn_next))
		return false;
	vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
	return true;
}

/*
 * A packet that repeats an echo is not answered with the same one: such a NAK is about packets that
 * were sent before. Any other echo counts, even one that comes late, since the packets under way
 * have none that the target is known to take. They were refused and not lost, so that the window
 * stays; and they come no more, so that no late answer may undo their being sent again.
 */
void vqp_tx_take_stale(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	if (tx->opened || pkt->echo == tx->echo)
		return;
	if (vqp_tx_is_hopeless(tx, now_us)) {
		vqp_tx_fail(tx, tx->psn_acked, VQP_WC_RETRY_EXC_ERR);
		return;
	}
	tx->echo = pkt->echo;
	tx->challenged = true;
	tx->cwnd_before = 0;
	vqp_tx_go_back(tx);
	vqp_tx_mark_again(tx);
}

/*
 * The target takes packets in order. If its answer names the first unacknowledged packet, and that
 * was sent only once, the target has carried out none of them.
 */
void vqp_tx_take_forgotten(struct vqp_tx *tx, const struct vqp_pkt *pkt)
{
	const bool none = pkt->psn == tx->psn_acked &&
			  !vqp_psn_before(tx->psn_acked, tx->psn_resent);

	if (vqp_tx_may_repeat(tx, none ? tx->psn_acked : tx->psn_next))
		vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
	else
		vqp_tx_restart(tx);
}

void vqp_tx_retarget(struct vqp_tx *tx, u64 now_us)
{
	if (tx->dead)
		return;
	vqp_tx_restart(tx);
	tx->echo = 0;
	tx->challenged = false;
	tx->stopped = false;
	tx->blocked = false;
	tx->throttled_us = 0;
	tx->pause_us = 0;
	vqp_congestion_init(&tx->cc, tx->cfg->window_packets);
	tx->rtt_sent_us = 0;
	vqp_tx_set_rto(tx);
	tx->progress_us = now_us;
	tx->wait_us = now_us;
	vqp_tx_run(tx, now_us);
}
