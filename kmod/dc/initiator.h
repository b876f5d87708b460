/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initiator's half of the dc carrier. It gives the protocol core (engine/tx.h) what a flow
 * needs of the kernel: the lanes' slots, the memory of requests, a timer, and the completion of
 * requests. The functions are called under vqp.lock unless their comments say otherwise.
 */
#ifndef VQP_DC_INITIATOR_H
#define VQP_DC_INITIATOR_H

struct vqp;
struct vqp_parent;
struct vqp_pkt;
struct vqp_tx_cfg;

/* Initialize the flow of a new VQP, which is attached to nothing. Without the lock. */
void vqp_initiator_init(struct vqp *vqp);

/* Begin a flow of number vqp->dc.flow with the configuration of a parent. */
void vqp_initiator_begin(struct vqp *vqp, const struct vqp_tx_cfg *cfg);

/* The flow has another target: send again what the old one may not have carried out. */
void vqp_initiator_retarget(struct vqp *vqp);

/* Forget the flow, which has no requests, and all that it uses of a parent. */
void vqp_initiator_reset(struct vqp *vqp);

/* vqp_carrier_ops.prepare and .run. */
void vqp_initiator_prepare(struct vqp *vqp);
void vqp_initiator_run(struct vqp *vqp);

/* vqp_carrier_ops.kick. Without the lock, any context. */
void vqp_initiator_kick(struct vqp *vqp);

/* An answer of the flow's target has arrived. */
void vqp_initiator_input(struct vqp *vqp, const struct vqp_pkt *pkt);

/* Begin to watch over a target from which vqp only receives, if keepalive_ms is set. */
void vqp_initiator_keep_alive(struct vqp *vqp);

/* Make vqp wait no longer for a slot of the parent's lane. Without the lock. */
void vqp_initiator_unwait(struct vqp *vqp, const struct vqp_parent *parent);

#endif
