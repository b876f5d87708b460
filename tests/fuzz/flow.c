// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Initiators and target together, over a network in which the input decides
 * which packet is delivered next, twice or never, when timers fire, and when the
 * target's namespace goes or its contexts are lost. Then the network becomes
 * perfect, and all must end well: each message once, in order, whole. A flow
 * whose target forgot it may fail; only for a new target, or before the first
 * answer, what was not yet acknowledged may come again.
 */
#include <errno.h>
#include <linux/vqp.h>

#include "clock.h"
#include "fuzz.h"
#include "rx.h"
#include "tx.h"

#define FLOWS		2
#define PAYLOAD		16
#define MSGS_MAX	24		/* of a flow */
#define REGION		1024
#define PACKETS_MAX	32		/* under way */
#define LIFE_US		5000		/* of a packet, at most */
#define LINGER_US	20000
#define CLOCK_SPEED	32		/* so that contexts linger for some ticks */
#define GIVEUP_US	100000000	/* longer than any input lasts */
#define RKEY_READ	0x1000
#define END_STEPS	200000

struct message {
	struct vqp_msg msg;
	u8 local[REGION];
	u64 before;			/* FETCH_ADD: what it must find if the target forgets nothing */
	bool done;			/* FETCH_ADD: it was carried out */
};

struct flow {
	struct vqp_tx tx;
	struct message *msgs[MSGS_MAX];	/* as posted */
	u32 posted, completed;
	u32 received;			/* messages at the target, those that take no receive included */
	bool forgotten;			/* the target lost its context, or found none */
	bool again;			/* since the last receive, in a way that lets messages come again */
	bool repeats;			/* ever, in such a way */
	bool full;			/* it was told that there is no context for it, and since then at most challenged */
	bool busy;			/* it is being told so, or challenged, while it is */
	bool failed;
	u64 armed;
	bool run_due, stale;
	u8 written[REGION], expect[REGION];
	u64 counter, counted;		/* at the target; by what was posted */
};

struct packet {
	u8 buf[VQP_WIRE_HEADER_MAX + PAYLOAD];
	u32 bytes;
	u64 sent_us;
};

static struct {
	struct flow flows[FLOWS];
	struct vqp_rxtab tab;
	struct vqp_rx slots[FLOWS];
	struct list_head buckets[1];
	struct vqp_clock clock;		/* the initiators', at the target */
	u32 drawn;
	struct packet packets[PACKETS_MAX];
	u32 npackets;
	u64 now;
	bool no_room, no_receive;
	bool away;			/* the target's namespace is */
} env;

static const struct vqp_tx_cfg cfg = {
	.payload_bytes = PAYLOAD, .window_packets = 6, .rto_min_us = 300, .rto_max_us = 10000,
	.giveup_us = GIVEUP_US, .patience_us = GIVEUP_US, .close_us = 2000,
};

static const u8 node_gid[16] = "node";

static u8 pattern(u32 seed, u32 i)
{
	return seed * 37 + i * 11 + (i >> 8);
}

/* ---- The network ---- */

static void send(const struct vqp_pkt *pkt, const u8 *payload)
{
	struct packet *packet = &env.packets[env.npackets];

	if (env.npackets == PACKETS_MAX)
		return;			/* lost */
	packet->bytes = vqp_wire_build(packet->buf, pkt);
	fuzz_check(packet->bytes + pkt->payload_bytes <= sizeof(packet->buf) && (payload || !pkt->payload_bytes));
	if (pkt->payload_bytes)
		memcpy(packet->buf + packet->bytes, payload, pkt->payload_bytes);
	packet->bytes += pkt->payload_bytes;
	packet->sent_us = env.now;
	env.npackets++;
}

static void deliver(const struct packet *packet)
{
	struct vqp_pkt pkt;

	if (env.now - packet->sent_us > LIFE_US)
		return;
	fuzz_check(!vqp_wire_parse(packet->buf, packet->bytes, &pkt));
	fuzz_check(pkt.flow < FLOWS);
	if (pkt.op == VQP_OP_ACK || pkt.op == VQP_OP_NAK || pkt.op == VQP_OP_READ_RESP) {
		if (pkt.op != VQP_OP_NAK || pkt.nak != VQP_NAK_STALE)
			env.flows[pkt.flow].full = pkt.op == VQP_OP_NAK && pkt.nak == VQP_NAK_BUSY;
		env.flows[pkt.flow].busy = env.flows[pkt.flow].full;
		vqp_tx_input(&env.flows[pkt.flow].tx, &pkt, env.now);
		env.flows[pkt.flow].busy = false;
	} else {
		fuzz_check(vqp_rxtab_input(&env.tab, node_gid, &env, &pkt, env.now));
	}
}

static struct packet take(u32 i)
{
	const struct packet packet = env.packets[i];

	memmove(&env.packets[i], &env.packets[i + 1], (--env.npackets - i) * sizeof(packet));
	return packet;
}

/* ---- The initiators ---- */

static int tx_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	struct flow *flow = list_entry(tx, struct flow, tx);

	if (env.no_room) {
		flow->run_due |= msg != NULL;
		return -EAGAIN;
	}
	fuzz_check(!msg || (offset <= msg->bytes && bytes <= msg->bytes - offset));
	pkt->dst_epoch = 1;
	if (pkt->flags & VQP_PKT_OPEN) {
		pkt->src_lanes = 1;
		memcpy(pkt->src_gid, node_gid, sizeof(pkt->src_gid));
	}
	send(pkt, msg ? list_entry(msg, struct message, msg)->local + offset : NULL);
	return 0;
}

static int tx_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data, u32 bytes)
{
	(void)tx;
	fuzz_check(offset <= msg->bytes && bytes <= msg->bytes - offset);
	memcpy(list_entry(msg, struct message, msg)->local + offset, data, bytes);
	return 0;
}

static void tx_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	struct flow *flow = list_entry(tx, struct flow, tx);
	struct message *m = flow->msgs[flow->completed];

	fuzz_check(&m->msg == msg);
	if (flow->failed || status != VQP_WC_SUCCESS) {
		fuzz_check(flow->failed || flow->forgotten || flow->busy);
		fuzz_check(status == (flow->failed ? VQP_WC_WR_FLUSH_ERR : VQP_WC_RETRY_EXC_ERR));
		flow->failed = true;
		flow->completed++;
		return;
	}
	if (msg->op == VQP_OP_READ)
		for (u32 i = 0; i < msg->bytes; i++)
			fuzz_check(m->local[i] == pattern(msg->rkey, msg->remote_addr + i));
	if (msg->op == VQP_OP_FETCH_ADD)
		fuzz_check(flow->forgotten || !memcmp(m->local, &m->before, sizeof(m->before)));
	if (msg->op == VQP_OP_SEND || (msg->flags & VQP_PKT_IMM))
		fuzz_check(flow->received > flow->completed);
	flow->completed++;
}

static void tx_arm(struct vqp_tx *tx, u64 at_us)
{
	list_entry(tx, struct flow, tx)->armed = at_us;
}

static void tx_stale(struct vqp_tx *tx)
{
	list_entry(tx, struct flow, tx)->stale = true;
}

static u32 tx_stamp(struct vqp_tx *tx)
{
	(void)tx;
	return vqp_clock_stamp(0, env.now * CLOCK_SPEED);
}

static const struct vqp_tx_ops tx_ops = {
	.xmit = tx_xmit, .place = tx_place, .complete = tx_complete, .arm = tx_arm, .stale = tx_stale, .stamp = tx_stamp,
};

/* ---- The target ---- */

static struct flow *flow_of(const struct vqp_rx *rx)
{
	return &env.flows[rx->flow];
}

static u32 draw(void)
{
	return ++env.drawn;
}

static u32 rx_hash(const u8 *gid, u32 src_epoch, u32 flow)
{
	return gid[15] ^ src_epoch ^ flow;
}

static u32 rx_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	(void)reply_to;
	return vqp_clock_judge(&env.clock, pkt, seen, now_us * CLOCK_SPEED);
}

static void rx_forget(const struct vqp_rx *rx)
{
	vqp_clock_forget(&env.clock, rx->src_epoch, rx->stamp, rx->last_us * CLOCK_SPEED, env.now * CLOCK_SPEED);
}

static int rx_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	(void)pkt;
	if (env.away)
		return -ENOENT;
	rx->ns = &env;
	return 0;
}

static void rx_close(struct vqp_rx *rx)
{
	fuzz_check(!rx->recv);
}

static bool rx_alive(struct vqp_rx *rx)
{
	(void)rx;
	return true;
}

static bool is_received(const struct message *m)
{
	return m->msg.op == VQP_OP_SEND || (m->msg.flags & VQP_PKT_IMM);
}

/* The message that the packet at hand belongs to. */
static u32 index_at(const struct flow *flow, u32 psn)
{
	u32 i = 0;

	while (i < flow->posted && psn - flow->msgs[i]->msg.psn >= flow->msgs[i]->msg.psns)
		i++;
	fuzz_check(i < flow->posted);
	return i;
}

/* None is skipped, none comes twice. */
static void check_order(struct flow *flow, u32 i)
{
	if (flow->again && i < flow->received) {
		fuzz_check(flow->failed || i >= flow->completed);
		flow->received = i;
	}
	flow->again = false;
	while (flow->received < i && !is_received(flow->msgs[flow->received]))
		flow->received++;
	fuzz_check(flow->received == i);
}

static int rx_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	struct flow *flow = flow_of(rx);
	const u32 i = index_at(flow, rx->psn);
	struct message *m = flow->msgs[i];

	fuzz_check(!rx->recv && is_received(m));
	fuzz_check(bytes == (m->msg.op == VQP_OP_SEND ? m->msg.bytes : 0));
	if (env.no_receive)
		return -EAGAIN;
	check_order(flow, i);
	rx->recv = m;
	return 0;
}

static int rx_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	const struct message *m = rx->recv;

	fuzz_check(offset + bytes <= m->msg.bytes && !memcmp(m->local + offset, data, bytes));
	return 0;
}

static void rx_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	const struct message *m = rx->recv;

	rx->recv = NULL;
	if (!ok) {
		fuzz_check(flow_of(rx)->forgotten);
		return;
	}
	fuzz_check(bytes == m->msg.bytes && pkt->op == m->msg.op && pkt->imm == m->msg.imm);
	flow_of(rx)->received++;
}

static int rx_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
{
	fuzz_check(rkey == rx->flow && addr + bytes <= REGION);
	if (bytes)
		memcpy(flow_of(rx)->written + addr, data, bytes);
	return 0;
}

static int rx_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	fuzz_check(rkey == RKEY_READ + rx->flow && addr + bytes <= REGION);
	return 0;
}

static int rx_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	struct flow *flow = flow_of(rx);
	struct message *m = flow->msgs[index_at(flow, rx->psn)];

	fuzz_check(pkt->op == VQP_OP_FETCH_ADD && pkt->rkey == rx->flow);
	fuzz_check(!m->done || flow->repeats);
	m->done = true;
	*before = flow->counter;
	flow->counter += pkt->compare_add;
	return 0;
}

static int rx_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	u8 payload[PAYLOAD];

	(void)reply_to;
	if (env.no_room)
		return -EAGAIN;
	if (!rx && pkt->op == VQP_OP_NAK && pkt->nak == VQP_NAK_NO_FLOW)
		env.flows[pkt->flow].forgotten = true;
	for (u32 i = 0; i < bytes; i++)
		payload[i] = pattern(rkey, addr + i);
	send(pkt, pkt->payload ? pkt->payload : payload);
	return 0;
}

static struct vqp_rx_held *rx_hold(const struct vqp_pkt *pkt)
{
	struct vqp_rx_held *held = env.no_room ? NULL : malloc(sizeof(*held) + pkt->payload_bytes);

	if (held) {
		held->pkt = *pkt;
		held->pkt.payload = memcpy(held + 1, pkt->payload, pkt->payload_bytes);
	}
	return held;
}

static void rx_drop(struct vqp_rx_held *held)
{
	free(held);
}

static const struct vqp_rx_ops rx_ops = {
	.hash = rx_hash, .judge = rx_judge, .forget = rx_forget, .open = rx_open, .close = rx_close, .alive = rx_alive, .recv_begin = rx_recv_begin,
	.recv_data = rx_recv_data, .recv_end = rx_recv_end, .write = rx_write,
	.read_check = rx_read_check, .atomic = rx_atomic, .reply = rx_reply, .hold = rx_hold, .drop = rx_drop,
};

/* ---- Events ---- */

static void post(struct fuzz *in, u8 how)
{
	static const u8 ops[] = { VQP_OP_SEND, VQP_OP_WRITE, VQP_OP_READ, VQP_OP_SEND };
	static const u32 sizes[] = { 0, 1, PAYLOAD, PAYLOAD + 1, 3 * PAYLOAD - 1, 7 * PAYLOAD, 16 * PAYLOAD + 1, 40 * PAYLOAD };
	struct flow *flow = &env.flows[how % FLOWS];
	const u32 i = flow - env.flows, size = fuzz_byte(in);
	struct message *m;

	if (flow->posted == MSGS_MAX)
		return;
	m = calloc(1, sizeof(*m));
	fuzz_check(m);
	m->msg.op = ops[how >> 1 & 3];
	m->msg.bytes = sizes[size & 7];
	m->msg.fence = how & 8;
	m->msg.remote_addr = size >> 3;
	m->msg.rkey = i + (m->msg.op == VQP_OP_READ ? RKEY_READ : 0);
	if (m->msg.op == VQP_OP_READ && (how & 16)) {
		m->msg.op = VQP_OP_FETCH_ADD;
		m->msg.bytes = VQP_ATOMIC_BYTES;
		m->msg.rkey = i;
		m->msg.remote_addr = 0;
		m->msg.compare_add = 1 + size;
		m->before = flow->counted;
		flow->counted += m->msg.compare_add;
	} else if (m->msg.op != VQP_OP_READ) {
		if (how & 16) {
			m->msg.flags = VQP_PKT_IMM;
			m->msg.imm = flow->posted + 1;
		}
		for (u32 at = 0; at < m->msg.bytes; at++)
			m->local[at] = pattern(flow->posted * 2 + i, at);
	}
	if (m->msg.op == VQP_OP_WRITE)
		memcpy(flow->expect + m->msg.remote_addr, m->local, m->msg.bytes);
	flow->msgs[flow->posted++] = m;
	vqp_tx_post(&flow->tx, &m->msg, env.now);
}

static void fire_timers(void)
{
	for (u32 i = 0; i < FLOWS; i++) {
		struct flow *flow = &env.flows[i];

		if (flow->armed && flow->armed <= env.now) {
			flow->armed = 0;
			vqp_tx_timeout(&flow->tx, env.now);
		}
	}
}

static void make_room(void)
{
	env.no_room = false;
	for (u32 i = 0; i < FLOWS; i++) {
		if (env.flows[i].run_due) {
			env.flows[i].run_due = false;
			vqp_tx_run(&env.flows[i].tx, env.now);
		}
	}
}

/*
 * The target forgets all, as if it had been idle for long or had ended, or its namespace goes; nothing of
 * before is under way.
 */
static void lose(void)
{
	env.npackets = 0;
	for (u32 i = 0; i < FLOWS; i++) {
		env.flows[i].forgotten = true;
		env.flows[i].again |= !env.flows[i].tx.opened;
		env.flows[i].repeats |= !env.flows[i].tx.opened;
	}
	vqp_rxtab_purge(&env.tab, env.away ? &env : NULL);
}

static void retarget(struct flow *flow)
{
	flow->stale = false;
	flow->again |= flow->forgotten;
	flow->repeats |= flow->forgotten;
	vqp_tx_retarget(&flow->tx, env.now);
}

static void step(struct fuzz *in)
{
	const u8 what = fuzz_byte(in);
	const u32 i = env.npackets ? (what & 0x1f) % env.npackets : 0;

	switch (what >> 5) {
	case 0:
		post(in, what);
		break;
	case 1:
	case 2:
		if (env.npackets) {
			const struct packet packet = take(i);

			deliver(&packet);
		}
		break;
	case 3:
		if (env.npackets) {
			const struct packet packet = env.packets[i];

			deliver(&packet);
		}
		break;
	case 4:
		if (env.npackets)
			take(i);
		break;
	case 5:
		env.now += 1U << (what & 15 & 0xd);
		fire_timers();
		break;
	case 6:
		if (what & 8) {
			env.away = what & 4;
			lose();
		} else if (what & 2) {
			retarget(&env.flows[what >> 2 & 1]);
		} else {
			env.no_receive = what & 1;
		}
		break;
	case 7:
		if (what & 1)
			env.no_room = true;
		else
			make_room();
		break;
	}
}

/* ---- A whole run ---- */

static bool finished(void)
{
	for (u32 i = 0; i < FLOWS; i++)
		if (env.flows[i].completed < env.flows[i].posted)
			return false;
	return true;
}

static void advance_to_timer(void)
{
	u64 at = ~0ULL;

	for (u32 i = 0; i < FLOWS; i++)
		if (env.flows[i].armed && env.flows[i].armed < at)
			at = env.flows[i].armed;
	fuzz_check(at != ~0ULL);	/* else nothing would ever happen again */
	if (at > env.now)
		env.now = at;
	fire_timers();
}

static void finish(void)
{
	env.no_receive = false;
	env.away = false;
	make_room();
	for (u32 i = 0; !finished(); i++) {
		fuzz_check(i < END_STEPS);
		for (u32 f = 0; f < FLOWS; f++)
			if (env.flows[f].stale)
				retarget(&env.flows[f]);
		if (env.npackets) {
			const struct packet packet = take(0);

			deliver(&packet);
		} else {
			advance_to_timer();
		}
	}
}

static void check_end(struct flow *flow)
{
	fuzz_check(vqp_tx_idle(&flow->tx));
	fuzz_check(flow->failed || !memcmp(flow->written, flow->expect, REGION));
	fuzz_check(flow->failed || flow->forgotten || flow->counter == flow->counted);
	for (; !flow->failed && flow->received < flow->posted; flow->received++)
		fuzz_check(!is_received(flow->msgs[flow->received]));
	for (u32 i = 0; i < flow->posted; i++)
		free(flow->msgs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
	struct fuzz in = { input, bytes };
	const u8 how = fuzz_byte(&in);
	const u32 contexts = 1 + how % FLOWS;

	memset(&env, 0, sizeof(env));
	env.now = 1000000;
	/* The target knows the initiators' clock, or not yet. */
	env.clock = (struct vqp_clock) {
		.random = draw, .known = how < 0x80, .forgotten = vqp_clock_stamp(0, env.now * CLOCK_SPEED) - 1,
		.proven = vqp_clock_stamp(0, env.now * CLOCK_SPEED), .proven_us = env.now * CLOCK_SPEED,
	};
	vqp_rxtab_init(&env.tab, &rx_ops, env.slots, contexts, contexts, env.buckets, 1, PAYLOAD, 1, LINGER_US, 2ULL * GIVEUP_US);
	for (u32 i = 0; i < FLOWS; i++)
		vqp_tx_init(&env.flows[i].tx, &tx_ops, &cfg, i, 0xfffffff8U);
	while (in.left)
		step(&in);
	finish();
	for (u32 i = 0; i < FLOWS; i++)
		check_end(&env.flows[i]);
	vqp_rxtab_purge(&env.tab, NULL);
	return 0;
}
