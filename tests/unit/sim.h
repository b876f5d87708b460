/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Initiators and targets over a simulated network that loses, duplicates,
 * delays and reorders packets, in virtual time. Everything follows from the
 * seed. What the flows do is compared with what a simple loop over the same
 * messages would do: each completes once, in order, with success, every byte
 * is where it belongs, and each receive gets the right message.
 */
#ifndef VQP_TESTS_UNIT_SIM_H
#define VQP_TESTS_UNIT_SIM_H

#include <linux/types.h>

struct sim_cfg {
	u64 seed;
	u32 nodes;
	u32 flows;
	bool to_one;			/* all to the first node, from the others in turn */
	u32 msgs;			/* per flow */
	u32 max_bytes;			/* of a message */
	u32 ops;			/* bit per kind of enum sim_kind; 0: all */
	u32 contexts;			/* per node, that are not closed */
	u32 closed_contexts;		/* so many more may be closed */
	u32 payload_bytes, window_packets;
	u32 rto_min_us;			/* 0: what the delay needs */
	/* per mille */
	u32 loss, duplicates, rnr, no_room, throttled;
	/* per mille of initiators' packets: somebody sends a packet again that was sent at any time before */
	u32 replays;
	bool strangers;			/* targets do not know the initiators' clocks at first */
	u32 throttled_us;		/* then a flow may not send for so long at most */
	/* microseconds */
	u32 delay_us, jitter_us;	/* of a packet: delay, and at most this on top */
	u32 packet_us;			/* a packet occupies its sender's link for this long */
	u32 service_us;			/* and its receiver, */
	u32 queue_packets;		/* where no more than these wait; 0: any number */
	u32 stall_every_us, stall_us;	/* nodes stand still: so often, for so long */
	u32 pause_us;			/* at most this between bursts of posts */
	u32 idle_us;
	u32 close_us;			/* an idle flow closes; 0: never */
};

enum sim_kind {
	SIM_SEND, SIM_SEND_IMM, SIM_WRITE, SIM_WRITE_IMM, SIM_READ, SIM_CMP_SWP, SIM_FETCH_ADD, SIM_KINDS
};

struct sim_stats {
	u64 packets, resent, lost, overrun, timeouts, busy, reused, no_flow, rnr, gaps, bytes, stale, replayed;
	u64 caught;			/* challenges of replays by targets that knew the initiator's clock */
	u64 us;				/* virtual time until the last completion */
};

/* Run until everything is done and no packet is under way. Fails the test at the first difference. */
void sim_run(const struct sim_cfg *cfg, struct sim_stats *stats);

#endif
