/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A host: its NIC's link to the network, and one processor that takes what has arrived, packet by
 * packet. The processor wakes up some time late, and stands still now and then; what arrives
 * meanwhile waits in the receives of a lane, and is dropped when they are full. Timers of vqp
 * expire with the ticks of the host's clock.
 */
#ifndef VQP_SIM_HOST_H
#define VQP_SIM_HOST_H

#include <linux/list.h>
#include "port.h"
#include "target.h"

struct network;

struct host_cfg {
	u64 service_ns;			/* A packet takes the processor this time. */
	u64 jitter_ns;			/* It wakes up late by this time at most. */
	u64 stall_every_ns;		/* mean time between standstills; 0: there are none */
	u64 stall_ns;			/* the longest standstill */
	u64 tick_ns;			/* of the clock by which timers expire */
};

struct host {
	struct network *network;
	u32 index;
	struct port nic;
	struct packet_queue received;	/* and not dealt with */
	bool awake;			/* The processor will deal with the first of these. */
	u64 stall_at_ns;		/* The next standstill begins. */
	u64 tick_from_ns;		/* the first tick */
	u64 overrun[PACKET_KINDS];	/* packets that found no receive */
	/* Flows that wait for a slot of the lane; struct flow.waiting. */
	struct list_head waiting;
	struct target target;		/* what it does for initiators on other hosts */
};

/* Of a host that is zeroed. */
void host_init(struct host *host, struct network *network, u32 index);
void host_end(struct host *host);

/* event_fn: the packet `what` comes from the network to the host `who`. */
void host_take(void *who, void *what);

/* Is there a slot in the lane for a request, or for an answer, which may take the last ones? */
bool host_has_slot(const struct host *host, bool answer);

/* Send a packet of vqp to the host `to`. */
void host_send_vqp(struct host *host, u32 to, const struct vqp_pkt *pkt);

/* The tick with which a timer expires that is set for at_ns. */
u64 host_tick(const struct host *host, u64 at_ns);

#endif
