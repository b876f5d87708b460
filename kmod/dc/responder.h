/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's half of the dc carrier: the responder contexts of the flows that arrive, in one
 * table for each lane. The tables outlive the parent. If a target forgot what it has carried out
 * whenever its device goes and comes back, its initiators, which do not notice, would have requests
 * carried out twice.
 */
#ifndef VQP_DC_RESPONDER_H
#define VQP_DC_RESPONDER_H

#include <linux/types.h>
#include <linux/vqp.h>
#include "engine/wire.h"

struct vqp;
struct vqp_lane;
struct vqp_ns_user;
struct vqp_parent;
struct vqp_peer;

int __init vqp_responder_init(void);
void vqp_responder_exit(void);

/* The target's part in the going of namespaces. */
extern struct vqp_ns_user vqp_responder_ns_user;

/* A parent came: use the payload that its packets carry. Process context. */
void vqp_responder_up(struct vqp_parent *parent);

/*
 * A request or a CLOSE has arrived from QP `qpn` of `peer`. Bottom halves are off, and the caller
 * holds rcu_read_lock(), which keeps the peer.
 */
void vqp_responder_input(struct vqp_lane *lane, struct vqp_peer *peer, u32 qpn,
			 const struct vqp_pkt *pkt);

/* Break off the messages in progress that hold receives of vqp. */
void vqp_responder_break(struct vqp *vqp);

#endif
