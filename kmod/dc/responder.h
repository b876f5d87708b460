/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's side of the dc carrier: the responder contexts of flows that
 * arrive, one table for each lane. They outlive the parent: a device that goes
 * and comes back must not make a target forget what it has carried out, or its
 * initiators, who do not know, would have it done twice.
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

/* A parent came: its packets carry so much. Process context. */
void vqp_responder_up(struct vqp_parent *parent);

/* A request from `peer`, QP `qpn`. Bottom halves off, under rcu_read_lock(), which keeps peer. */
void vqp_responder_input(struct vqp_lane *lane, struct vqp_peer *peer, u32 qpn,
			 const struct vqp_pkt *pkt);

/* Break off the messages in progress that hold receives of vqp. */
void vqp_responder_break(struct vqp *vqp);

#endif
