// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include <linux/vqp.h>
#include "clock.h"
#include "rx.h"
#include "sim.h"
#include "tx.h"

#define REGION_BYTES	(256 * 1024)	/* what WRITEs change and READs see */
#define NODES_MAX	17
#define CONTEXTS_MAX	512
#define BUCKETS		16
#define END_US		3600000000ULL	/* nothing takes so long */
#define RKEY		0x1000		/* + flow */
/* Contexts are forgotten sooner than in life, so the clocks that stamp packets run as much faster. */
#define CLOCK_SPEED	32
#define RECORDS		256		/* packets that are recorded, of each kind */

struct sim_msg {
	struct vqp_msg msg;
	u32 kind;
	u32 bytes;
	u32 imm;
	u64 addr;
	u64 fill;			/* seed of its bytes */
	u8 *local;			/* while posted */
	u8 *expect;			/* of what fetches, while posted: what it must bring */
};

/* A receive request, taken. */
struct sim_recv {
	u32 bytes;
	u8 data[];
};

struct sim_flow {
	struct sim *sim;
	u32 index;
	u32 source, target;		/* nodes */
	struct vqp_tx tx;
	struct vqp_tx_cfg tx_cfg;
	u64 armed;			/* deadline, or 0 */
	struct sim_msg *msgs;
	u32 posted, completed, received;
	bool run_due;			/* xmit said -EAGAIN */
	u64 throttled_us;		/* and -EBUSY until then */
	/* at the target */
	u8 *memory;
	u8 *expect;			/* the same, by the reference */
};

struct sim_node {
	struct sim *sim;
	u32 index;
	u8 gid[16];
	struct vqp_rxtab tab;
	struct vqp_rx slots[CONTEXTS_MAX];
	struct list_head buckets[BUCKETS];
	u64 link_free_us;
	u64 free_us;			/* it has dealt with all that waits */
	struct vqp_clock clocks[NODES_MAX];	/* of the initiators */
};

/* A packet as it was sent. */
struct sim_record {
	u32 from, to, bytes;
	u8 *buf;
};

/* Those of one kind, of any age: each that was sent is among them with the same chance. */
struct sim_records {
	struct sim_record at[RECORDS];
	u32 sent;
};

enum sim_what { SIM_PACKET, SIM_SERVED, SIM_TIMER, SIM_RUN, SIM_POST };

struct sim_event {
	u64 at_us;
	u64 number;			/* ties go by age */
	enum sim_what what;
	u32 node;			/* PACKET: receiver */
	u32 from;			/* PACKET: sender */
	bool replay;			/* PACKET: somebody has recorded it */
	u32 flow;
	u8 *buf;
	u32 bytes;
};

struct sim {
	const struct sim_cfg *cfg;
	struct sim_stats *stats;
	u64 rng;
	u64 now_us;
	u64 events_made;
	struct sim_event *events;	/* a heap */
	u32 nevents, room;
	struct sim_node nodes[NODES_MAX];
	struct sim_flow *flows;
	u32 open;			/* flows that are not closed */
	/* with cfg.replays: requests with an open header and CLOSEs; and all others */
	struct sim_records openings, others;
};

#define sim_check(sim, condition) do {							\
	if (!(condition))								\
		fail_msg("seed %llu, %llu us: %s", (unsigned long long)(sim)->cfg->seed,	\
			 (unsigned long long)(sim)->now_us, #condition);		\
} while (0)

static u32 sim_random(struct sim *sim, u32 below)
{
	return below ? (unit_random(&sim->rng) >> 32) % below : 0;
}

static bool sim_chance(struct sim *sim, u32 per_mille)
{
	return sim_random(sim, 1000) < per_mille;
}

static void sim_fill(u8 *buf, u32 bytes, u64 seed)
{
	u64 state = seed | 1;
	u32 i;

	for (i = 0; i < bytes; i += 8) {
		const u64 word = unit_random(&state);

		memcpy(buf + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

/* ---- Events ---- */

static bool sim_earlier(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->number < b->number;
}

static void sim_push(struct sim *sim, struct sim_event event)
{
	u32 at = sim->nevents++;

	if (sim->nevents > sim->room) {
		sim->room = 2 * sim->room + 64;
		sim->events = realloc(sim->events, sim->room * sizeof(*sim->events));
		assert_non_null(sim->events);
	}
	event.number = sim->events_made++;
	while (at && sim_earlier(&event, &sim->events[(at - 1) / 2])) {
		sim->events[at] = sim->events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sim->events[at] = event;
}

static struct sim_event sim_pop(struct sim *sim)
{
	const struct sim_event first = sim->events[0];
	const struct sim_event last = sim->events[--sim->nevents];
	u32 at = 0;

	for (;;) {
		u32 child = 2 * at + 1;

		if (child >= sim->nevents)
			break;
		if (child + 1 < sim->nevents && sim_earlier(&sim->events[child + 1], &sim->events[child]))
			child++;
		if (!sim_earlier(&sim->events[child], &last))
			break;
		sim->events[at] = sim->events[child];
		at = child;
	}
	sim->events[at] = last;
	return first;
}

/* ---- The network ---- */

/* When what happens at `at_us` is noticed. */
static u64 sim_awake(const struct sim *sim, u64 at_us)
{
	const u64 into = sim->cfg->stall_every_us ? at_us % sim->cfg->stall_every_us : sim->cfg->stall_us;

	return at_us + (into < sim->cfg->stall_us ? sim->cfg->stall_us - into : 0);
}

static void sim_deliver_later(struct sim *sim, u32 from, u32 to, const u8 *buf, u32 bytes, u64 at_us, bool replay)
{
	u8 *copy;

	if (sim_chance(sim, sim->cfg->loss)) {
		sim->stats->lost++;
		return;
	}
	copy = malloc(bytes);
	assert_non_null(copy);
	memcpy(copy, buf, bytes);
	at_us = sim_awake(sim, at_us + sim->cfg->delay_us + sim_random(sim, sim->cfg->jitter_us + 1));
	sim_push(sim, (struct sim_event) {
		.at_us = at_us, .what = SIM_PACKET, .from = from, .node = to, .buf = copy, .bytes = bytes, .replay = replay,
	});
}

/* Keep a packet in the place of an earlier one, at random. */
static void sim_record(struct sim *sim, u32 from, u32 to, const struct vqp_pkt *pkt, const u8 *buf, u32 bytes)
{
	const bool opening = (pkt->flags & VQP_PKT_OPEN) || pkt->op == VQP_OP_CLOSE;
	struct sim_records *records = opening ? &sim->openings : &sim->others;
	const u32 i = records->sent < RECORDS ? records->sent : sim_random(sim, records->sent + 1);

	records->sent++;
	if (i >= RECORDS)
		return;
	free(records->at[i].buf);
	records->at[i] = (struct sim_record) { .from = from, .to = to, .bytes = bytes, .buf = malloc(bytes) };
	assert_non_null(records->at[i].buf);
	memcpy(records->at[i].buf, buf, bytes);
}

/* Somebody sends a packet again that he has recorded, of whatever age, or does not. */
static void sim_replay(struct sim *sim)
{
	struct sim_records *records = sim_chance(sim, 700) ? &sim->openings : &sim->others;
	const struct sim_record *record;

	if (!sim->open || !sim_chance(sim, sim->cfg->replays) || !records->sent)
		return;
	record = &records->at[sim_random(sim, records->sent < RECORDS ? records->sent : RECORDS)];
	sim->stats->replayed++;
	sim_deliver_later(sim, record->from, record->to, record->buf, record->bytes, sim->now_us, true);
}

static void sim_free_records(struct sim_records *records)
{
	for (u32 i = 0; i < RECORDS; i++)
		free(records->at[i].buf);
}

static void sim_send(struct sim *sim, u32 from, u32 to, const struct vqp_pkt *pkt, const u8 *payload)
{
	struct sim_node *node = &sim->nodes[from];
	u8 buf[VQP_WIRE_HEADER_MAX + 4096];
	const u32 header = vqp_wire_build(buf, pkt);
	const u32 bytes = header + pkt->payload_bytes;
	u64 at_us = node->link_free_us > sim->now_us ? node->link_free_us : sim->now_us;

	assert_true(bytes <= sizeof(buf));
	if (pkt->payload_bytes)
		memcpy(buf + header, payload, pkt->payload_bytes);
	sim->stats->packets++;
	node->link_free_us = at_us + sim->cfg->packet_us;
	sim_deliver_later(sim, from, to, buf, bytes, node->link_free_us, false);
	if (sim_chance(sim, sim->cfg->duplicates))
		sim_deliver_later(sim, from, to, buf, bytes, node->link_free_us, false);
	if (sim->cfg->replays)
		sim_record(sim, from, to, pkt, buf, bytes);
}

static u32 sim_epoch(u32 node)
{
	return 100 + node;
}

/* ---- Initiators ---- */

static struct sim_flow *sim_flow(struct vqp_tx *tx)
{
	return list_entry(tx, struct sim_flow, tx);
}

static struct sim_msg *sim_msg(struct vqp_msg *msg)
{
	return list_entry(msg, struct sim_msg, msg);
}

/* For a time, at random; then it is told to go on. */
static bool sim_is_throttled(struct sim_flow *flow)
{
	struct sim *sim = flow->sim;

	if (sim->now_us < flow->throttled_us)
		return true;
	if (!sim_chance(sim, sim->cfg->throttled))
		return false;
	flow->throttled_us = sim->now_us + 1 + sim_random(sim, sim->cfg->throttled_us);
	sim_push(sim, (struct sim_event) { .at_us = flow->throttled_us, .what = SIM_RUN, .flow = flow->index });
	return true;
}

static int sim_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	struct sim_flow *flow = sim_flow(tx);
	struct sim *sim = flow->sim;

	if (msg && sim_chance(sim, sim->cfg->no_room)) {
		if (!flow->run_due)
			sim_push(sim, (struct sim_event) {
				.at_us = sim->now_us + 1 + sim_random(sim, 50), .what = SIM_RUN, .flow = flow->index,
			});
		flow->run_due = true;
		return -EAGAIN;
	}
	if (msg && !tx->challenged && sim_is_throttled(flow))
		return -EBUSY;
	pkt->src_epoch = sim_epoch(flow->source);
	pkt->dst_epoch = sim_epoch(flow->target);
	if (pkt->flags & VQP_PKT_OPEN) {
		pkt->tenant = 1;
		pkt->dst_qp = flow->index;
		pkt->src_lanes = 1;
	}
	sim_check(sim, pkt->payload_bytes == bytes);
	if (msg)
		sim_check(sim, offset + bytes <= msg->bytes);
	sim_send(sim, flow->source, flow->target, pkt, bytes ? sim_msg(msg)->local + offset : NULL);
	/* Somebody sends no more than this, so that what he brings about comes to an end. */
	if (sim->cfg->replays)
		sim_replay(sim);
	return 0;
}

static int sim_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data, u32 bytes)
{
	sim_check(sim_flow(tx)->sim, offset + bytes <= msg->bytes);
	memcpy(sim_msg(msg)->local + offset, data, bytes);
	return 0;
}

static void sim_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	struct sim_flow *flow = sim_flow(tx);
	struct sim_msg *m = sim_msg(msg);
	struct sim *sim = flow->sim;

	sim_check(sim, status == VQP_WC_SUCCESS);
	sim_check(sim, m == &flow->msgs[flow->completed]);
	if (m->expect) {
		sim_check(sim, !memcmp(m->local, m->expect, m->bytes));
		free(m->expect);
	}
	flow->completed++;
	sim->stats->us = sim->now_us;
	sim->stats->bytes += m->bytes;
	free(m->local);
	m->local = NULL;
	memset(&m->msg, 0xee, sizeof(m->msg));
}

static void sim_arm(struct vqp_tx *tx, u64 at_us)
{
	struct sim_flow *flow = sim_flow(tx);

	if (at_us < flow->sim->now_us)
		at_us = flow->sim->now_us;
	flow->armed = at_us;
	sim_push(flow->sim, (struct sim_event) { .at_us = at_us, .what = SIM_TIMER, .flow = flow->index });
}

static void sim_stale(struct vqp_tx *tx)
{
	sim_check(sim_flow(tx)->sim, !"no target is stale here");
}

static u32 sim_clock_start(u32 node)
{
	return 0U - 100 * node;
}

static u32 sim_stamp(struct vqp_tx *tx)
{
	const struct sim_flow *flow = sim_flow(tx);

	return vqp_clock_stamp(sim_clock_start(flow->source), flow->sim->now_us * CLOCK_SPEED);
}

static const struct vqp_tx_ops sim_tx_ops = {
	.xmit = sim_xmit, .place = sim_place, .complete = sim_complete, .arm = sim_arm, .stale = sim_stale,
	.stamp = sim_stamp,
};

/* Carry out the atomic `op`; what was there. */
static u64 sim_atomic_at(u8 *at, u8 op, u64 compare_add, u64 swap)
{
	u64 before, after;

	memcpy(&before, at, sizeof(before));
	after = before + compare_add;
	if (op == VQP_OP_CMP_SWP)
		after = before == compare_add ? swap : before;
	memcpy(at, &after, sizeof(after));
	return before;
}

/* With what is there, every other time, and something else. */
static void sim_atomic_operands(struct sim_flow *flow, struct sim_msg *m)
{
	m->msg.compare_add = m->fill;
	if (m->kind == SIM_CMP_SWP) {
		m->msg.swap = m->fill * 3;
		if (m->imm % 2)
			memcpy(&m->msg.compare_add, flow->expect + m->addr, sizeof(m->msg.compare_add));
	}
}

/* Some of this memory is to be brought by a READ that is under way. */
static bool sim_is_read(const struct sim_flow *flow, const struct sim_msg *m)
{
	const struct sim_msg *read;

	for (read = &flow->msgs[flow->completed]; read < m; read++)
		if (read->kind == SIM_READ && m->addr < read->addr + read->bytes &&
		    read->addr < m->addr + m->bytes)
			return true;
	return false;
}

/*
 * Apply a message to what the target should look like after it, and keep what it should
 * look like to one that fetches. A READ may be carried out again while it is under way: what
 * follows it and writes there waits for it.
 */
static void sim_expect(struct sim_flow *flow, struct sim_msg *m)
{
	if (vqp_op_returns_data(m->msg.op)) {
		m->expect = malloc(m->bytes ? m->bytes : 1);
		assert_non_null(m->expect);
		memcpy(m->expect, flow->expect + m->addr, m->bytes);
	}
	if (m->msg.op == VQP_OP_WRITE) {
		sim_fill(flow->expect + m->addr, m->bytes, m->fill);
	} else if (vqp_op_is_atomic(m->msg.op)) {
		sim_atomic_operands(flow, m);
		sim_atomic_at(flow->expect + m->addr, m->msg.op, m->msg.compare_add, m->msg.swap);
	} else {
		return;
	}
	m->msg.fence = sim_is_read(flow, m);
}

static void sim_queue(struct sim_flow *flow, struct sim_msg *m)
{
	static const u8 ops[] = {
		[SIM_SEND] = VQP_OP_SEND, [SIM_SEND_IMM] = VQP_OP_SEND, [SIM_WRITE] = VQP_OP_WRITE,
		[SIM_WRITE_IMM] = VQP_OP_WRITE, [SIM_READ] = VQP_OP_READ,
		[SIM_CMP_SWP] = VQP_OP_CMP_SWP, [SIM_FETCH_ADD] = VQP_OP_FETCH_ADD,
	};

	m->local = malloc(m->bytes ? m->bytes : 1);
	assert_non_null(m->local);
	sim_fill(m->local, m->bytes, m->fill);
	m->msg = (struct vqp_msg) {
		.op = ops[m->kind], .bytes = m->bytes, .remote_addr = m->addr,
		.rkey = RKEY + flow->index,
	};
	if (m->kind == SIM_SEND_IMM || m->kind == SIM_WRITE_IMM) {
		m->msg.flags = VQP_PKT_IMM;
		m->msg.imm = m->imm;
	}
	sim_expect(flow, m);
	vqp_tx_queue(&flow->tx, &m->msg);
}

/* A burst of messages; the next one comes later, or the flow closes when all is done. */
static void sim_post(struct sim *sim, struct sim_flow *flow)
{
	u32 burst = 1 + sim_random(sim, 4);

	for (u32 i = 0; sim->cfg->replays && i < 4; i++)
		sim_replay(sim);
	if (flow->posted == sim->cfg->msgs) {
		if (flow->completed == flow->posted) {
			vqp_tx_close(&flow->tx);
			sim->open--;
			return;
		}
	} else {
		while (burst-- && flow->posted < sim->cfg->msgs)
			sim_queue(flow, &flow->msgs[flow->posted++]);
		vqp_tx_run(&flow->tx, sim->now_us);
	}
	sim_push(sim, (struct sim_event) {
		.at_us = sim->now_us + 1 + sim_random(sim, sim->cfg->pause_us), .what = SIM_POST, .flow = flow->index,
	});
}

/* ---- Targets ---- */

static struct sim_node *sim_node(struct vqp_rx *rx)
{
	return rx->ns;
}

static struct sim_flow *sim_rx_flow(struct vqp_rx *rx)
{
	return &sim_node(rx)->sim->flows[rx->flow];
}

/* rx->ns is not known before: find the node by its table. */
static int sim_open(struct vqp_rx *rx, const struct vqp_pkt *pkt);

static void sim_close(struct vqp_rx *rx)
{
	sim_check(sim_node(rx)->sim, !rx->recv);
}

static bool sim_alive(struct vqp_rx *rx)
{
	(void)rx;
	return true;
}

static bool sim_is_received(const struct sim_msg *m)
{
	return m->kind == SIM_SEND || m->kind == SIM_SEND_IMM || m->kind == SIM_WRITE_IMM;
}

/* The message that the flow's next receive must be for. */
static struct sim_msg *sim_next_received(struct sim_flow *flow)
{
	struct sim *sim = flow->sim;

	for (; flow->received < flow->posted; flow->received++) {
		struct sim_msg *m = &flow->msgs[flow->received];

		if (sim_is_received(m))
			return m;
	}
	sim_check(sim, !"a receive without a message");
	return NULL;
}

static int sim_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	struct sim *sim = sim_node(rx)->sim;
	struct sim_recv *recv;

	sim_check(sim, !rx->recv);
	if (sim_chance(sim, sim->cfg->rnr)) {
		sim->stats->rnr++;
		return -EAGAIN;
	}
	recv = malloc(sizeof(*recv) + bytes);
	assert_non_null(recv);
	recv->bytes = bytes;
	rx->recv = recv;
	return 0;
}

static int sim_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	struct sim_recv *recv = rx->recv;

	sim_check(sim_node(rx)->sim, offset + bytes <= recv->bytes);
	memcpy(recv->data + offset, data, bytes);
	return 0;
}

static void sim_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	struct sim_flow *flow = sim_rx_flow(rx);
	struct sim_msg *m = sim_next_received(flow);
	struct sim_recv *recv = rx->recv;
	struct sim *sim = flow->sim;
	const bool with_imm = m->kind == SIM_SEND_IMM || m->kind == SIM_WRITE_IMM;

	sim_check(sim, ok);
	sim_check(sim, bytes == m->bytes);
	sim_check(sim, (pkt->op == VQP_OP_WRITE) == (m->kind == SIM_WRITE_IMM));
	sim_check(sim, !!(pkt->flags & VQP_PKT_IMM) == with_imm);
	if (with_imm)
		sim_check(sim, pkt->imm == m->imm);
	if (pkt->op == VQP_OP_SEND) {
		u8 *expect = malloc(bytes ? bytes : 1);

		sim_fill(expect, bytes, m->fill);
		sim_check(sim, !memcmp(recv->data, expect, bytes));
		free(expect);
	}
	flow->received++;
	free(recv);
	rx->recv = NULL;
}

static int sim_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
{
	struct sim_flow *flow = sim_rx_flow(rx);

	sim_check(flow->sim, rkey == RKEY + flow->index && addr + bytes <= REGION_BYTES);
	if (bytes)
		memcpy(flow->memory + addr, data, bytes);
	return 0;
}

static int sim_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	struct sim_flow *flow = sim_rx_flow(rx);

	sim_check(flow->sim, rkey == RKEY + flow->index && addr + bytes <= REGION_BYTES);
	return 0;
}

static int sim_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	struct sim_flow *flow = sim_rx_flow(rx);

	sim_check(flow->sim, pkt->rkey == RKEY + flow->index && pkt->addr + VQP_ATOMIC_BYTES <= REGION_BYTES);
	*before = sim_atomic_at(flow->memory + pkt->addr, pkt->op, pkt->compare_add, pkt->swap);
	return 0;
}

/* The sender of the packet at hand, and its receiver. */
struct sim_route {
	struct sim *sim;
	u32 from, to;
	bool replay;
};

static struct sim_route sim_route;

static u32 sim_challenge(void)
{
	return sim_random(sim_route.sim, 1U << 31);
}

static u32 sim_hash(const u8 *gid, u32 src_epoch, u32 flow)
{
	return gid[15] ^ src_epoch ^ flow;
}

static u32 sim_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	const struct sim_route *route = reply_to;

	return vqp_clock_judge(&route->sim->nodes[route->to].clocks[route->from], pkt, seen, now_us * CLOCK_SPEED);
}

static void sim_forget(const struct vqp_rx *rx)
{
	struct sim *sim = sim_route.sim;
	struct sim_node *node = sim->nodes;

	while (rx < node->slots || rx >= node->slots + CONTEXTS_MAX)
		node++;
	vqp_clock_forget(&node->clocks[rx->node_gid[15]], rx->src_epoch, rx->stamp, rx->last_us * CLOCK_SPEED,
			 sim->now_us * CLOCK_SPEED);
}

static int sim_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	sim_check(sim_route.sim, pkt->dst_qp == rx->flow);
	rx->ns = &sim_route.sim->nodes[sim_route.to];
	return 0;
}

static int sim_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	const struct sim_route *route = reply_to;
	struct sim *sim = route->sim;

	(void)rkey;
	if (sim_chance(sim, sim->cfg->no_room))
		return -EAGAIN;
	if (pkt->op == VQP_OP_NAK) {
		sim->stats->no_flow += pkt->nak == VQP_NAK_NO_FLOW;
		sim->stats->gaps += pkt->nak == VQP_NAK_SEQ;
		sim->stats->caught += pkt->nak == VQP_NAK_STALE && route->replay &&
				      sim->nodes[route->to].clocks[route->from].known;
	}
	sim_send(sim, route->to, route->from, pkt, pkt->payload || !bytes ? pkt->payload : sim_rx_flow(rx)->memory + addr);
	return 0;
}

static struct vqp_rx_held *sim_hold(const struct vqp_pkt *pkt)
{
	struct vqp_rx_held *held;

	if (sim_chance(sim_route.sim, sim_route.sim->cfg->no_room))
		return NULL;
	held = malloc(sizeof(*held) + pkt->payload_bytes);
	assert_non_null(held);
	held->pkt = *pkt;
	held->pkt.payload = held + 1;
	memcpy(held + 1, pkt->payload, pkt->payload_bytes);
	return held;
}

static void sim_drop(struct vqp_rx_held *held)
{
	free(held);
}

static const struct vqp_rx_ops sim_rx_ops = {
	.hash = sim_hash, .judge = sim_judge, .forget = sim_forget, .open = sim_open, .close = sim_close, .alive = sim_alive, .recv_begin = sim_recv_begin,
	.recv_data = sim_recv_data, .recv_end = sim_recv_end, .write = sim_write,
	.read_check = sim_read_check, .atomic = sim_atomic, .reply = sim_reply,
	.hold = sim_hold, .drop = sim_drop,
};

/* ---- The run ---- */

/* It waits until the node has dealt with those before it, if there is room. */
static void sim_arrive(struct sim *sim, struct sim_event *event)
{
	struct sim_node *node = &sim->nodes[event->node];
	const struct sim_cfg *cfg = sim->cfg;

	if (node->free_us < sim->now_us)
		node->free_us = sim->now_us;
	if (cfg->queue_packets && node->free_us - sim->now_us >= (u64)cfg->queue_packets * cfg->service_us) {
		sim->stats->overrun++;
		free(event->buf);
		return;
	}
	node->free_us += cfg->service_us;
	event->what = SIM_SERVED;
	event->at_us = node->free_us;
	sim_push(sim, *event);
}

static void sim_receive(struct sim *sim, const struct sim_event *event)
{
	struct sim_node *node = &sim->nodes[event->node];
	struct vqp_pkt pkt;

	sim_check(sim, !vqp_wire_parse(event->buf, event->bytes, &pkt));
	sim_check(sim, pkt.flow < sim->cfg->flows);
	switch (pkt.op) {
	case VQP_OP_ACK:
	case VQP_OP_NAK:
	case VQP_OP_READ_RESP:
		sim_check(sim, sim->flows[pkt.flow].source == event->node);
		vqp_tx_input(&sim->flows[pkt.flow].tx, &pkt, sim->now_us);
		return;
	}
	sim_route = (struct sim_route) { sim, event->from, event->node, event->replay };
	vqp_rxtab_input(&node->tab, sim->nodes[event->from].gid, &sim_route, &pkt, sim->now_us);
}

static void sim_timeout(struct sim *sim, struct sim_flow *flow)
{
	const u64 resent = flow->tx.packets_resent;

	flow->armed = 0;
	vqp_tx_timeout(&flow->tx, sim->now_us);
	sim->stats->timeouts += flow->tx.packets_resent != resent;
}

static void sim_step(struct sim *sim)
{
	struct sim_event event = sim_pop(sim);
	struct sim_flow *flow = &sim->flows[event.flow];

	sim->now_us = event.at_us;
	sim_check(sim, sim->now_us < END_US);
	switch (event.what) {
	case SIM_PACKET:
		sim_arrive(sim, &event);
		break;
	case SIM_SERVED:
		sim_receive(sim, &event);
		free(event.buf);
		break;
	case SIM_TIMER:
		/* The newest deadline holds. */
		if (flow->armed == event.at_us)
			sim_timeout(sim, flow);
		break;
	case SIM_RUN:
		flow->run_due = false;
		vqp_tx_run(&flow->tx, sim->now_us);
		break;
	case SIM_POST:
		sim_post(sim, flow);
		break;
	}
}

static u32 sim_random_kind(struct sim *sim)
{
	u32 kind;

	do
		kind = sim_random(sim, SIM_KINDS);
	while (sim->cfg->ops && !(sim->cfg->ops & 1U << kind));
	return kind;
}

/* Mostly small, often around a packet's or a chunk's end, sometimes long. */
static u32 sim_random_bytes(struct sim *sim)
{
	const struct sim_cfg *cfg = sim->cfg;
	u32 bytes;

	switch (sim_random(sim, 8)) {
	case 0:
		bytes = sim_random(sim, 3);
		break;
	case 1:
	case 2:
		bytes = sim_random(sim, cfg->payload_bytes);
		break;
	case 3:
		bytes = cfg->payload_bytes * (1 + sim_random(sim, 40)) + sim_random(sim, 3) - 1;
		break;
	case 4:
		bytes = cfg->max_bytes - sim_random(sim, cfg->max_bytes / 2 + 1);
		break;
	default:
		bytes = sim_random(sim, 16 * 1024);
		break;
	}
	return bytes < cfg->max_bytes ? bytes : cfg->max_bytes;
}

static void sim_flow_init(struct sim *sim, struct sim_flow *flow, u32 index)
{
	const struct sim_cfg *cfg = sim->cfg;
	u32 i;

	flow->sim = sim;
	flow->index = index;
	flow->source = cfg->to_one ? 1 + index % (cfg->nodes - 1) : sim_random(sim, cfg->nodes);
	flow->target = cfg->to_one ? 0 : (flow->source + 1 + sim_random(sim, cfg->nodes - 1)) % cfg->nodes;
	flow->tx_cfg = (struct vqp_tx_cfg) {
		.payload_bytes = cfg->payload_bytes, .window_packets = cfg->window_packets,
		.rto_min_us = cfg->rto_min_us ? cfg->rto_min_us : 2 * cfg->delay_us + 200,
		/* One that finds no context for so long gives up; here it is to have its turn. */
		.rto_max_us = 50000, .giveup_us = 3000000,
		.patience_us = cfg->contexts < cfg->flows ? 600000000 : 3000000,
		.close_us = cfg->close_us,
	};
	vqp_tx_init(&flow->tx, &sim_tx_ops, &flow->tx_cfg, index, unit_random(&sim->rng));
	flow->msgs = calloc(cfg->msgs, sizeof(*flow->msgs));
	flow->memory = malloc(REGION_BYTES);
	flow->expect = malloc(REGION_BYTES);
	assert_true(flow->msgs && flow->memory && flow->expect);
	sim_fill(flow->memory, REGION_BYTES, unit_random(&sim->rng));
	memcpy(flow->expect, flow->memory, REGION_BYTES);
	for (i = 0; i < cfg->msgs; i++) {
		struct sim_msg *m = &flow->msgs[i];

		m->kind = sim_random_kind(sim);
		m->bytes = m->kind < SIM_CMP_SWP ? sim_random_bytes(sim) : VQP_ATOMIC_BYTES;
		m->imm = unit_random(&sim->rng);
		m->fill = unit_random(&sim->rng);
		m->addr = sim_random(sim, REGION_BYTES - m->bytes + 1);
		if (m->kind >= SIM_CMP_SWP)
			m->addr &= ~7ULL;
	}
	sim_push(sim, (struct sim_event) {
		.at_us = sim->now_us + sim_random(sim, cfg->pause_us), .what = SIM_POST, .flow = index,
	});
}

static void sim_flow_end(struct sim *sim, struct sim_flow *flow)
{
	sim_check(sim, flow->completed == sim->cfg->msgs);
	sim_check(sim, vqp_tx_idle(&flow->tx));
	while (flow->received < flow->posted)
		sim_check(sim, !sim_is_received(&flow->msgs[flow->received++]));
	sim_check(sim, !memcmp(flow->memory, flow->expect, REGION_BYTES));
	sim->stats->resent += flow->tx.packets_resent;
	free(flow->msgs);
	free(flow->memory);
	free(flow->expect);
}

void sim_run(const struct sim_cfg *cfg, struct sim_stats *stats)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	u32 i;

	assert_non_null(sim);
	assert_true(cfg->nodes >= 2 && cfg->nodes <= NODES_MAX && cfg->contexts + cfg->closed_contexts <= CONTEXTS_MAX);
	memset(stats, 0, sizeof(*stats));
	sim->cfg = cfg;
	sim->stats = stats;
	sim->rng = cfg->seed * 0x9e3779b97f4a7c15ULL + 1;
	sim->now_us = 1;
	sim->flows = calloc(cfg->flows, sizeof(*sim->flows));
	assert_non_null(sim->flows);
	for (i = 0; i < cfg->nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		node->sim = sim;
		node->index = i;
		node->gid[15] = i;
		vqp_rxtab_init(&node->tab, &sim_rx_ops, node->slots, cfg->contexts + cfg->closed_contexts,
			       cfg->contexts, node->buckets, BUCKETS,
			       cfg->payload_bytes, sim_epoch(i), 2 * (cfg->delay_us + cfg->jitter_us) + 20000,
			       cfg->idle_us);
		for (u32 from = 0; from < cfg->nodes; from++)
			node->clocks[from] = (struct vqp_clock) {
				.random = sim_challenge, .known = !cfg->strangers, .epoch = sim_epoch(from), .forgotten = sim_clock_start(from) - 1,
				.proven = sim_clock_start(from),
			};
	}
	for (i = 0; i < cfg->flows; i++)
		sim_flow_init(sim, &sim->flows[i], i);
	sim->open = cfg->flows;

	while (sim->nevents)
		sim_step(sim);

	for (i = 0; i < cfg->flows; i++)
		sim_flow_end(sim, &sim->flows[i]);
	for (i = 0; i < cfg->nodes; i++) {
		stats->busy += sim->nodes[i].tab.busy;
		stats->reused += sim->nodes[i].tab.reused;
		stats->stale += sim->nodes[i].tab.stale;
		vqp_rxtab_purge(&sim->nodes[i].tab, NULL);
	}
	sim_free_records(&sim->openings);
	sim_free_records(&sim->others);
	free(sim->events);
	free(sim->flows);
	free(sim);
}
