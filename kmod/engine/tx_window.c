// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>
#include "tx_internal.h"

/* Packets that are sent from now on belong to a later turn, so that an answer tells them apart. */
void vqp_tx_note_window(struct vqp_tx *tx)
{
	if (tx->cwnd_before)
		return;
	tx->cwnd_before = tx->cc.cwnd;
	tx->undo_turn = tx->turn + 1;
}

void vqp_tx_cut_window(struct vqp_tx *tx, u16 turn, u32 lost)
{
	/* Losses of packets from before the latest cut belong to the round trip of that cut. */
	const bool first = (s16)(turn - tx->cut_turn) >= 0;

	if (first)
		tx->cut_turn = tx->turn + 1;
	vqp_congestion_loss(&tx->cc, lost, first);
}

void vqp_tx_undo_cuts(struct vqp_tx *tx)
{
	memset(&tx->lost, 0, sizeof(tx->lost));
	vqp_congestion_undo(&tx->cc, tx->cwnd_before);
}

bool vqp_tx_is_capped(struct vqp_tx *tx)
{
	return !tx->dead && !tx->stopped && !tx->pause_us && !tx->throttled_us && tx->next &&
	       vqp_tx_in_flight(tx) >= tx->cap &&
	       vqp_tx_in_flight(tx) < vqp_congestion_window(&tx->cc);
}
