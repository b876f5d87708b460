/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initiator's half of the engine (engine/tx.h) on a host: a flow that keeps `depth` messages
 * of one kind under way. The flow is configured as kmod/device/parent.c does, whose constants the
 * makefile hands in. As in the module, all flows of two hosts go by one path.
 */
#ifndef VQP_SIM_FLOW_H
#define VQP_SIM_FLOW_H

#include "meter.h"
#include "packet.h"
#include "tx.h"

struct host;
struct network;

/* What the flows of a group do. */
struct flow_cfg {
	u8 op;				/* VQP_OP_WRITE, _READ or _SEND */
	u32 bytes;			/* of a message */
	u32 depth;			/* messages that are under way at the same time */
	u64 pause_ns;			/* from a completion to the next message, at most */
	u32 messages;			/* 0: as many as there is time for */
};

/* A message, and when it was posted. */
struct flow_msg {
	struct vqp_msg msg;
	u64 posted_ns;
};

struct flow {
	const struct flow_cfg *cfg;
	struct network *network;
	struct host *from;
	u32 to;				/* the number of a host */
	struct vqp_tx_cfg tx_cfg;
	struct vqp_tx tx;
	u64 armed_us;			/* the engine's deadline, or 0 */
	struct list_head waiting;	/* in host.waiting while it waits for a slot */
	bool waits;			/* It is in there. */
	struct flow_msg *msgs;		/* `depth` of them */
	struct meter meter;
	struct samples *took;		/* The times are added here that messages take. */
	u64 posted, completed, failed;	/* messages */
	u64 timeouts;			/* timers that have had something sent again */
};

/* Of a flow that is zeroed; `number` is its place among the flows of the network. */
void flow_init(struct flow *flow, struct network *network, const struct flow_cfg *cfg, u32 number,
	       u32 from, u32 to, struct samples *took);
void flow_end(struct flow *flow);

/* Begin at at_ns. */
void flow_start(struct flow *flow, u64 at_ns);

/* An answer has arrived. */
void flow_take(struct flow *flow, const struct vqp_pkt *pkt);

/* There is a slot for what it has to send. */
void flow_go_on(struct flow *flow);

/* Data of the flow has arrived where it is to be. */
void flow_progress(struct flow *flow, u32 bytes);

#endif
