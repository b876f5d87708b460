// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "../random.h"
#include "flow.h"
#include "host.h"
#include "network.h"
#include "tcp.h"

/* Ethernet with preamble, FCS and gap; IPv4, UDP, BTH, DETH, ICRC */
#define WIRE_OVERHEAD	(38 + 20 + 8 + 12 + 8 + 4)

static u64 host_random(struct host *host, u64 below)
{
	return below ? unit_random(&host->network->random) % below : 0;
}

/* Standstills come at random, and independently of each other. */
static u64 host_next_stall(struct host *host, u64 now_ns)
{
	const double share = 1 - unit_random_share(&host->network->random);
	const u64 every_ns = host->network->cfg.host.stall_every_ns;

	return every_ns ? now_ns + (u64)(-log(share) * (double)every_ns) : UINT64_MAX;
}

static void host_has_room(void *who, void *what);

void host_init(struct host *host, struct network *network, u32 index)
{
	const struct port_cfg *link = &network->cfg.host_link;
	const struct port_cfg cfg = { .mbps = link->mbps, .delay_ns = link->delay_ns };

	host->network = network;
	host->index = index;
	port_init(&host->nic, &cfg, &network->events, &network->packets, &network->random);
	host->nic.left = host_has_room;
	host->nic.of = host;
	host->stall_at_ns = host_next_stall(host, 0);
	host->tick_from_ns = host_random(host, network->cfg.host.tick_ns);
	INIT_LIST_HEAD(&host->waiting);
	target_init(&host->target, host, network->contexts);
}

void host_end(struct host *host)
{
	target_end(&host->target);
}

u64 host_tick(const struct host *host, u64 at_ns)
{
	const u64 tick_ns = host->network->cfg.host.tick_ns;

	if (!tick_ns)
		return at_ns;
	if (at_ns <= host->tick_from_ns)
		return host->tick_from_ns;
	return at_ns + (tick_ns - (at_ns - host->tick_from_ns) % tick_ns) % tick_ns;
}

/* ---- Sending ---- */

bool host_has_slot(const struct host *host, bool answer)
{
	return host->nic.queue.count < VQP_LANE_TX_SLOTS - (answer ? 0 : VQP_LANE_TX_RESERVED);
}

static void host_run_waiting(void *who, void *what)
{
	struct host *host = who;
	struct flow *flow;

	(void)what;
	while (host_has_slot(host, false) &&
	       (flow = list_first_entry_or_null(&host->waiting, struct flow, waiting)))
		flow_go_on(flow);
}

/* A packet has left the lane. Flows that wait go on outside of what is being done. */
static void host_has_room(void *who, void *what)
{
	struct host *host = who;

	(void)what;
	if (!list_empty(&host->waiting))
		events_in(&host->network->events, 0, host_run_waiting, host, NULL);
}

void host_send_vqp(struct host *host, u32 to, const struct vqp_pkt *pkt)
{
	struct packet *packet = packet_new(&host->network->packets);
	u8 header[VQP_WIRE_HEADER_MAX];

	packet->kind = PACKET_VQP;
	packet->from = host->index;
	packet->to = to;
	packet->bytes = WIRE_OVERHEAD + vqp_wire_build(header, pkt) + pkt->payload_bytes;
	/* Some NICs say so of packets of UD. */
	packet->ect = true;
	packet->vqp = *pkt;
	port_send(&host->nic, packet);
}

/* ---- Receiving ---- */

/* How long after now_ns the processor has dealt with the next packet. */
static u64 host_busy_ns(struct host *host, bool wakes)
{
	const struct host_cfg *cfg = &host->network->cfg.host;
	const u64 now_ns = host->network->events.now_ns;
	u64 ns = cfg->service_ns + (wakes ? host_random(host, cfg->jitter_ns + 1) : 0);

	if (now_ns >= host->stall_at_ns) {
		ns += host_random(host, cfg->stall_ns + 1);
		host->stall_at_ns = host_next_stall(host, now_ns);
	}
	return ns;
}

static void host_give(struct host *host, struct packet *packet)
{
	switch (packet->kind) {
	case PACKET_TCP:
		tcp_take(packet);
		break;
	default:
		packet->vqp.ce = packet->ce;
		if (packet->vqp.op == VQP_OP_ACK || packet->vqp.op == VQP_OP_NAK ||
		    packet->vqp.op == VQP_OP_READ_RESP)
			flow_take(&host->network->flows[packet->vqp.flow], &packet->vqp);
		else
			target_take(&host->target, packet);
		break;
	}
}

static void host_serve(void *who, void *what)
{
	struct host *host = who;
	struct packet *packet = packet_pop(&host->received);

	(void)what;
	host_give(host, packet);
	packet_free(&host->network->packets, packet);
	host->awake = host->received.count;
	if (host->awake)
		events_in(&host->network->events, host_busy_ns(host, false), host_serve, host, NULL);
}

void host_take(void *who, void *what)
{
	struct host *host = who;
	struct packet *packet = what;

	if (host->received.count >= VQP_LANE_RX_SLOTS) {
		host->overrun[packet->kind]++;
		packet_free(&host->network->packets, packet);
		return;
	}
	packet_push(&host->received, packet);
	if (host->awake)
		return;
	host->awake = true;
	events_in(&host->network->events, host_busy_ns(host, true), host_serve, host, NULL);
}
