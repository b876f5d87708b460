// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/vqp.h>
#include "tx_internal.h"

/* Are packets unacknowledged that come before a packet that has failed? */
static bool vqp_tx_waiting(const struct vqp_tx *tx)
{
	if (tx->fail && vqp_psn_before(tx->fail_psn, tx->psn_next))
		return vqp_psn_before(tx->psn_acked, tx->fail_psn);
	return tx->psn_acked != tx->psn_next;
}

bool vqp_tx_outstanding(const struct vqp_tx *tx)
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
	at = vqp_tx_giveup_at(tx);
	if (vqp_tx_waiting(tx))
		at = min_t(u64, at, tx->wait_us + tx->rto_us);
	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (vqp_tx_read_late(tx, &tx->reads[i]) && tx->reads[i].asked)
			at = min_t(u64, at, tx->reads[i].wait_us + tx->rto_us);
	return at;
}

void vqp_tx_make_good(struct vqp_tx *tx, u64 now_us)
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

/* If the timer is armed for an earlier time, vqp_tx_timeout() arms it anew. */
void vqp_tx_arm(struct vqp_tx *tx)
{
	const u64 at = vqp_tx_deadline(tx);

	if (!at || (tx->deadline_us && tx->deadline_us <= at))
		return;
	tx->deadline_us = at;
	tx->ops->arm(tx, at);
}

void vqp_tx_set_rto(struct vqp_tx *tx)
{
	const u32 rto = tx->cc.srtt_us + 4 * tx->cc.rttvar_us;

	tx->rto_us = min_t(u32, max_t(u32, rto, tx->cfg->rto_min_us), tx->cfg->rto_max_us);
}

void vqp_tx_time_rtt(struct vqp_tx *tx, u32 psn, u64 now_us)
{
	if (tx->rtt_sent_us)
		return;
	tx->rtt_sent_us = now_us;
	tx->rtt_psn = psn;
	tx->rtt_turn = tx->turn;
}

/* RFC 6298 without Karn's rule, since PSN and turn name one transmission of a packet. */
void vqp_tx_sample_rtt(struct vqp_tx *tx, const struct vqp_pkt *answer, u64 now_us)
{
	u32 rtt;

	if (!tx->rtt_sent_us || answer->psn != tx->rtt_psn || answer->turn != tx->rtt_turn)
		return;
	rtt = min_t(u64, now_us - tx->rtt_sent_us, tx->cfg->rto_max_us);
	tx->rtt_sent_us = 0;
	vqp_congestion_rtt(&tx->cc, rtt);
	vqp_tx_set_rto(tx);
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

void vqp_tx_hear_node(struct vqp_tx *tx, u64 at_us)
{
	tx->node_heard_us = max_t(u64, tx->node_heard_us, at_us);
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
		if (vqp_tx_is_hopeless(tx, now_us)) {
			vqp_tx_abort(tx, VQP_WC_RETRY_EXC_ERR);
			return;
		}
		for (i = 0; i < VQP_READ_CHUNKS; i++) {
			struct vqp_tx_read *read = &tx->reads[i];

			if (vqp_tx_read_late(tx, read) && read->asked &&
			    now_us - read->wait_us >= tx->rto_us) {
				read->asked = 0;
				read->wait_us = now_us;
				due = true;
			}
		}
		if (due) {
			vqp_congestion_timeout(&tx->cc);
			tx->cut_turn = tx->turn + 1;
		}
		if (vqp_tx_waiting(tx) && now_us - tx->wait_us >= tx->rto_us) {
			tx->wait_us = now_us;
			vqp_tx_note_window(tx);
			if (!due)
				vqp_congestion_timeout(&tx->cc);
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
