/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What travels: a packet of vqp as its receiver parses it, or a segment of TCP; without payload. */
#ifndef VQP_SIM_PACKET_H
#define VQP_SIM_PACKET_H

#include <linux/types.h>
#include "wire.h"

struct tcp;

enum packet_kind { PACKET_VQP, PACKET_TCP, PACKET_KINDS };

/* A segment of a connection, or the acknowledgement that answers one. */
struct tcp_segment {
	struct tcp *tcp;
	bool is_ack;
	bool saw_ce;			/* ACK: the segment that it answers was marked */
	u64 number;			/* the place of the segment in the connection's data */
	u64 sending;			/* the transmissions of the connection before this one */
	u64 next;			/* ACK: all segments before it have arrived */
};

struct packet {
	struct packet *link;		/* the next one in a queue, or in the pool */
	u32 from, to;			/* numbers of hosts */
	/* Together with the hosts it chooses the path, as IPv6's flow label or a UDP port does. */
	u32 label;
	/* on the wire, with all headers, and the preamble and the gap of Ethernet */
	u32 bytes;
	bool ect, ce;			/* a switch may mark it, and one has */
	enum packet_kind kind;
	union {
		struct vqp_pkt vqp;
		struct tcp_segment tcp;
	};
};

#define PACKETS_AT_ONCE	256	/* So many are made at the same time. */

/* Packets that were made. Zeroed, there are none. */
struct packets {
	struct packet *free;
	struct packet **made;		/* each is an array of packets */
	size_t nmade, room;
};

struct packet *packet_new(struct packets *pool);
void packet_free(struct packets *pool, struct packet *packet);

/* Free all packets, wherever they are. */
void packets_end(struct packets *pool);

/* The first packet and where the next one is to be linked. */
struct packet_queue {
	struct packet *first, *last;
	u32 count;
};

void packet_push(struct packet_queue *queue, struct packet *packet);
/* The queue must not be empty. */
struct packet *packet_pop(struct packet_queue *queue);

#endif
