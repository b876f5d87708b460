/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dc/ joins the protocol core to lanes, VQPs and memory. It knows the queue, the device and
 * engine/, and neither loop/ nor the accelerators.
 *
 * The dc carrier has the semantics of dynamically connected transport (KRCORE, section 3) in
 * software, over the lanes' UD QPs. dc/initiator.h joins the initiator's half of the protocol core
 * to lanes, VQPs and memory, and dc/responder.h the target's half. This file attaches VQPs to
 * peers, and gives packets that arrive to the one half or the other.
 */
#ifndef VQP_DC_DC_H
#define VQP_DC_DC_H

#include <linux/types.h>
#include "engine/wire.h"

struct vqp;
struct vqp_carrier_ops;
struct vqp_device_user;

extern const struct vqp_carrier_ops vqp_dc_carrier;
/* What both halves do when a parent comes or goes, and the input of packets. */
extern struct vqp_device_user vqp_dc_device_user;

/*
 * Resolve the address of the node `dct`, which may take seconds, so that vqp_dc_attach() need not
 * under its caller's locks. Returns 0, -ENETDOWN, -EHOSTUNREACH or another -errno. Process context.
 */
int vqp_dc_resolve(const struct vqp_dct *dct);

/*
 * Connect vqp to the node `dct`, for the first time or after a reroute. Returns 0, -ENETDOWN,
 * -EHOSTUNREACH, -EIO if vqp has failed, or another -errno. Process context.
 */
int vqp_dc_attach(struct vqp *vqp, const struct vqp_dct *dct);

#endif
