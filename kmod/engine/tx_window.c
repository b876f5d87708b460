// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/string.h>
#include "tx_internal.h"

void vqp_tx_open_window(struct vqp_tx *tx, u32 acked)
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

/* Packets that are sent from now on belong to a later turn, so that an answer tells them apart. */
void vqp_tx_note_window(struct vqp_tx *tx)
{
	if (tx->cwnd_before)
		return;
	tx->cwnd_before = tx->cwnd;
	tx->undo_turn = tx->turn + 1;
}

void vqp_tx_cut_window(struct vqp_tx *tx, const struct vqp_pkt *pkt, u32 lost)
{
	/* Losses of packets from before the latest cut belong to the round trip of that cut. */
	if ((s16)(pkt->turn - tx->cut_turn) >= 0) {
		tx->cut_turn = tx->turn + 1;
		tx->cwnd_least = max_t(u32, tx->cwnd / 2, 1);
	}
	tx->cwnd -= min_t(u32, lost, tx->cwnd - min_t(u32, tx->cwnd, tx->cwnd_least));
	tx->ssthresh = tx->cwnd;
}

void vqp_tx_undo_cuts(struct vqp_tx *tx)
{
	memset(&tx->lost, 0, sizeof(tx->lost));
	tx->cwnd = max_t(u32, tx->cwnd, tx->cwnd_before);
	tx->ssthresh = max_t(u32, tx->ssthresh, tx->cwnd);
}

bool vqp_tx_is_capped(struct vqp_tx *tx)
{
	return !tx->dead && !tx->stopped && !tx->pause_us && !tx->throttled_us && tx->next &&
	       vqp_tx_in_flight(tx) >= tx->cap && vqp_tx_in_flight(tx) < tx->cwnd;
}
