/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dc/ joins the protocol core to lanes, VQPs and memory. It knows the queue, the device and
 * engine/, and neither loop/ nor what accelerates it.
 *
 * The dc carrier: DC's semantics in software over the lanes' UD QPs. This file
 * joins the initiator's half of the protocol core (engine/tx.h) to lanes, peers,
 * VQPs and memory; dc/responder.h the target's.
 */
#ifndef VQP_DC_DC_H
#define VQP_DC_DC_H

#include <linux/types.h>
#include "engine/wire.h"

struct vqp;
struct vqp_carrier_ops;
struct vqp_device_user;

extern const struct vqp_carrier_ops vqp_dc_carrier;
/* The part of both halves in the coming and going of parents. */
extern struct vqp_device_user vqp_dc_device_user;

/*
 * Have the address of the node `dct` resolved, which takes seconds, before locks are taken to
 * attach to it. -ENETDOWN, -EHOSTUNREACH, ...
 */
int vqp_dc_resolve(const struct vqp_dct *dct);

/* Connect vqp to the node `dct`, also anew. Process context. -ENETDOWN, -EHOSTUNREACH, ... */
int vqp_dc_attach(struct vqp *vqp, const struct vqp_dct *dct);

#endif
