// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "../random.h"
#include "memory.h"
#include "network.h"

/* ---- Paths ---- */

/* A mixer of 32 bits with good avalanche (the finalizer of MurmurHash3). */
static u32 network_mix(u32 value)
{
	value ^= value >> 16;
	value *= 0x85ebca6bU;
	value ^= value >> 13;
	value *= 0xc2b2ae35U;
	return value ^ value >> 16;
}

static u32 network_path(const struct network *network, const struct packet *packet)
{
	u32 hash = network_mix(network->salt ^ packet->from);

	hash = network_mix(hash ^ packet->to);
	return network_mix(hash ^ packet->label) % network->cfg.paths;
}

static u32 network_leaf_of(const struct network *network, u32 host)
{
	return network->cfg.leaves == 2 && host >= network->switches[1].first_host;
}

static struct port *switch_route(struct network_switch *sw, const struct packet *packet)
{
	const struct network *network = sw->network;
	const u32 leaf = network_leaf_of(network, packet->to);

	if (!sw->nhosts)
		return &sw->ports[leaf];
	if (&network->switches[leaf] == sw)
		return &sw->ports[packet->to - sw->first_host];
	return &sw->ports[sw->nhosts + network_path(network, packet)];
}

/* event_fn: a packet comes to a switch. */
static void switch_take(void *who, void *what)
{
	port_send(switch_route(who, what), what);
}

/* ---- Making it ---- */

static void switch_init(struct network_switch *sw, struct network *network, u32 nports)
{
	sw->network = network;
	sw->buffer = (struct port_buffer) {
		.packets = network->cfg.buffer_packets, .share = network->cfg.buffer_share,
	};
	sw->ports = memory_take(nports, sizeof(*sw->ports));
	sw->nports = nports;
}

static void switch_connect(struct network_switch *sw, u32 port, const struct port_cfg *cfg,
			   event_fn *deliver, void *to)
{
	struct network *network = sw->network;

	port_init(&sw->ports[port], cfg, &network->events, &network->packets, &network->random);
	sw->ports[port].buffer = &sw->buffer;
	sw->ports[port].deliver = deliver;
	sw->ports[port].to = to;
}

static void network_make_leaf(struct network *network, u32 leaf, u32 first_host, u32 nhosts)
{
	const struct network_cfg *cfg = &network->cfg;
	struct network_switch *sw = &network->switches[leaf];
	const u32 paths = cfg->leaves == 2 ? cfg->paths : 0;

	sw->first_host = first_host;
	sw->nhosts = nhosts;
	switch_init(sw, network, nhosts + paths);
	for (u32 i = 0; i < nhosts; i++) {
		struct host *host = &network->hosts[first_host + i];

		host_init(host, network, first_host + i);
		host->nic.deliver = switch_take;
		host->nic.to = sw;
		switch_connect(sw, i, &cfg->host_link, host_take, host);
	}
	for (u32 i = 0; i < paths; i++) {
		struct port_cfg link = cfg->path_link;

		link.loss = i ? 0 : cfg->grey_loss;
		switch_connect(sw, nhosts + i, &link, switch_take, &network->switches[2 + i]);
	}
}

static void network_make_spine(struct network *network, u32 path)
{
	struct network_switch *sw = &network->switches[2 + path];

	switch_init(sw, network, 2);
	for (u32 leaf = 0; leaf < 2; leaf++)
		switch_connect(sw, leaf, &network->cfg.path_link, switch_take,
			       &network->switches[leaf]);
}

void network_init(struct network *network, const struct network_cfg *cfg, u32 contexts, u64 seed)
{
	const bool two = cfg->leaves == 2;
	const u32 first = two ? cfg->hosts / 2 : cfg->hosts;

	*network = (struct network) {
		.cfg = *cfg, .contexts = contexts, .until_ns = UINT64_MAX,
		.payload_bytes = (NETWORK_MTU - VQP_WIRE_HEADER_MAX) & ~7U,
		/* Seeds that follow one another must not begin alike. */
		.random = seed * 0x9e3779b97f4a7c15ULL + 1,
	};
	unit_random(&network->random);
	network->salt = (u32)unit_random(&network->random);
	network->hosts = memory_take(cfg->hosts, sizeof(*network->hosts));
	network->nswitches = two ? 2 + cfg->paths : 1;
	network->switches = memory_take(network->nswitches, sizeof(*network->switches));
	network_make_leaf(network, 0, 0, first);
	if (!two)
		return;
	network_make_leaf(network, 1, first, cfg->hosts - first);
	for (u32 i = 0; i < cfg->paths; i++)
		network_make_spine(network, i);
}

void network_end(struct network *network)
{
	for (u32 i = 0; i < network->cfg.hosts; i++)
		host_end(&network->hosts[i]);
	for (u32 i = 0; i < network->nswitches; i++)
		free(network->switches[i].ports);
	free(network->switches);
	free(network->hosts);
	packets_end(&network->packets);
	events_end(&network->events);
}

/* ---- What it has seen ---- */

struct port *network_port_to(struct network *network, u32 host)
{
	struct network_switch *leaf = &network->switches[network_leaf_of(network, host)];

	return &leaf->ports[host - leaf->first_host];
}

void network_count_anew(struct network *network)
{
	for (u32 i = 0; i < network->cfg.hosts; i++) {
		port_count_anew(&network->hosts[i].nic);
		for (u32 kind = 0; kind < PACKET_KINDS; kind++)
			network->hosts[i].overrun[kind] = 0;
	}
	for (u32 i = 0; i < network->nswitches; i++)
		for (u32 port = 0; port < network->switches[i].nports; port++)
			port_count_anew(&network->switches[i].ports[port]);
}

struct port_counts network_counts(const struct network *network, enum packet_kind kind)
{
	struct port_counts sum = { 0 };

	for (u32 i = 0; i < network->cfg.hosts; i++) {
		sum.packets += network->hosts[i].nic.counts[kind].packets;
		sum.dropped += network->hosts[i].overrun[kind];
	}
	for (u32 i = 0; i < network->nswitches; i++) {
		for (u32 port = 0; port < network->switches[i].nports; port++) {
			const struct port_counts *counts = network->switches[i].ports[port].counts;

			sum.dropped += counts[kind].dropped;
			sum.lost += counts[kind].lost;
			sum.marked += counts[kind].marked;
		}
	}
	return sum;
}
