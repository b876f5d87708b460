/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions that the files of the target share. rx_table.c has the contexts and their life, and
 * rx_request.c what a context does with a packet.
 */
#ifndef VQP_ENGINE_RX_INTERNAL_H
#define VQP_ENGINE_RX_INTERNAL_H

#include "rx.h"

/* A packet that the table is dealing with. */
struct vqp_rx_call {
	struct vqp_rxtab *tab;
	const struct vqp_pkt *pkt;
	void *reply_to;			/* is passed to vqp_rx_ops.reply */
	u64 now_us;
};

/* ---- rx_request.c ---- */

/* Send a NAK. rx is NULL if the flow has no context, and then nak is not VQP_NAK_SEQ. */
void vqp_rx_nak(const struct vqp_rx_call *call, struct vqp_rx *rx, u32 ack_psn, u8 nak);

/* Challenge the sender of a packet that is not fresh. */
void vqp_rx_challenge(const struct vqp_rx_call *call, u32 echo);

/* Carry out, answer or hold a request of a context that is live. */
void vqp_rx_input(const struct vqp_rx_call *call, struct vqp_rx *rx);

/* ---- rx_table.c ---- */

/*
 * Does call->pkt, which has the flag OPEN, belong to the flow of this live context? If it has the
 * flow go on at a later PSN, so does the context. Otherwise the packet is answered.
 */
bool vqp_rx_matches(const struct vqp_rx_call *call, struct vqp_rx *rx);

/* Drop the packets that a context holds behind a gap. */
void vqp_rx_drop_held(struct vqp_rxtab *tab, struct vqp_rx *rx);

/* Break off the message in progress, if there is one, and put its receive back. */
void vqp_rx_break_off(struct vqp_rxtab *tab, struct vqp_rx *rx);

#endif
