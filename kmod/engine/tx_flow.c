// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>
#include <linux/vqp.h>
#include "tx_internal.h"

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
	vqp_congestion_init(&tx->cc, cfg->window_packets);
	vqp_tx_set_rto(tx);
}

void vqp_tx_abort(struct vqp_tx *tx, u32 status)
{
	struct vqp_msg *msg;

	tx->dead = true;
	tx->next = NULL;
	memset(tx->reads, 0, sizeof(tx->reads));
	while ((msg = list_first_entry_or_null(&tx->msgs, struct vqp_msg, link))) {
		list_del(&msg->link);
		tx->nmsgs--;
		tx->ops->complete(tx, msg, status);
		status = VQP_WC_WR_FLUSH_ERR;
	}
}

void vqp_tx_fail(struct vqp_tx *tx, u32 psn, u32 status)
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

bool vqp_tx_done(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	return msg->assigned && !vqp_psn_before(tx->psn_acked, msg->psn + msg->psns) &&
	       !vqp_tx_read_pending(tx, msg);
}

void vqp_tx_reap(struct vqp_tx *tx)
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
		tx->nmsgs--;
		tx->ops->complete(tx, msg, VQP_WC_SUCCESS);
	}
}

void vqp_tx_run(struct vqp_tx *tx, u64 now_us)
{
	if (tx->dead || tx->stopped || vqp_tx_overdue(tx, now_us))
		return;
	vqp_tx_make_good(tx, now_us);
	if (tx->pause_us && tx->pause_us <= now_us) {
		tx->pause_us = 0;
		tx->wait_us = now_us;
	}
	vqp_tx_send(tx, now_us);
	vqp_tx_reap(tx);
	vqp_tx_arm(tx);
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
	tx->nmsgs++;
	if (!tx->next)
		tx->next = msg;
}

void vqp_tx_post(struct vqp_tx *tx, struct vqp_msg *msg, u64 now_us)
{
	vqp_tx_queue(tx, msg);
	vqp_tx_run(tx, now_us);
}

void vqp_tx_close(struct vqp_tx *tx)
{
	vqp_tx_abort(tx, VQP_WC_WR_FLUSH_ERR);
	if (tx->touched)
		vqp_tx_send_close(tx);
}
