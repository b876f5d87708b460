/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's side of the dc carrier: the responder contexts of flows that
 * arrive, one table for each lane. They outlive the parent: a device that goes
 * and comes back must not make a target forget what it has carried out, or its
 * initiators, who do not know, would have it done twice. Their epoch tells one
 * load of the module from the next, between which no function lives.
 */
#ifndef VQP_RESPONDER_H
#define VQP_RESPONDER_H

#include <linux/types.h>
#include <linux/vqp.h>
#include "engine/wire.h"

struct vqp;
struct vqp_lane;
struct vqp_ns;
struct vqp_peer;

/*
 * What is silent for so long has vanished. Longer than any initiator tries (vqp_tx_cfg.forget_us):
 * a context that expired in the midst of that would be made anew, and receive the same again.
 */
#define VQP_RESPONDER_IDLE_US	(30U * 1000 * 1000)

int __init vqp_responder_init(u32 lanes);
void vqp_responder_exit(void);

/* Of all metadata of this node. */
u32 vqp_responder_epoch(void);

/* How many lanes each parent has: a flow's context must be found under the next one, too. */
u32 vqp_responder_lanes(void);

/* For one lane. */
u64 vqp_responder_bytes(void);

/* The parent carries so much in a packet. */
void vqp_responder_set_payload(u32 bytes);

/* A request from `peer`, QP `qpn`. Bottom halves off, under rcu_read_lock(), which keeps peer. */
void vqp_responder_input(struct vqp_lane *lane, struct vqp_peer *peer, u32 qpn,
			 const struct vqp_pkt *pkt);

/* Let go of the contexts of a namespace; of all, if NULL. Process context. */
void vqp_responder_purge(struct vqp_ns *ns);

/* Break off the messages in progress that hold receives of vqp. */
void vqp_responder_break(struct vqp *vqp);

#endif
