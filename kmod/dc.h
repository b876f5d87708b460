/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The dc carrier: DC's semantics in software over the lanes' UD QPs. This file
 * joins the initiator's half of the protocol core (engine/tx.h) to lanes, peers,
 * VQPs and memory; responder.h the target's.
 */
#ifndef VQP_DC_H
#define VQP_DC_H

#include <linux/types.h>
#include "engine/wire.h"

struct vqp;
struct vqp_lane;

/* A VQP's dc part: made empty; its references dropped. */
void vqp_dc_init(struct vqp *vqp);
void vqp_dc_release(struct vqp *vqp);

/*
 * Have the address of the node `dct` resolved, which takes seconds, before locks are taken to
 * attach to it. -ENETDOWN, -EHOSTUNREACH, ...
 */
int vqp_dc_resolve(const struct vqp_dct *dct);

/* Connect vqp to the node `dct`, also anew. Process context. -ENETDOWN, -EHOSTUNREACH, ... */
int vqp_dc_attach(struct vqp *vqp, const struct vqp_dct *dct);

/* The loop carrier takes over: nothing of the parent may be used any more. Under vqp.lock. */
void vqp_dc_leave(struct vqp *vqp);

/* Send what is queued. Under vqp.lock. */
void vqp_dc_run(struct vqp *vqp);

/* Take the lane of this processor, if that overtakes nothing. Under vqp.lock. */
void vqp_dc_follow(struct vqp *vqp);

/* A send slot came free. */
void vqp_dc_kick(struct vqp *vqp);

/*
 * Teardown: its flow number names nothing any more; then its timer ends and it waits for no slot.
 */
void vqp_dc_unpublish(struct vqp *vqp);
void vqp_dc_detach(struct vqp *vqp);

/* vqp_device_user.down and .input: every flow fails; a packet arrived. */
void vqp_dc_fail_all(void);
void vqp_dc_input(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes);

#endif
