/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hosts and the switches between them.
 *
 *	one leaf:	host ── leaf ── host
 *
 *	two leaves:	host ── leaf 0 ──┬── spine 0 ──┬── leaf 1 ── host
 *			host ──┘         ├── spine 1 ──┤         └── host
 *			                 └── ...     ──┘
 *
 * Each spine is a path. Which one a packet takes depends on its hosts and its label, as with ECMP.
 * The first half of the hosts is at leaf 0. Path 0 may be grey: it loses some packets, and no
 * switch notices.
 */
#ifndef VQP_SIM_NETWORK_H
#define VQP_SIM_NETWORK_H

#include "events.h"
#include "host.h"
#include "packet.h"
#include "port.h"

#define NETWORK_EPOCH		1	/* of all hosts */
#define NETWORK_MTU		4096	/* of UD */

struct network_cfg {
	u32 hosts;
	u32 leaves;			/* 1 or 2 */
	u32 paths;			/* between two leaves */
	struct port_cfg host_link;	/* between hosts and leaves */
	struct port_cfg path_link;	/* between leaves and spines */
	double grey_loss;		/* the share of packets that path 0 loses, each way */
	/* the buffer of each switch, and the most of its free part that one port may take */
	u32 buffer_packets;
	double buffer_share;
	struct host_cfg host;
};

/* A leaf, whose ports lead to its hosts and to the spines; or a spine, with a port to each leaf. */
struct network_switch {
	struct network *network;
	u32 first_host;			/* of a leaf */
	u32 nhosts;			/* 0: it is a spine */
	struct port_buffer buffer;
	struct port *ports;
	u32 nports;
};

struct network {
	struct network_cfg cfg;
	struct events events;
	struct packets packets;
	u64 random;			/* the state of all random numbers */
	u32 salt;			/* of the hash that chooses paths */
	u32 payload_bytes;		/* of a full packet of vqp */
	u32 contexts;			/* responder contexts of each host */
	struct host *hosts;
	/* the leaves and then the spines */
	struct network_switch *switches;
	u32 nswitches;
	struct flow *flows;		/* by their numbers; whoever makes them sets this */
	/* Messages count that are posted in between; none is posted later. */
	u64 from_ns, until_ns;
};

/* Make hosts and switches. At most `contexts` flows lead to a host. */
void network_init(struct network *network, const struct network_cfg *cfg, u32 contexts, u64 seed);
void network_end(struct network *network);

/* Forget what all ports have counted. */
void network_count_anew(struct network *network);

/* The port of a leaf that leads to the host. */
struct port *network_port_to(struct network *network, u32 host);

/* What all ports have counted of packets of one kind. `packets` are those that hosts have sent. */
struct port_counts network_counts(const struct network *network, enum packet_kind kind);

#endif
