/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sending side of a link: a queue that is served at a rate, and the wire behind it. The packet
 * that is being sent is in the queue until its last bit has left.
 *
 * A packet that finds the queue full is dropped (drop-tail). One that finds mark_from packets or
 * more there is marked if its sender understands marks: the threshold K of DCTCP. Ports of a
 * switch may share a buffer, of which each may take the more the more of it is free: the dynamic
 * thresholds of Choudhury and Hahne. A wire may lose packets: at random as a faulty one does, or
 * each n-th, as formulas for the throughput of TCP have it.
 */
#ifndef VQP_SIM_PORT_H
#define VQP_SIM_PORT_H

#include "events.h"
#include "packet.h"

struct port_cfg {
	u64 mbps;			/* megabits per second */
	u64 delay_ns;			/* of the wire */
	u32 limit;			/* the most packets in the queue; 0: any number */
	u32 mark_from;			/* 0: no packet is marked */
	double loss;			/* the share of packets that the wire loses */
	u32 lose_every;			/* It loses one packet of so many; 0: none. */
};

/* The buffer of a switch, in packets. */
struct port_buffer {
	u32 packets;			/* 0: it is not shared, and each port has its limit alone */
	u32 used;
	double share;			/* A queue may be as long as this times what is free. */
};

struct port_counts {
	u64 packets;			/* that were to be sent */
	u64 dropped;			/* because there was no room */
	u64 lost;			/* by the wire */
	u64 marked;
};

struct port {
	struct port_cfg cfg;
	struct events *events;
	struct packets *pool;		/* takes what is dropped or lost */
	u64 *random;			/* the state of the random numbers */
	struct port_buffer *buffer;	/* of its switch; or NULL */
	/* Takes what comes out of the wire, with `to` as `who` and the packet as `what`. */
	event_fn *deliver;
	void *to;
	event_fn *left;			/* A packet has left the queue; or NULL. */
	void *of;			/* is `who` for left() */
	struct packet_queue queue;
	u64 free_ps;			/* when the last bit of all packets before has left */
	struct port_counts counts[PACKET_KINDS];
	u32 most;			/* The queue was never longer. */
	/* the sum over time of the queue's length, in packets times ns, up to changed_ns */
	double area;
	u64 changed_ns;
};

void port_init(struct port *port, const struct port_cfg *cfg, struct events *events,
	       struct packets *pool, u64 *random);

/* Send the packet, which belongs to the port; or drop it. */
void port_send(struct port *port, struct packet *packet);

/* Forget what was counted. */
void port_count_anew(struct port *port);

/* The average length of the queue since `from_ns`, when it was counted anew. */
double port_mean_queue(const struct port *port, u64 from_ns);

#endif
