// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include <string.h>
#include "memory.h"
#include "network.h"
#include "tcp.h"

#define TCP_FIRST_WINDOW	10	/* segments; RFC 6928 */
#define TCP_RTO_MIN_NS		200000000.0
#define TCP_RTT_FIRST_NS	1000000.0	/* as a handshake might have measured it */
#define TCP_PROBE_MIN_NS	1000000.0
#define TCP_BACKOFFS_MAX	8

u64 tcp_now_ns(const struct tcp *tcp)
{
	return tcp->network->events.now_ns;
}

u32 tcp_slow_start(struct tcp *tcp, u32 n)
{
	u32 used;

	if (!tcp_in_slow_start(tcp))
		return n;
	used = (u32)fmin(n, ceil(tcp->ssthresh - tcp->cwnd));
	tcp->cwnd = fmin(tcp->cwnd + used, tcp->ssthresh);
	return n - used;
}

static struct tcp_unacked *tcp_segment(struct tcp *tcp, u64 number)
{
	return &tcp->segments[number % TCP_WINDOW_MAX];
}

/* ---- The sender's timer ---- */

static double tcp_rto_ns(const struct tcp *tcp)
{
	const double rto_ns = fmax(tcp->srtt_ns + 4 * tcp->rttvar_ns, TCP_RTO_MIN_NS);

	return ldexp(rto_ns, (int)tcp->backoffs);
}

static void tcp_expire(void *who, void *what);

static void tcp_wake_at(struct tcp *tcp, u64 at_ns)
{
	tcp->wake_ns = at_ns;
	events_at(&tcp->network->events, at_ns, tcp_expire, tcp, NULL);
}

/* The timer runs from now on: first for a probe, and when that was sent for a timeout. */
static void tcp_set_timer(struct tcp *tcp)
{
	double ns = tcp_rto_ns(tcp);

	tcp->timer_ns = 0;
	if (tcp->una == tcp->next)
		return;
	if (!tcp->probing && !tcp->recovering)
		ns = fmin(ns, 2 * tcp->srtt_ns + TCP_PROBE_MIN_NS);
	tcp->timer_ns = tcp_now_ns(tcp) + (u64)ns;
	if (!tcp->wake_ns || tcp->timer_ns < tcp->wake_ns)
		tcp_wake_at(tcp, tcp->timer_ns);
}

/* ---- Sending ---- */

static void tcp_emit(struct tcp *tcp, const struct tcp_segment *segment, u32 bytes)
{
	const u32 from = segment->is_ack ? tcp->to : tcp->from;
	struct packet *packet = packet_new(&tcp->network->packets);

	packet->kind = PACKET_TCP;
	packet->from = from;
	packet->to = segment->is_ack ? tcp->from : tcp->to;
	packet->label = tcp->label;
	packet->bytes = TCP_OVERHEAD + bytes;
	packet->ect = tcp->model->ect && !segment->is_ack;
	packet->tcp = *segment;
	packet->tcp.tcp = tcp;
	port_send(&tcp->network->hosts[from].nic, packet);
}

static void tcp_transmit(struct tcp *tcp, u64 number)
{
	struct tcp_unacked *unacked = tcp_segment(tcp, number);
	struct tcp_sending *order = &tcp->order[tcp->order_end++ % (2 * TCP_WINDOW_MAX)];

	unacked->sending = tcp->sendings++;
	unacked->sent_ns = tcp_now_ns(tcp);
	*order = (struct tcp_sending){ .number = number, .sending = unacked->sending };
	/* A ring that is full forgets the oldest: its loss is left to the timeout. */
	if (tcp->order_end - tcp->order_first > 2 * TCP_WINDOW_MAX)
		tcp->order_first++;
	tcp_emit(tcp, &(struct tcp_segment) { .number = number, .sending = unacked->sending },
		 TCP_MSS);
}

static void tcp_send_lost(struct tcp *tcp)
{
	while (!tcp_segment(tcp, tcp->lost_from)->lost)
		tcp->lost_from++;
	tcp_segment(tcp, tcp->lost_from)->lost = false;
	tcp->nlost--;
	tcp->pipe++;
	tcp_transmit(tcp, tcp->lost_from);
}

static void tcp_send(struct tcp *tcp)
{
	const bool idle = tcp->una == tcp->next;

	while (tcp->pipe < (u32)tcp->cwnd) {
		if (tcp->nlost) {
			tcp_send_lost(tcp);
			continue;
		}
		if (tcp->next - tcp->una >= TCP_WINDOW_MAX)
			break;
		*tcp_segment(tcp, tcp->next) = (struct tcp_unacked){ 0 };
		tcp->pipe++;
		tcp_transmit(tcp, tcp->next++);
	}
	if (idle)
		tcp_set_timer(tcp);
}

/* ---- Loss ---- */

static void tcp_lose(struct tcp *tcp, u64 number)
{
	tcp_segment(tcp, number)->lost = true;
	if (!tcp->nlost || number < tcp->lost_from)
		tcp->lost_from = number;
	tcp->nlost++;
	tcp->pipe--;
}

/* Everything that was sent before the latest transmission that has come is lost if it has not. */
static void tcp_find_lost(struct tcp *tcp)
{
	while (tcp->any && tcp->order_first < tcp->order_end) {
		const struct tcp_sending *order =
			&tcp->order[tcp->order_first % (2 * TCP_WINDOW_MAX)];
		const struct tcp_unacked *unacked = tcp_segment(tcp, order->number);

		if (order->sending >= tcp->latest)
			return;
		tcp->order_first++;
		if (order->number >= tcp->una && unacked->sending == order->sending &&
		    !unacked->here && !unacked->lost)
			tcp_lose(tcp, order->number);
	}
}

static void tcp_recover(struct tcp *tcp, bool timeout)
{
	tcp->model->cut(tcp, timeout);
	tcp->cwnd = timeout ? 1 : tcp->ssthresh;
	tcp->recovering = true;
	tcp->recovered = tcp->next;
	tcp->cuts++;
}

static void tcp_time_out(struct tcp *tcp)
{
	tcp->timeouts++;
	if (tcp->backoffs < TCP_BACKOFFS_MAX)
		tcp->backoffs++;
	for (u64 number = tcp->una; number < tcp->next; number++) {
		const struct tcp_unacked *unacked = tcp_segment(tcp, number);

		if (!unacked->here && !unacked->lost)
			tcp_lose(tcp, number);
	}
	tcp_recover(tcp, true);
	tcp_send(tcp);
}

static void tcp_expire(void *who, void *what)
{
	struct tcp *tcp = who;

	(void)what;
	/* An earlier event has taken its place. */
	if (tcp_now_ns(tcp) != tcp->wake_ns)
		return;
	tcp->wake_ns = 0;
	if (!tcp->timer_ns)
		return;
	if (tcp_now_ns(tcp) < tcp->timer_ns) {
		tcp_wake_at(tcp, tcp->timer_ns);
		return;
	}
	if (!tcp->probing && !tcp->recovering) {
		tcp->probing = true;
		tcp_transmit(tcp, tcp->next - 1);
	} else {
		tcp_time_out(tcp);
	}
	tcp_set_timer(tcp);
}

/* ---- Acknowledgements ---- */

/* Segment `number` has come. Returns 1 if that was not known. */
static u32 tcp_note_here(struct tcp *tcp, u64 number)
{
	struct tcp_unacked *unacked = tcp_segment(tcp, number);

	if (unacked->here)
		return 0;
	unacked->here = true;
	if (unacked->lost)
		tcp->nlost--;
	else
		tcp->pipe--;
	unacked->lost = false;
	return 1;
}

static void tcp_measure(struct tcp *tcp, const struct tcp_segment *ack)
{
	const struct tcp_unacked *unacked = tcp_segment(tcp, ack->number);
	double rtt_ns;

	if (unacked->sending != ack->sending)
		return;
	rtt_ns = (double)(tcp_now_ns(tcp) - unacked->sent_ns);
	tcp->rttvar_ns += (fabs(tcp->srtt_ns - rtt_ns) - tcp->rttvar_ns) / 4;
	tcp->srtt_ns += (rtt_ns - tcp->srtt_ns) / 8;
	tcp->backoffs = 0;
}

static void tcp_take_ack(struct tcp *tcp, const struct tcp_segment *ack)
{
	u32 news = 0;

	if (ack->number >= tcp->una) {
		tcp_measure(tcp, ack);
		news += tcp_note_here(tcp, ack->number);
	}
	while (tcp->una < ack->next)
		news += tcp_note_here(tcp, tcp->una++);
	if (!tcp->any || ack->sending > tcp->latest)
		tcp->latest = ack->sending;
	tcp->any = true;
	tcp->probing = false;
	if (tcp->recovering && tcp->una >= tcp->recovered)
		tcp->recovering = false;
	tcp_find_lost(tcp);
	if (tcp->model->note_marks)
		tcp->model->note_marks(tcp, news, ack->saw_ce ? news : 0);
	if (tcp->nlost && !tcp->recovering)
		tcp_recover(tcp, false);
	else if (!tcp->recovering || tcp_in_slow_start(tcp))
		tcp->model->grow(tcp, news);
	tcp_send(tcp);
	tcp_set_timer(tcp);
}

/* ---- The receiver ---- */

static void tcp_take_segment(struct tcp *tcp, const struct tcp_segment *segment, bool ce)
{
	struct tcp_segment ack = *segment;

	if (segment->number >= tcp->expected)
		tcp->came[segment->number % TCP_WINDOW_MAX] = true;
	while (tcp->came[tcp->expected % TCP_WINDOW_MAX]) {
		tcp->came[tcp->expected++ % TCP_WINDOW_MAX] = false;
		meter_add(&tcp->meter, TCP_MSS, tcp_now_ns(tcp));
	}
	ack.is_ack = true;
	ack.saw_ce = ce;
	ack.next = tcp->expected;
	tcp_emit(tcp, &ack, 0);
}

void tcp_take(const struct packet *packet)
{
	if (packet->tcp.is_ack)
		tcp_take_ack(packet->tcp.tcp, &packet->tcp);
	else
		tcp_take_segment(packet->tcp.tcp, &packet->tcp, packet->ce);
}

/* ---- Life ---- */

void tcp_init(struct tcp *tcp, struct network *network, const struct tcp_model *model, u32 from,
	      u32 to, u32 label)
{
	tcp->model = model;
	tcp->network = network;
	tcp->from = from;
	tcp->to = to;
	tcp->label = label;
	tcp->cwnd = TCP_FIRST_WINDOW;
	tcp->ssthresh = TCP_WINDOW_MAX;
	tcp->srtt_ns = TCP_RTT_FIRST_NS;
	tcp->rttvar_ns = TCP_RTT_FIRST_NS / 2;
	tcp->segments = memory_take(TCP_WINDOW_MAX, sizeof(*tcp->segments));
	tcp->order = memory_take(2 * TCP_WINDOW_MAX, sizeof(*tcp->order));
	tcp->came = memory_take(TCP_WINDOW_MAX, sizeof(*tcp->came));
	model->init(tcp);
}

void tcp_end(struct tcp *tcp)
{
	free(tcp->segments);
	free(tcp->order);
	free(tcp->came);
}

static void tcp_begin(void *who, void *what)
{
	struct tcp *tcp = who;

	(void)what;
	meter_wait(&tcp->meter, tcp_now_ns(tcp));
	tcp_send(tcp);
}

void tcp_start(struct tcp *tcp, u64 at_ns)
{
	events_at(&tcp->network->events, at_ns, tcp_begin, tcp, NULL);
}
