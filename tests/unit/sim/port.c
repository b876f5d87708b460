// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "../random.h"
#include "port.h"

#define PS_PER_NS	1000ULL
#define PS_PER_US	1000000ULL

void port_init(struct port *port, const struct port_cfg *cfg, struct events *events,
	       struct packets *pool, u64 *random)
{
	*port = (struct port){ .cfg = *cfg, .events = events, .pool = pool, .random = random };
}

static void port_note_length(struct port *port)
{
	port->area += (double)port->queue.count * (double)(port->events->now_ns - port->changed_ns);
	port->changed_ns = port->events->now_ns;
}

void port_count_anew(struct port *port)
{
	memset(port->counts, 0, sizeof(port->counts));
	port->most = port->queue.count;
	port->area = 0;
	port->changed_ns = port->events->now_ns;
}

double port_mean_queue(const struct port *port, u64 from_ns)
{
	const u64 now_ns = port->events->now_ns;
	const double rest = (double)port->queue.count * (double)(now_ns - port->changed_ns);

	return now_ns > from_ns ? (port->area + rest) / (double)(now_ns - from_ns) : 0;
}

static bool port_has_room(const struct port *port)
{
	const struct port_buffer *buffer = port->buffer;

	if (port->cfg.limit && port->queue.count >= port->cfg.limit)
		return false;
	return !buffer || !buffer->packets ||
	       (buffer->used < buffer->packets &&
		port->queue.count < buffer->share * (buffer->packets - buffer->used));
}

static bool port_loses(struct port *port, const struct port_counts *counts)
{
	if (port->cfg.lose_every && counts->packets % port->cfg.lose_every == 0)
		return true;
	return port->cfg.loss > 0 && unit_random_share(port->random) < port->cfg.loss;
}

/* The last bit of the first packet has left. */
static void port_has_sent(void *who, void *what)
{
	struct port *port = who;
	struct packet *packet;

	port_note_length(port);
	packet = packet_pop(&port->queue);
	if (port->buffer)
		port->buffer->used--;
	if (what)
		packet_free(port->pool, packet);
	else
		events_in(port->events, port->cfg.delay_ns, port->deliver, port->to, packet);
	if (port->left)
		port->left(port->of, NULL);
}

void port_send(struct port *port, struct packet *packet)
{
	struct port_counts *counts = &port->counts[packet->kind];
	u64 now_ps = port->events->now_ns * PS_PER_NS;
	bool lost;

	counts->packets++;
	if (!port_has_room(port)) {
		counts->dropped++;
		packet_free(port->pool, packet);
		return;
	}
	if (packet->ect && port->cfg.mark_from && port->queue.count >= port->cfg.mark_from) {
		packet->ce = true;
		counts->marked++;
	}
	port_note_length(port);
	packet_push(&port->queue, packet);
	if (port->buffer)
		port->buffer->used++;
	if (port->queue.count > port->most)
		port->most = port->queue.count;
	lost = port_loses(port, counts);
	counts->lost += lost;
	if (port->free_ps < now_ps)
		port->free_ps = now_ps;
	port->free_ps += packet->bytes * 8ULL * PS_PER_US / port->cfg.mbps;
	events_at(port->events, (port->free_ps + PS_PER_NS - 1) / PS_PER_NS, port_has_sent, port,
		  lost ? packet : NULL);
}
