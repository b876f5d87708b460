// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "rx.h"

#define PAYLOAD		100
#define CHUNK		(PAYLOAD * VQP_READ_CHUNK_PACKETS)
#define EPOCH		7
#define FLOW		77
#define FIRST_PSN	0xfffffffeU	/* so that every test sees the wrap */
#define PSN(n)		(FIRST_PSN + (n))
#define SLOTS		4
#define LINGER		1000
#define IDLE		100000
#define WHOLE		(VQP_PKT_FIRST | VQP_PKT_LAST)

static const u8 node_a[16] = "node a", node_b[16] = "node b";

static struct {
	struct vqp_rxtab tab;
	struct vqp_rx slots[2 * SLOTS];
	struct list_head buckets[2];
	u64 now;
	const u8 *node;
	u32 src_epoch;
	u16 turn;
	struct vqp_pkt answers[1024];
	u64 addr[1024];			/* of READ_RESP payloads */
	u32 nanswers, seen;
	u8 found[VQP_ATOMIC_BYTES];	/* by the latest atomic, as it was answered */
	u32 opens, closes, begun, ended, broken, writes, checks, atomics;
	int open_err, begin_err, data_err, write_err, check_err, atomic_err;
	u32 lose_after;			/* answers until reply() fails */
	u32 held, dropped;
	bool hold_fails;
	bool dead;			/* the namespace */
	u32 echo;			/* what judge() answers */
	u32 judged, forgotten;
	const u32 *last_seen;		/* what judge() was told at last */
	u32 forgotten_stamp;		/* of the latest one */
	u8 received[8192];
	u32 ended_bytes;
	struct vqp_pkt ended_pkt;
	u8 memory[8192];
} env;

static int ns;

static u32 fake_hash(const u8 *gid, u32 src_epoch, u32 flow)
{
	return gid[15] ^ src_epoch ^ flow;
}

static u32 fake_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	assert_ptr_equal(reply_to, &env.node);
	assert_true(pkt->flags & VQP_PKT_OPEN);
	assert_int_equal(now_us, env.now);
	env.judged++;
	env.last_seen = seen;
	return env.echo;
}

static void fake_forget(const struct vqp_rx *rx)
{
	env.forgotten++;
	env.forgotten_stamp = rx->stamp;
}

static int fake_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	assert_int_equal(rx->tenant, pkt->tenant);
	if (env.open_err)
		return env.open_err;
	rx->ns = &ns;
	env.opens++;
	return 0;
}

static void fake_close(struct vqp_rx *rx)
{
	assert_ptr_equal(rx->ns, &ns);
	assert_null(rx->recv);
	env.closes++;
}

static bool fake_alive(struct vqp_rx *rx)
{
	assert_ptr_equal(rx->ns, &ns);
	return !env.dead;
}

/* A receive request that was taken. */
struct taken {
	u32 bytes, got;
};

static int fake_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	struct taken *taken;

	assert_null(rx->recv);
	if (env.begin_err)
		return env.begin_err;
	assert_true(bytes <= sizeof(env.received));
	taken = calloc(1, sizeof(*taken));
	taken->bytes = bytes;
	rx->recv = taken;
	env.begun++;
	return 0;
}

static int fake_recv_data(struct vqp_rx *rx, u32 offset, const void *data, u32 bytes)
{
	struct taken *taken = rx->recv;

	assert_int_equal(offset, taken->got);
	assert_true(bytes <= taken->bytes - offset);
	if (env.data_err)
		return env.data_err;
	memcpy(env.received + offset, data, bytes);
	taken->got += bytes;
	return 0;
}

static void fake_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	struct taken *taken = rx->recv;

	rx->recv = NULL;
	if (ok) {
		assert_int_equal(taken->got, taken->bytes);
		assert_true(pkt->op == VQP_OP_WRITE || bytes == taken->bytes);
		env.ended++;
		env.ended_bytes = bytes;
		env.ended_pkt = *pkt;
	} else {
		assert_null(pkt);
		env.broken++;
	}
	free(taken);
}

static int fake_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *data, u32 bytes)
{
	(void)rx;
	assert_int_equal(rkey, 5);
	if (env.write_err)
		return env.write_err;
	assert_true(addr + bytes <= sizeof(env.memory));
	if (bytes)
		memcpy(env.memory + addr, data, bytes);
	env.writes++;
	return 0;
}

static int fake_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	(void)rx;
	(void)addr;
	assert_int_equal(rkey, 5);
	assert_true(bytes > 0);
	env.checks++;
	return env.check_err;
}

/* What it finds is how many there were before. */
static int fake_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	(void)rx;
	assert_int_equal(pkt->rkey, 5);
	assert_int_equal(pkt->addr % 8, 0);
	if (env.atomic_err)
		return env.atomic_err;
	*before = env.atomics++;
	return 0;
}

static int fake_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	(void)rx;
	assert_ptr_equal(reply_to, &env.node);
	assert_int_equal(pkt->payload_bytes, bytes);
	assert_int_equal(pkt->src_epoch, env.tab.epoch);
	assert_int_equal(pkt->dst_epoch, env.src_epoch);
	if (!env.lose_after)
		return -EAGAIN;
	env.lose_after--;
	assert_int_equal(rkey, pkt->op == VQP_OP_READ_RESP && !pkt->payload ? 5 : 0);
	assert_true(env.nanswers < ARRAY_SIZE(env.answers));
	env.addr[env.nanswers] = addr;
	if (pkt->payload)
		memcpy(env.found, pkt->payload, sizeof(env.found));
	env.answers[env.nanswers++] = *pkt;
	return 0;
}

static struct vqp_rx_held *fake_hold(const struct vqp_pkt *pkt)
{
	struct vqp_rx_held *held;

	if (env.hold_fails)
		return NULL;
	held = malloc(sizeof(*held) + pkt->payload_bytes);
	held->pkt = *pkt;
	held->pkt.payload = held + 1;
	memcpy(held + 1, pkt->payload, pkt->payload_bytes);
	env.held++;
	return held;
}

static void fake_drop(struct vqp_rx_held *held)
{
	env.dropped++;
	free(held);
}

static const struct vqp_rx_ops fake_ops = {
	.hash = fake_hash, .judge = fake_judge, .forget = fake_forget, .open = fake_open, .close = fake_close, .alive = fake_alive, .recv_begin = fake_recv_begin,
	.recv_data = fake_recv_data, .recv_end = fake_recv_end, .write = fake_write,
	.read_check = fake_read_check, .atomic = fake_atomic, .reply = fake_reply, .hold = fake_hold, .drop = fake_drop,
};

/* A new table: SLOTS contexts of it may be live. */
static void begin(u32 slots)
{
	vqp_rxtab_init(&env.tab, &fake_ops, env.slots, slots, SLOTS, env.buckets, ARRAY_SIZE(env.buckets),
		       PAYLOAD, EPOCH, LINGER, IDLE);
}

static int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	env.node = node_a;
	env.src_epoch = 3;
	env.now = 1000000;
	env.lose_after = ~0U;
	begin(SLOTS);
	return 0;
}

/* Whatever a test did: what was taken was given back. */
static int teardown(void **state)
{
	(void)state;
	vqp_rxtab_purge(&env.tab, NULL);
	assert_int_equal(env.opens, env.closes);
	assert_int_equal(env.begun, env.ended + env.broken);
	assert_int_equal(env.held, env.dropped);
	return 0;
}

static const u8 data[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM";

/* Is it of a flow of this lane? */
static bool arrive(struct vqp_pkt pkt)
{
	pkt.src_epoch = env.src_epoch;
	pkt.turn = env.turn;
	if (!pkt.dst_epoch)
		pkt.dst_epoch = EPOCH;
	if (!pkt.flow)
		pkt.flow = FLOW;
	if (pkt.flags & VQP_PKT_OPEN) {
		pkt.tenant = pkt.tenant ? : 1;
		pkt.src_qp = pkt.src_qp ? : 9;
		pkt.src_lanes = 1;
	}
	pkt.payload = data;
	return vqp_rxtab_input(&env.tab, env.node, &env.node, &pkt, env.now);
}

static void input(struct vqp_pkt pkt)
{
	assert_true(arrive(pkt));
}

/* Open the flow with an empty WRITE: PSN 0. */
static void open_flow(u32 flow)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_WRITE, .flags = WHOLE | VQP_PKT_OPEN, .flow = flow, .psn = PSN(0), .open_psn = PSN(0), .rkey = 5,
	});
}

static void send(u32 psn, u32 flags, u32 bytes)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | flags, .psn = psn, .open_psn = PSN(0),
		.msg_bytes = bytes, .payload_bytes = bytes,
	});
}

/* A SEND with an open header, stamped. */
static void open_at(u32 open_psn, u32 psn, u32 stamp)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .psn = psn, .open_psn = open_psn,
		.stamp = stamp,
	});
}

/* A part of a SEND of `total` bytes. */
static void send_part(u32 psn, u32 offset, u32 bytes, u32 total)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .psn = psn, .offset = offset, .payload_bytes = bytes, .msg_bytes = total,
		.flags = (offset ? 0 : VQP_PKT_FIRST) | (offset + bytes == total ? VQP_PKT_LAST | VQP_PKT_ACK_REQ : 0),
	});
}

static void write_part(u32 psn, u32 flags, u64 addr, u32 bytes)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_WRITE, .psn = psn, .flags = flags, .addr = addr, .rkey = 5, .payload_bytes = bytes,
	});
}

static void read_chunk(u32 psn, u32 offset, u32 bytes)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_READ, .psn = psn, .addr = 0x4000 + offset, .rkey = 5, .offset = offset, .msg_bytes = bytes,
	});
}

static void fetch_add(u32 psn)
{
	input((struct vqp_pkt) { .op = VQP_OP_FETCH_ADD, .psn = psn, .addr = 0x4000, .rkey = 5, .compare_add = 1 });
}

static const struct vqp_pkt *answer(void)
{
	assert_true(env.seen < env.nanswers);
	return &env.answers[env.seen++];
}

static void expect_silence(void)
{
	assert_int_equal(env.seen, env.nanswers);
}

static void expect_ack(u32 psn)
{
	const struct vqp_pkt *pkt = answer();

	assert_int_equal(pkt->op, VQP_OP_ACK);
	assert_int_equal(pkt->ack_psn, psn);
}

static const struct vqp_pkt *expect_nak(u8 nak)
{
	const struct vqp_pkt *pkt = answer();

	assert_int_equal(pkt->op, VQP_OP_NAK);
	assert_int_equal(pkt->nak, nak);
	return pkt;
}

static void expect_nak_at(u8 nak, u32 psn)
{
	assert_int_equal(expect_nak(nak)->ack_psn, psn);
}

/* An atomic was the n-th that was carried out. */
static void expect_found(u32 psn, u8 n)
{
	const struct vqp_pkt *pkt = answer();
	const u8 before[VQP_ATOMIC_BYTES] = { 0, 0, 0, 0, 0, 0, 0, n };

	assert_int_equal(pkt->op, VQP_OP_READ_RESP);
	assert_int_equal(pkt->psn, psn);
	assert_int_equal(pkt->offset, 0);
	assert_memory_equal(env.found, before, sizeof(before));
}

/* ---- Opening ---- */

static void an_open_packet_makes_a_context(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN | VQP_PKT_ACK_REQ, 10);
	assert_int_equal(env.opens, 1);
	assert_int_equal(env.tab.opened, 1);
	assert_int_equal(env.ended, 1);
	expect_ack(PSN(1));
}

static void answers_name_the_flow(void **state)
{
	const struct vqp_pkt *pkt;

	(void)state;
	send(PSN(0), VQP_PKT_OPEN | VQP_PKT_ACK_REQ, 10);
	pkt = answer();
	assert_int_equal(pkt->flow, FLOW);
	assert_int_equal(pkt->psn, PSN(0));
	assert_int_equal(pkt->flags, 0);
}

static void marked_packets_are_told_in_the_next_answer(void **state)
{
	struct vqp_pkt pkt = {
		.op = VQP_OP_WRITE, .flags = WHOLE | VQP_PKT_OPEN, .open_psn = PSN(0), .rkey = 5, .ce = true,
	};

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		pkt.psn = PSN(i);
		input(pkt);
	}
	expect_silence();
	pkt.ce = false;
	pkt.flags |= VQP_PKT_ACK_REQ;
	pkt.psn = PSN(3);
	input(pkt);
	assert_int_equal(answer()->marks, 3);
	pkt.psn = PSN(4);
	input(pkt);
	assert_int_equal(answer()->marks, 0);
}

static void a_second_packet_that_overtook_the_first_waits(void **state)
{
	(void)state;
	send(PSN(1), VQP_PKT_OPEN, 10);
	expect_nak_at(VQP_NAK_SEQ, PSN(0));
	assert_int_equal(env.ended, 0);
	send(PSN(0), VQP_PKT_OPEN, 20);
	assert_int_equal(env.ended, 2);
	assert_int_equal(env.ended_bytes, 10);
	expect_ack(PSN(2));
}

static void an_unknown_flow_must_open(void **state)
{
	(void)state;
	send(PSN(0), 0, 10);
	expect_nak(VQP_NAK_NO_FLOW);
	assert_int_equal(env.opens, 0);
}

static void nobody_has_the_address(void **state)
{
	(void)state;
	env.open_err = -ENOENT;
	for (u32 i = 0; i < 2 * SLOTS; i++) {
		send(PSN(0), VQP_PKT_OPEN, 10);
		expect_nak(VQP_NAK_NO_NS);
	}
	env.open_err = 0;
	send(PSN(0), VQP_PKT_OPEN | VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(1));
}

static void another_epoch_is_refused(void **state)
{
	(void)state;
	input((struct vqp_pkt) { .op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .dst_epoch = EPOCH + 1 });
	expect_nak(VQP_NAK_EPOCH);
	assert_int_equal(env.opens, 0);
}

static void opening_twice_is_one_context(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN, 10);
	send(PSN(1), VQP_PKT_OPEN, 10);
	assert_int_equal(env.opens, 1);
	assert_int_equal(env.ended, 2);
}

/* The flow's first packet but one, as if the flow was another's. */
static const struct vqp_pkt others[] = {
	{ .tenant = 2 }, { .src_qp = 8 }, { .dst_qp = 99 }, { .dst_port = 7 }, { .src_gid = { 1 } }, { .dst_gid = { 1 } },
};

static struct vqp_pkt of_another(u32 i)
{
	struct vqp_pkt pkt = others[i];

	pkt.op = VQP_OP_SEND;
	pkt.flags = WHOLE | VQP_PKT_OPEN;
	pkt.psn = PSN(1);
	pkt.open_psn = PSN(1);
	return pkt;
}

static void opening_a_flow_for_somebody_else_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
		input(of_another(i));
		expect_nak_at(VQP_NAK_OP, PSN(1));
	}
	send(PSN(1), VQP_PKT_ACK_REQ, 1);
	expect_ack(PSN(2));
}

static void a_node_opens_flows_in_no_other_nodes_name(void **state)
{
	struct vqp_pkt pkt = {
		.op = VQP_OP_WRITE, .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .flow = FLOW, .psn = PSN(0),
		.open_psn = PSN(0), .rkey = 5, .src_epoch = env.src_epoch, .dst_epoch = EPOCH, .src_lanes = 1, .payload = data,
	};

	(void)state;
	/* It comes from env.node. */
	memcpy(pkt.src_gid, node_b, sizeof(pkt.src_gid));
	assert_memory_not_equal(node_b, env.node, sizeof(pkt.src_gid));
	assert_false(vqp_rxtab_input(&env.tab, env.node, &env.node, &pkt, env.now));
	assert_int_equal(env.opens, 0);
	expect_silence();
	/* The address of a tenant's is a function's. */
	pkt.tenant = 1;
	assert_true(vqp_rxtab_input(&env.tab, env.node, &env.node, &pkt, env.now));
	assert_int_equal(env.opens, 1);
	expect_ack(PSN(1));
	/* and its own name it may say */
	pkt.tenant = 0;
	pkt.flow = FLOW + 1;
	memcpy(pkt.src_gid, env.node, sizeof(pkt.src_gid));
	assert_true(vqp_rxtab_input(&env.tab, env.node, &env.node, &pkt, env.now));
	assert_int_equal(env.opens, 2);
	expect_ack(PSN(1));
}

static void flows_of_two_nodes_are_apart(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN | VQP_PKT_ACK_REQ, 10);
	env.node = node_b;
	send(PSN(0), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(1));
	expect_nak(VQP_NAK_NO_FLOW);
}

static void flows_of_two_lives_of_a_node_are_apart(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (env.src_epoch = 4; env.src_epoch < 20; env.src_epoch++) {
		send(PSN(1), VQP_PKT_ACK_REQ, 10);
		expect_nak(VQP_NAK_NO_FLOW);
	}
	assert_int_equal(env.ended, 0);
}

static void answers_are_no_requests(void **state)
{
	const u8 ops[] = { 0, VQP_OP_READ_RESP, VQP_OP_ACK, VQP_OP_NAK, VQP_OP_MAX + 1, 255 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++)
		input((struct vqp_pkt) { .op = ops[i], .flags = WHOLE | VQP_PKT_OPEN });
	expect_silence();
	assert_int_equal(env.opens, 0);
}

/* ---- SEND ---- */

static void a_send_is_received(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(1), VQP_PKT_IMM | VQP_PKT_SOLICITED, 10);
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.ended_bytes, 10);
	assert_memory_equal(env.received, data, 10);
	assert_true(env.ended_pkt.flags & VQP_PKT_IMM);
}

static void an_empty_send_is_received(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(1), 0, 0);
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.ended_bytes, 0);
}

static void a_long_send_is_put_together(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	send_part(PSN(2), 60, 60, 150);
	assert_int_equal(env.ended, 0);
	send_part(PSN(3), 120, 30, 150);
	assert_int_equal(env.begun, 1);
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.ended_bytes, 150);
	assert_memory_equal(env.received + 120, data, 30);
	expect_ack(PSN(4));
}

static void no_receive_posted(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.begin_err = -EAGAIN;
	send(PSN(1), VQP_PKT_ACK_REQ, 10);
	assert_int_equal(expect_nak(VQP_NAK_RNR)->rnr_us, VQP_RX_RNR_US);
	assert_int_equal(env.answers[0].ack_psn, PSN(1));
	env.begin_err = 0;
	send(PSN(1), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(2));
	assert_int_equal(env.ended, 1);
}

static void what_follows_a_send_not_received_is_dropped_silently(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.begin_err = -EAGAIN;
	send(PSN(1), 0, 10);
	env.begin_err = 0;
	send(PSN(2), 0, 10);
	send(PSN(3), VQP_PKT_ACK_REQ, 10);
	expect_nak(VQP_NAK_RNR);
	expect_silence();
	assert_int_equal(env.ended, 0);
}

static void a_send_that_cannot_be_received_fails_the_flow(void **state)
{
	const struct { int err; u8 nak; } expect[] = {
		{ -ENOENT, VQP_NAK_INV_REQ }, { -EMSGSIZE, VQP_NAK_INV_REQ }, { -EIO, VQP_NAK_OP },
	};

	for (u32 i = 0; i < ARRAY_SIZE(expect); i++) {
		setup(state);
		open_flow(FLOW);
		env.begin_err = expect[i].err;
		send(PSN(1), 0, 10);
		expect_nak_at(expect[i].nak, PSN(1));
		env.begin_err = 0;
		send(PSN(1), 0, 10);
		send(PSN(2), 0, 10);
		expect_nak_at(expect[i].nak, PSN(1));
		expect_nak_at(expect[i].nak, PSN(1));
		assert_int_equal(env.begun, 0);
		teardown(state);
	}
	setup(state);
}

static void bad_receive_memory_gives_the_receive_back(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.data_err = -EFAULT;
	send(PSN(1), 0, 10);
	expect_nak_at(VQP_NAK_OP, PSN(1));
	assert_int_equal(env.broken, 1);
}

static void a_hole_in_a_message_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	send_part(PSN(2), 61, 60, 150);
	expect_nak_at(VQP_NAK_OP, PSN(2));
	assert_int_equal(env.broken, 1);
}

static void a_message_that_changes_its_length_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	send_part(PSN(2), 60, 60, 160);
	expect_nak_at(VQP_NAK_OP, PSN(2));
}

static void more_than_the_message_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .psn = PSN(2), .offset = 60, .payload_bytes = 91, .msg_bytes = 150, .flags = VQP_PKT_LAST,
	});
	expect_nak_at(VQP_NAK_OP, PSN(2));
	assert_int_equal(env.ended, 0);
}

static void a_message_in_a_message_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	send(PSN(2), 0, 10);
	expect_nak_at(VQP_NAK_OP, PSN(2));
}

static void a_write_or_read_in_a_send_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	write_part(PSN(2), 0, 0, 10);
	expect_nak_at(VQP_NAK_OP, PSN(2));
	teardown(state);
	setup(state);
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	read_chunk(PSN(2), 0, 10);
	expect_nak_at(VQP_NAK_OP, PSN(2));
	assert_int_equal(env.checks, 0);
}

static void a_message_without_a_start_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 60, 60, 150);
	expect_nak_at(VQP_NAK_OP, PSN(1));
	teardown(state);
	setup(state);
	open_flow(FLOW);
	write_part(PSN(1), VQP_PKT_LAST, 0, 10);
	expect_nak_at(VQP_NAK_OP, PSN(1));
	assert_int_equal(env.writes, 1);	/* the one that opened */
}

/* ---- WRITE ---- */

static void a_write_writes(void **state)
{
	(void)state;
	open_flow(FLOW);
	write_part(PSN(1), VQP_PKT_FIRST, 1000, 50);
	write_part(PSN(2), VQP_PKT_LAST | VQP_PKT_ACK_REQ, 1050, 20);
	expect_ack(PSN(3));
	assert_memory_equal(env.memory + 1000, data, 50);
	assert_memory_equal(env.memory + 1050, data, 20);
	assert_int_equal(env.begun, 0);
}

static void a_write_with_immediate_takes_a_receive(void **state)
{
	(void)state;
	open_flow(FLOW);
	write_part(PSN(1), VQP_PKT_FIRST, 1000, 50);
	assert_int_equal(env.begun, 0);
	write_part(PSN(2), VQP_PKT_LAST | VQP_PKT_IMM, 1050, 20);
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.ended_bytes, 70);
}

static void a_write_with_immediate_waits_for_a_receive(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.begin_err = -EAGAIN;
	write_part(PSN(1), VQP_PKT_FIRST, 1000, 50);
	write_part(PSN(2), VQP_PKT_LAST | VQP_PKT_IMM, 1050, 20);
	expect_nak_at(VQP_NAK_RNR, PSN(2));
	env.begin_err = 0;
	write_part(PSN(2), VQP_PKT_LAST | VQP_PKT_IMM | VQP_PKT_ACK_REQ, 1050, 20);
	expect_ack(PSN(3));
	assert_int_equal(env.ended_bytes, 70);
}

static void a_bad_key_fails_the_flow(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.write_err = -EACCES;
	write_part(PSN(1), WHOLE, 1000, 50);
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	env.write_err = 0;
	write_part(PSN(2), WHOLE, 1000, 50);
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	assert_int_equal(env.writes, 1);
}

static void a_write_around_the_end_of_memory_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	write_part(PSN(1), WHOLE, ~0ULL - 10, 50);
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	assert_int_equal(env.writes, 1);
}

static void a_write_of_more_than_a_message_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	write_part(PSN(1), VQP_PKT_FIRST, 1000, 50);
	env.slots[0].msg_done = VQP_WIRE_MSG_MAX - 50;
	write_part(PSN(2), 0, 1050, 50);
	assert_int_equal(env.writes, 3);
	write_part(PSN(3), 0, 1100, 1);
	expect_nak_at(VQP_NAK_OP, PSN(3));
	assert_int_equal(env.writes, 3);
}

static void a_refused_write_takes_no_receive(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.write_err = -EACCES;
	write_part(PSN(1), WHOLE | VQP_PKT_IMM, 1000, 50);
	expect_nak(VQP_NAK_ACCESS);
	assert_int_equal(env.begun, 0);
}

/* ---- READ ---- */

static void a_read_is_answered_packet_by_packet(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 0, 250);
	for (u32 i = 0; i < 3; i++) {
		const struct vqp_pkt *pkt = answer();

		assert_int_equal(pkt->op, VQP_OP_READ_RESP);
		assert_int_equal(pkt->psn, PSN(1));
		assert_int_equal(pkt->offset, i * PAYLOAD);
		assert_int_equal(pkt->payload_bytes, i < 2 ? PAYLOAD : 50);
		assert_int_equal(env.addr[i], 0x4000 + i * PAYLOAD);
	}
	expect_silence();
}

static void an_empty_read_is_answered_unchecked(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.check_err = -EACCES;
	read_chunk(PSN(1), 0, 0);
	assert_int_equal(answer()->op, VQP_OP_READ_RESP);
	expect_silence();
}

static void a_part_of_a_chunk_keeps_its_offsets(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 300, 150);
	assert_int_equal(answer()->offset, 300);
	assert_int_equal(answer()->offset, 400);
	assert_int_equal(env.addr[1], 0x4000 + 400);
	expect_silence();
}

static void a_read_of_more_than_a_chunk_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 0, CHUNK + 1);
	expect_nak_at(VQP_NAK_OP, PSN(1));
	teardown(state);
	setup(state);
	open_flow(FLOW);
	read_chunk(PSN(1), 100, CHUNK - 99);
	expect_nak_at(VQP_NAK_OP, PSN(1));
	teardown(state);
	setup(state);
	open_flow(FLOW);
	read_chunk(PSN(1), ~0U, 2);
	expect_nak_at(VQP_NAK_OP, PSN(1));
}

static void a_read_of_a_bad_key_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.check_err = -EACCES;
	read_chunk(PSN(1), 0, 10);
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	expect_silence();
}

static void a_read_around_the_end_of_memory_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	input((struct vqp_pkt) { .op = VQP_OP_READ, .psn = PSN(1), .addr = ~0ULL, .rkey = 5, .msg_bytes = 10 });
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	assert_int_equal(env.checks, 0);
}

static void a_response_that_cannot_be_sent_ends_the_chunk(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.lose_after = 2;
	read_chunk(PSN(1), 0, CHUNK);
	assert_int_equal(env.nanswers, 2);
	env.lose_after = ~0U;
	read_chunk(PSN(1), 200, CHUNK - 200);
	assert_int_equal(env.nanswers, VQP_READ_CHUNK_PACKETS);
}

/* ---- Order ---- */

static void a_duplicate_is_acknowledged_not_executed(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(1), 0, 10);
	send(PSN(1), 0, 10);
	expect_ack(PSN(2));
	assert_int_equal(env.ended, 1);
}

static void a_duplicate_read_is_checked_and_answered_again(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 0, 10);
	read_chunk(PSN(1), 0, 10);
	assert_int_equal(env.nanswers, 2);
	assert_int_equal(env.checks, 2);
}

static void a_late_read_of_a_key_now_gone_does_not_fail_the_flow(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 0, 10);
	answer();
	env.check_err = -EACCES;
	read_chunk(PSN(1), 0, 10);
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	send(PSN(2), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(3));
}

/* ---- Atomics ---- */

static void an_atomic_is_answered_with_what_was_there(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(1));
	expect_found(PSN(1), 0);
	fetch_add(PSN(2));
	expect_found(PSN(2), 1);
	input((struct vqp_pkt) { .op = VQP_OP_CMP_SWP, .psn = PSN(3), .addr = 0x4000, .rkey = 5 });
	expect_found(PSN(3), 2);
	expect_silence();
}

static void an_atomic_is_carried_out_once(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(1));
	fetch_add(PSN(2));
	env.seen = 2;
	fetch_add(PSN(1));
	expect_found(PSN(1), 0);
	fetch_add(PSN(2));
	expect_found(PSN(2), 1);
	assert_int_equal(env.atomics, 2);
}

static void the_last_atomics_are_remembered(void **state)
{
	const u32 n = VQP_READ_CHUNKS + 3;

	(void)state;
	open_flow(FLOW);
	for (u32 i = 1; i <= n; i++)
		fetch_add(PSN(i));
	env.seen = n;
	for (u32 i = n - VQP_READ_CHUNKS + 1; i <= n; i++) {
		fetch_add(PSN(i));
		expect_found(PSN(i), i - 1);
	}
	/* whose initiator has long known the answer, or it would not have sent the last */
	fetch_add(PSN(n - VQP_READ_CHUNKS));
	expect_nak_at(VQP_NAK_OP, PSN(n - VQP_READ_CHUNKS));
	expect_silence();
	assert_int_equal(env.atomics, n);
}

static void the_latest_atomic_of_a_psn_is_told(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(1));
	env.slots[0].psn = PSN(1);	/* 2^32 packets later */
	fetch_add(PSN(1));
	env.seen = 1;
	expect_found(PSN(1), 1);
	fetch_add(PSN(1));
	expect_found(PSN(1), 1);
}

static void what_an_atomic_found_survives_a_close(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(1));
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .psn = PSN(2) });
	env.seen = env.nanswers;
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .psn = PSN(2), .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .open_psn = PSN(2),
	});
	expect_ack(PSN(3));
	fetch_add(PSN(1));
	expect_found(PSN(1), 0);
}

static void a_new_context_remembers_no_atomics(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(1));
	vqp_rxtab_purge(&env.tab, NULL);
	env.seen = env.nanswers;
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .psn = PSN(2), .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .open_psn = PSN(2),
	});
	expect_ack(PSN(3));
	fetch_add(PSN(1));
	expect_nak_at(VQP_NAK_OP, PSN(1));
	assert_int_equal(env.atomics, 1);
	send(PSN(3), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(4));
}

static void an_atomic_across_words_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	input((struct vqp_pkt) { .op = VQP_OP_FETCH_ADD, .psn = PSN(1), .addr = 0x4004, .rkey = 5 });
	expect_nak_at(VQP_NAK_INV_REQ, PSN(1));
	assert_int_equal(env.atomics, 0);
}

static void an_atomic_with_a_bad_key_is_refused(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.atomic_err = -EACCES;
	fetch_add(PSN(1));
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	env.atomic_err = 0;
	fetch_add(PSN(2));
	expect_nak_at(VQP_NAK_ACCESS, PSN(1));
	assert_int_equal(env.atomics, 0);
}

static void an_atomic_in_a_message_is_a_violation(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 10, 20);
	fetch_add(PSN(2));
	expect_nak_at(VQP_NAK_OP, PSN(2));
	assert_int_equal(env.atomics, 0);
}

static void an_atomic_behind_a_gap_waits(void **state)
{
	(void)state;
	open_flow(FLOW);
	fetch_add(PSN(2));
	expect_nak_at(VQP_NAK_SEQ, PSN(1));
	assert_int_equal(env.atomics, 0);
	fetch_add(PSN(1));
	expect_found(PSN(1), 1);	/* the latest answer is that of the other */
	assert_int_equal(answer()->psn, PSN(2));
	assert_int_equal(env.atomics, 2);
}

static void a_gap_is_reported_once(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(3), 0, 10);
	expect_nak_at(VQP_NAK_SEQ, PSN(1));
	expect_silence();
	assert_int_equal(env.ended, 0);
}

/* A NAK that names exactly the packets PSN(n) with bit n of `named`. */
static void expect_gap(u32 psn, u64 named)
{
	const struct vqp_pkt *pkt = answer();

	assert_int_equal(pkt->op, VQP_OP_NAK);
	assert_int_equal(pkt->nak, VQP_NAK_SEQ);
	assert_int_equal(pkt->ack_psn, psn);
	assert_int_equal(pkt->held.words[0] << (psn - FIRST_PSN), named);
	assert_int_equal(pkt->held.words[1], 0);
}

static void what_is_behind_a_gap_follows_when_it_is_filled(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(4), 0, 40);
	send(PSN(2), 0, 20);
	send(PSN(3), 0, 30);
	assert_int_equal(env.ended, 0);
	send(PSN(1), 0, 10);
	assert_int_equal(env.ended, 4);
	assert_int_equal(env.ended_bytes, 40);
	expect_gap(PSN(1), 1 << 4);
	expect_ack(PSN(5));
	expect_silence();
}

static void a_message_is_put_together_across_a_gap(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 100, 250);
	send_part(PSN(3), 200, 50, 250);
	expect_gap(PSN(2), 1 << 3);
	send_part(PSN(2), 100, 100, 250);
	assert_int_equal(env.ended_bytes, 250);
	/* the last packet asks for it */
	expect_ack(PSN(4));
	expect_silence();
}

static void reads_behind_a_gap_are_answered_in_their_turn(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(2), 0, 10);
	expect_gap(PSN(1), 1 << 2);
	env.turn = 7;
	send(PSN(1), 0, 10);
	assert_int_equal(answer()->op, VQP_OP_READ_RESP);
	assert_int_equal(env.answers[env.seen - 1].psn, PSN(2));
	assert_int_equal(env.answers[env.seen - 1].turn, 0);
	expect_silence();
}

static void a_gap_behind_a_gap_is_told_at_once(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(3), 0, 10);
	send(PSN(5), 0, 10);
	send(PSN(6), 0, 10);
	/* late, not lost */
	send(PSN(4), 0, 10);
	send(PSN(8), 0, 10);
	expect_gap(PSN(1), 1 << 2);
	expect_gap(PSN(1), 1 << 2 | 1 << 3 | 1 << 5);
	expect_gap(PSN(1), 0x1f << 2 | 1 << 8);
	expect_silence();
	send(PSN(1), 0, 10);
	expect_gap(PSN(7), 1 << 8);
	expect_silence();
}

static void who_asks_behind_a_gap_is_told(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(3), VQP_PKT_ACK_REQ, 10);
	expect_gap(PSN(1), 1 << 2);
	expect_gap(PSN(1), 1 << 2 | 1 << 3);
	expect_silence();
}

static void what_is_held_is_told_now_and_then(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 2; i < 3 + 2 * VQP_RX_ACK_EVERY; i++)
		send(PSN(i), 0, 1);
	for (u32 i = 0; i < 3; i++)
		expect_gap(PSN(1), ((1ULL << (i * VQP_RX_ACK_EVERY + 1)) - 1) << 2);
	expect_silence();
}

static void what_is_held_already_is_not_held_again(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 0; i < 3 * VQP_RX_ACK_EVERY; i++)
		send(PSN(2), 0, 10);
	assert_int_equal(env.held, 1);
	expect_gap(PSN(1), 1 << 2);
	expect_silence();
}

static void what_is_too_far_ahead_is_not_held(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(1 + VQP_MASK_BITS), 0, 10);
	assert_int_equal(env.held, 0);
	expect_gap(PSN(1), 0);
	send(PSN(VQP_MASK_BITS), 0, 10);
	assert_int_equal(env.held, 1);
	assert_int_equal(answer()->held.words[1], 1ULL << 63);
	/* a later gap is told, too: nothing before it is held */
	expect_silence();
}

static void without_memory_nothing_is_held(void **state)
{
	(void)state;
	env.hold_fails = true;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(3), 0, 10);
	expect_gap(PSN(1), 0);
	expect_silence();
	send(PSN(1), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(2));
	assert_int_equal(env.ended, 1);
}

static void a_refused_packet_ends_what_is_held_behind_it(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(2), 100, 50, 150);
	send(PSN(3), 0, 10);
	send(PSN(4), 0, 10);
	send(PSN(1), 0, 10);
	expect_gap(PSN(1), 1 << 2);
	expect_nak_at(VQP_NAK_OP, PSN(2));
	expect_silence();
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.dropped, 3);
}

/* It may wait for ever: its sender is told when to send all of it again. */
static void what_waits_for_a_receive_is_not_held(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(3), 0, 10);
	expect_gap(PSN(1), 1 << 2);
	env.begin_err = -EAGAIN;
	write_part(PSN(1), WHOLE, 0, 10);
	expect_nak_at(VQP_NAK_RNR, PSN(2));
	assert_int_equal(env.ended, 0);
	assert_int_equal(env.dropped, 2);
	env.begin_err = 0;
	env.turn++;
	send(PSN(2), VQP_PKT_ACK_REQ, 10);
	assert_int_equal(env.ended, 1);
	expect_ack(PSN(3));
	expect_silence();
}

static void a_longer_gap_that_is_filled_is_answered_once(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(5), 0, 10);
	expect_gap(PSN(1), 1 << 5);
	env.turn++;
	for (u32 i = 1; i < 4; i++)
		send(PSN(i), 0, 10);
	expect_silence();
	send(PSN(4), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(6));
	expect_silence();
}

static void who_goes_on_after_a_pause_is_told_of_gaps(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.begin_err = -EAGAIN;
	send(PSN(1), 0, 10);
	expect_nak_at(VQP_NAK_RNR, PSN(1));
	env.begin_err = 0;
	env.turn++;
	send(PSN(3), 0, 10);
	send(PSN(4), VQP_PKT_ACK_REQ, 10);
	expect_gap(PSN(1), 1 << 3);
	expect_gap(PSN(1), 1 << 3 | 1 << 4);
	expect_silence();
}

static void what_is_held_goes_with_its_flow(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .psn = PSN(3) });
	assert_int_equal(env.dropped, 1);
	open_flow(FLOW + 1);
	input((struct vqp_pkt) { .op = VQP_OP_SEND, .flow = FLOW + 1, .flags = WHOLE, .psn = PSN(2) });
	vqp_rxtab_purge(&env.tab, &ns);
	assert_int_equal(env.dropped, 2);
}

static void each_gap_is_reported(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(2), 0, 10);
	send(PSN(1), 0, 10);
	send(PSN(4), 0, 10);
	expect_nak_at(VQP_NAK_SEQ, PSN(1));
	expect_ack(PSN(3));
	expect_nak_at(VQP_NAK_SEQ, PSN(3));
	expect_silence();
}

static void a_gap_is_reported_again_when_the_initiator_went_back(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (env.turn = 0xffff; env.turn != 2; env.turn++)
		for (u32 i = 2; i < 6; i++)
			send(PSN(i), 0, 10);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(env.answers[env.seen].turn, (u16)(0xffff + i));
		expect_nak_at(VQP_NAK_SEQ, PSN(1));
	}
	expect_silence();
}

static void acks_come_every_so_many_packets(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 1; i < 2 * VQP_RX_ACK_EVERY; i++)
		send(PSN(i), 0, 1);
	expect_ack(PSN(VQP_RX_ACK_EVERY));
	expect_ack(PSN(2 * VQP_RX_ACK_EVERY));
	expect_silence();
}

static void an_answered_read_counts_as_an_ack(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 1; i < VQP_RX_ACK_EVERY - 1; i++)
		send(PSN(i), 0, 1);
	read_chunk(PSN(VQP_RX_ACK_EVERY - 1), 0, 10);
	send(PSN(VQP_RX_ACK_EVERY), 0, 1);
	assert_int_equal(answer()->op, VQP_OP_READ_RESP);
	expect_silence();
}

static void a_failed_flow_still_answers_earlier_reads(void **state)
{
	(void)state;
	open_flow(FLOW);
	read_chunk(PSN(1), 0, 10);
	answer();
	env.write_err = -EACCES;
	write_part(PSN(2), WHOLE, 0, 10);
	expect_nak_at(VQP_NAK_ACCESS, PSN(2));
	read_chunk(PSN(1), 0, 10);
	assert_int_equal(answer()->op, VQP_OP_READ_RESP);
}

/* ---- The life of contexts ---- */

static void close_at(u32 flow, u32 psn)
{
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .flow = flow, .psn = psn });
}

static void close_pkt(u32 flow)
{
	close_at(flow, PSN(100));
}

static void closing_lets_go_of_the_namespace(void **state)
{
	(void)state;
	open_flow(FLOW);
	close_pkt(FLOW);
	assert_int_equal(env.closes, 1);
	expect_silence();
}

static void closing_breaks_a_message_off(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	close_pkt(FLOW);
	assert_int_equal(env.broken, 1);
}

static void closing_what_is_not_open_is_ignored(void **state)
{
	(void)state;
	close_pkt(FLOW);
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .dst_epoch = EPOCH + 1 });
	open_flow(FLOW);
	close_pkt(FLOW);
	close_pkt(FLOW);
	expect_silence();
	assert_int_equal(env.closes, 1);
}

static void a_late_packet_of_a_closed_flow_is_recognized(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN, 10);
	close_pkt(FLOW);
	send(PSN(0), VQP_PKT_OPEN, 10);
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.opens, 1);
	expect_silence();
}

static void a_closed_flow_goes_on_where_it_was(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN, 10);
	close_at(FLOW, PSN(1));
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .flow = FLOW,
		.psn = PSN(1), .open_psn = PSN(1), .msg_bytes = 10, .payload_bytes = 10,
	});
	expect_ack(PSN(2));
	assert_int_equal(env.ended, 2);
	assert_int_equal(env.opens, 2);
	/* of before the pause */
	send(PSN(0), VQP_PKT_OPEN, 10);
	assert_int_equal(env.ended, 2);
}

static void a_closed_flow_goes_on_for_nobody_else(void **state)
{
	(void)state;
	open_flow(FLOW);
	close_at(FLOW, PSN(1));
	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		input(of_another(i));
	expect_silence();
	assert_int_equal(env.opens, 1);
	assert_int_equal(env.ended, 0);
}

static void a_closed_flow_whose_target_moved_is_told(void **state)
{
	(void)state;
	open_flow(FLOW);
	close_at(FLOW, PSN(1));
	env.open_err = -ENOENT;
	send(PSN(1), VQP_PKT_OPEN, 10);
	expect_silence();	/* it is of before the pause: open_psn is */
	input((struct vqp_pkt) { .op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .psn = PSN(1), .open_psn = PSN(1) });
	expect_nak(VQP_NAK_NO_NS);
	assert_int_equal(env.ended, 0);
}

static void a_close_that_was_overtaken_is_ignored(void **state)
{
	(void)state;
	send(PSN(0), VQP_PKT_OPEN, 10);
	send(PSN(1), VQP_PKT_OPEN, 10);
	close_at(FLOW, PSN(1));
	assert_int_equal(env.closes, 0);
	send(PSN(2), 0, 10);
	assert_int_equal(env.ended, 3);
}

/* Nothing of it was carried out yet, so that the CLOSE cannot be told from one of now. */
static void a_flow_that_a_late_close_closed_is_told(void **state)
{
	const struct vqp_pkt again = {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .psn = PSN(1), .open_psn = PSN(1),
	};

	(void)state;
	send(PSN(0), VQP_PKT_OPEN, 10);
	close_at(FLOW, PSN(1));
	env.begin_err = -EAGAIN;
	input(again);
	expect_nak(VQP_NAK_RNR);
	close_at(FLOW, PSN(1));
	env.begin_err = 0;
	send(PSN(1), 0, 10);
	expect_nak_at(VQP_NAK_CLOSED, PSN(1));
	input(again);
	assert_int_equal(env.ended, 2);
	/* of before the pause */
	send(PSN(0), 0, 10);
	assert_int_equal(env.ended, 2);
}

static void closed_contexts_linger(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++) {
		open_flow(FLOW + i);
		close_pkt(FLOW + i);
	}
	/* One that is open and abandoned is older, and costs nobody a challenge. */
	open_flow(FLOW);
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .psn = PSN(1), .open_psn = PSN(1),
	});
	env.now += IDLE;
	for (u32 i = 1; i < SLOTS; i++)
		input((struct vqp_pkt) { .op = VQP_OP_SEND, .flow = FLOW + i, .flags = WHOLE, .psn = PSN(0) });
	env.now += LINGER - 1;
	open_flow(FLOW + SLOTS);
	expect_silence();
	assert_int_equal(env.tab.reused, 1);
	assert_int_equal(env.forgotten, 1);
}

/* A flow that opens is not told to wait because others have closed. */
static void closed_contexts_are_reused_early_if_they_must(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++) {
		open_flow(FLOW + i);
		close_pkt(FLOW + i);
	}
	open_flow(FLOW + SLOTS);
	expect_silence();
	assert_int_equal(env.opens, SLOTS + 1);
	assert_int_equal(env.forgotten, 1);
	assert_int_equal(env.tab.busy, 0);
	assert_int_equal(env.tab.reused, 0);
	/* It was the oldest one. */
	open_at(PSN(1), PSN(1), 0);
	assert_int_equal(env.judged, SLOTS + 2);
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flow = FLOW + SLOTS - 1, .flags = WHOLE | VQP_PKT_OPEN, .psn = PSN(1), .open_psn = PSN(1),
	});
	assert_int_equal(env.judged, SLOTS + 2);
}

static void the_oldest_closed_context_is_reused_first(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++) {
		open_flow(FLOW + i);
		env.now += LINGER;
	}
	for (u32 i = 0; i < SLOTS; i++) {
		close_pkt(FLOW + i);
		env.now += LINGER;
	}
	/* a late packet makes the oldest the youngest */
	open_flow(FLOW);
	env.now += LINGER;
	open_flow(FLOW + SLOTS);
	open_flow(FLOW);
	assert_int_equal(env.opens, SLOTS + 1);
	open_flow(FLOW + 1);
	assert_int_equal(env.opens, SLOTS + 2);
}

static void open_contexts_are_not_taken_from_the_active(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE - 1;
	open_flow(FLOW + SLOTS);
	expect_nak(VQP_NAK_BUSY);
	assert_int_equal(env.closes, 0);
}

static void an_idle_context_is_reused_when_none_is_free(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE / 2;
	write_part(PSN(1), WHOLE, 0, 1);	/* FLOW is active */
	env.now += IDLE / 2;
	open_flow(FLOW + SLOTS);
	expect_silence();
	assert_int_equal(env.tab.reused, 1);
	assert_int_equal(env.closes, 1);
	write_part(PSN(2), WHOLE | VQP_PKT_ACK_REQ, 0, 1);
	expect_ack(PSN(3));
	input((struct vqp_pkt) { .op = VQP_OP_WRITE, .flow = FLOW + 1, .flags = WHOLE, .psn = PSN(1), .rkey = 5 });
	expect_nak(VQP_NAK_NO_FLOW);
}

static void reusing_breaks_a_dead_initiators_message_off(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	for (u32 i = 1; i < SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE;
	open_flow(FLOW + SLOTS);
	assert_int_equal(env.broken, 1);
	expect_silence();
}

static void a_closed_context_is_reused_before_an_idle_one(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE;
	close_pkt(FLOW + 2);
	env.now += LINGER;
	open_flow(FLOW + SLOTS);
	assert_int_equal(env.tab.reused, 0);
}

static void a_dead_namespace_is_told_and_let_go(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	env.dead = true;
	send_part(PSN(2), 60, 60, 150);
	expect_nak(VQP_NAK_NO_NS);
	assert_int_equal(env.broken, 1);
	assert_int_equal(env.closes, 1);
	env.dead = false;
	send_part(PSN(2), 60, 60, 150);
	expect_nak(VQP_NAK_NO_FLOW);
}

static void closing_in_a_dead_namespace_is_silent(void **state)
{
	(void)state;
	open_flow(FLOW);
	env.dead = true;
	close_at(FLOW, PSN(1));
	assert_int_equal(env.closes, 1);
	expect_silence();
}

static bool match_all(const struct vqp_rx *rx, void *arg)
{
	++*(u32 *)arg;
	assert_non_null(rx->recv);
	return true;
}

static bool match_flow(const struct vqp_rx *rx, void *arg)
{
	return rx->flow == *(u32 *)arg;
}

static void a_message_whose_receive_goes_is_refused(void **state)
{
	u32 flow = FLOW;

	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	vqp_rxtab_break(&env.tab, match_flow, &flow);
	assert_int_equal(env.broken, 1);
	send_part(PSN(2), 60, 60, 150);
	expect_nak_at(VQP_NAK_INV_REQ, PSN(2));
	assert_int_equal(env.closes, 0);
}

static void a_message_whose_receive_stays_goes_on(void **state)
{
	u32 flow = FLOW + 1;

	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 120);
	vqp_rxtab_break(&env.tab, match_flow, &flow);
	assert_int_equal(env.broken, 0);
	send_part(PSN(2), 60, 60, 120);
	expect_ack(PSN(3));
	assert_int_equal(env.ended, 1);
}

static void only_messages_in_progress_have_a_receive(void **state)
{
	u32 asked = 0;

	(void)state;
	open_flow(FLOW);
	send(PSN(1), 0, 10);
	open_flow(FLOW + 1);
	close_pkt(FLOW + 1);
	vqp_rxtab_break(&env.tab, match_all, &asked);
	assert_int_equal(asked, 0);
	send(PSN(2), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(3));
}

static void what_vanished_initiators_hold_is_given_back(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	env.now += IDLE / 2;
	open_flow(FLOW + 1);
	env.now += IDLE / 2 - 1;
	vqp_rxtab_expire(&env.tab, env.now);
	assert_int_equal(env.closes, 0);
	env.now += 1;
	vqp_rxtab_expire(&env.tab, env.now);
	assert_int_equal(env.closes, 1);
	assert_int_equal(env.broken, 1);
	send(PSN(2), 0, 10);
	expect_nak(VQP_NAK_NO_FLOW);
}

static void purging_lets_go_of_a_namespace(void **state)
{
	int other;

	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	open_flow(FLOW + 1);
	vqp_rxtab_purge(&env.tab, &other);
	assert_int_equal(env.closes, 0);
	vqp_rxtab_purge(&env.tab, &ns);
	assert_int_equal(env.closes, 2);
	assert_int_equal(env.broken, 1);
	send(PSN(2), 0, 10);
	expect_nak(VQP_NAK_NO_FLOW);
}

static void a_flow_whose_namespace_goes_knows_how_far_it_got(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(1), 0, 10);
	vqp_rxtab_purge(&env.tab, &ns);
	assert_int_equal(env.closes, 1);
	env.open_err = -ENOENT;
	send(PSN(1), 0, 10);
	expect_silence();
	send(PSN(2), 0, 10);
	expect_nak_at(VQP_NAK_CLOSED, PSN(2));
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .psn = PSN(2), .open_psn = PSN(2),
	});
	expect_nak(VQP_NAK_NO_NS);
	assert_int_equal(env.ended, 1);
	/* All is let go of at the end. */
	vqp_rxtab_purge(&env.tab, NULL);
	assert_int_equal(env.closes, 1);
}

static void a_forgotten_flow_is_taken_up_where_it_says(void **state)
{
	(void)state;
	open_flow(FLOW);
	vqp_rxtab_purge(&env.tab, &ns);
	input((struct vqp_pkt) {
		.op = VQP_OP_READ, .flags = VQP_PKT_OPEN, .psn = PSN(7), .open_psn = PSN(9), .rkey = 5, .msg_bytes = 10,
	});
	assert_int_equal(answer()->op, VQP_OP_READ_RESP);
	send(PSN(9), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(10));
}

static void any_number_of_flows_uses_the_same_contexts(void **state)
{
	(void)state;
	for (u32 i = 0; i < 1000; i++) {
		open_flow(FLOW + i);
		close_pkt(FLOW + i);
		env.now += LINGER;
	}
	expect_silence();
	assert_int_equal(env.opens, 1000);
	assert_int_equal(env.closes, 1000);
}

/* Packets as a hostile or broken node could make them, valid or not, near enough to the truth to get far. */
static struct vqp_pkt random_packet(u64 *rng)
{
	const struct vqp_rx *rx = &env.slots[unit_random(rng) % SLOTS];
	const u64 r = unit_random(rng);
	struct vqp_pkt pkt = {
		.op = rx->msg_op ? rx->msg_op : VQP_OP_SEND + r % 2, .rkey = 5, .addr = r >> 16 & 0xfff,
		.flags = r >> 8 & (VQP_PKT_OPEN | VQP_PKT_IMM | VQP_PKT_ACK_REQ),
		.flow = rx->flow, .psn = rx->psn, .open_psn = rx->psn - (r >> 28) % 2,
		.msg_bytes = (r >> 32) % 200,
	};
	u32 rest;

	if (rx->msg_op) {
		pkt.msg_bytes = rx->msg_bytes;
		pkt.offset = rx->msg_done;
	} else {
		pkt.flags |= VQP_PKT_FIRST;
	}
	rest = pkt.msg_bytes - pkt.offset;
	pkt.payload_bytes = rest > 80 ? 80 : rest;
	if (pkt.payload_bytes == rest)
		pkt.flags |= VQP_PKT_LAST;
	if (rx->state == VQP_RX_FREE || rx->state == VQP_RX_FAILED)
		pkt.flow = FLOW + unit_random(rng) % 64;
	switch (r >> 48 & 63) {
	case 0:
		pkt.op = unit_random(rng) % (VQP_OP_MAX + 2);
		break;
	case 1:
		pkt.psn += unit_random(rng) % 5 - 2;
		break;
	case 2:
		pkt.offset = unit_random(rng) % 200;
		break;
	case 3:
		pkt.offset = unit_random(rng);
		break;
	case 4:
		pkt.msg_bytes = unit_random(rng) % 8192;
		break;
	case 5:
		pkt.flags ^= unit_random(rng) & VQP_PKT_FLAGS_ALL;
		break;
	}
	return pkt;
}

static void any_packet_is_safe(void **state)
{
	u64 rng = 5;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		env.begin_err = unit_random(&rng) % 4 ? 0 : -EAGAIN;
		env.write_err = unit_random(&rng) % 32 ? 0 : -EACCES;
		env.check_err = env.write_err;
		env.nanswers = 0;
		env.now += unit_random(&rng) % 100;
		if (unit_random(&rng) % 20 == 0)
			env.now += IDLE;
		input(random_packet(&rng));
	}
	assert_true(env.ended > 1000 && env.broken > 100 && env.opens > 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- Late copies ---- */

static const struct vqp_pkt *expect_challenge(void)
{
	const struct vqp_pkt *pkt = expect_nak(VQP_NAK_STALE);

	assert_int_equal(pkt->echo, env.echo);
	return pkt;
}

static void a_copy_of_a_forgotten_flow_is_challenged(void **state)
{
	(void)state;
	open_at(PSN(0), PSN(0), 7);
	expect_ack(PSN(1));
	close_at(FLOW, PSN(1));
	env.now += LINGER;
	for (u32 i = 1; i <= SLOTS; i++)
		open_flow(FLOW + i);
	assert_int_equal(env.forgotten, 1);
	assert_int_equal(env.forgotten_stamp, 7);
	env.echo = 5;
	open_at(PSN(0), PSN(0), 7);
	expect_challenge();
	expect_silence();
	assert_int_equal(env.ended, 1);
	assert_int_equal(env.opens, 1 + SLOTS);
	assert_int_equal(env.tab.stale, 1);
}

static void a_challenge_names_the_packet(void **state)
{
	const struct vqp_pkt *pkt;

	(void)state;
	env.echo = 5;
	env.turn = 3;
	open_at(PSN(4), PSN(6), 7);
	pkt = expect_challenge();
	assert_int_equal(pkt->psn, PSN(6));
	assert_int_equal(pkt->turn, 3);
	assert_int_equal(pkt->flow, FLOW);
	env.echo = 0;
	open_at(PSN(4), PSN(4), 7);
	expect_ack(PSN(5));
}

/* A copy takes no context from anybody, and learns of no namespace. */
static void a_copy_costs_nobody_a_context(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++)
		open_flow(FLOW + i);
	close_pkt(FLOW + 1);
	env.now += LINGER;
	env.echo = 5;
	env.open_err = -ENOENT;
	input((struct vqp_pkt) {
		.op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN, .flow = FLOW + SLOTS, .psn = PSN(0), .open_psn = PSN(0),
	});
	expect_challenge();
	assert_int_equal(env.forgotten, 0);
	assert_int_equal(env.tab.busy, 0);
}

static void a_context_needs_no_clock(void **state)
{
	(void)state;
	open_at(PSN(0), PSN(0), 7);
	expect_ack(PSN(1));
	assert_int_equal(env.judged, 1);
	env.echo = 5;
	/* duplicates, and what follows; the end of the flow, and where it goes on */
	open_at(PSN(0), PSN(0), 7);
	expect_ack(PSN(1));
	open_at(PSN(0), PSN(1), 8);
	expect_ack(PSN(2));
	close_at(FLOW, PSN(2));
	open_at(PSN(0), PSN(1), 8);
	expect_silence();
	env.turn++;
	open_at(PSN(2), PSN(2), 9);
	expect_ack(PSN(3));
	assert_int_equal(env.judged, 1);
}

static void a_closed_flow_goes_on_later_only_if_it_is_no_copy(void **state)
{
	(void)state;
	open_flow(FLOW);
	close_at(FLOW, PSN(1));
	env.echo = 5;
	open_at(PSN(3), PSN(3), 7);
	expect_challenge();
	assert_int_equal(env.opens, 1);
	env.echo = 0;
	open_at(PSN(3), PSN(3), 7);
	expect_ack(PSN(4));
}

static void an_open_flow_goes_on_later_only_if_it_is_no_copy(void **state)
{
	(void)state;
	open_flow(FLOW);
	send(PSN(3), 0, 10);
	env.seen = env.nanswers;
	env.echo = 5;
	open_at(PSN(4), PSN(4), 7);
	expect_challenge();
	send(PSN(1), VQP_PKT_ACK_REQ, 10);
	assert_int_equal(env.ended, 1);
	env.echo = 0;
	env.seen = env.nanswers;
	open_at(PSN(4), PSN(4), 7);
	expect_ack(PSN(5));
	assert_int_equal(env.dropped, 1);
	assert_int_equal(env.ended, 2);
}

/* What it had begun, the flow has had done elsewhere, or does not need any more. */
static void a_flow_that_goes_on_later_breaks_off_its_message(void **state)
{
	(void)state;
	open_flow(FLOW);
	send_part(PSN(1), 0, 60, 150);
	open_at(PSN(4), PSN(4), 7);
	expect_ack(PSN(5));
	assert_int_equal(env.broken, 1);
	assert_int_equal(env.opens, 1);
}

/* The clock is told of what the flow's context knows, which may be later than all that was forgotten. */
static void what_a_context_has_seen_is_told(void **state)
{
	(void)state;
	open_at(PSN(0), PSN(0), 7);
	assert_null(env.last_seen);
	env.echo = 5;
	open_at(PSN(3), PSN(3), 8);
	assert_non_null(env.last_seen);
	assert_int_equal(*env.last_seen, 7);
	env.echo = 0;
	open_at(PSN(3), PSN(3), 9);
	assert_int_equal(*env.last_seen, 9);
	close_at(FLOW, PSN(4));
	env.echo = 5;
	open_at(PSN(5), PSN(5), 10);
	assert_int_equal(*env.last_seen, 9);
	open_flow(FLOW + 1);
	assert_null(env.last_seen);
}

/* So many turns later its turn seems to be yet to come. */
static void a_very_old_copy_does_not_count_as_the_latest_turn(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 1; i < 4; i++) {
		env.turn += 0x4000;
		send(PSN(i), 0, 10);
	}
	env.turn = 0;
	open_flow(FLOW);
	send(PSN(1), 0, 10);
	env.turn = 0xc000;
	close_at(FLOW, PSN(4));
	assert_int_equal(env.closes, 1);
}

static void a_failed_flow_goes_on_later(void **state)
{
	(void)state;
	env.check_err = -EACCES;
	input((struct vqp_pkt) {
		.op = VQP_OP_READ, .flags = VQP_PKT_OPEN, .psn = PSN(0), .open_psn = PSN(0), .rkey = 5, .msg_bytes = 10,
	});
	expect_nak(VQP_NAK_ACCESS);
	env.echo = 5;
	open_at(PSN(1), PSN(1), 7);
	expect_challenge();
	env.echo = 0;
	open_at(PSN(1), PSN(1), 7);
	expect_ack(PSN(2));
	send(PSN(2), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(3));
}

static void another_ones_flow_is_not_judged(void **state)
{
	(void)state;
	open_flow(FLOW);
	for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
		struct vqp_pkt pkt = of_another(i);

		pkt.open_psn = PSN(5);
		input(pkt);
		expect_nak_at(VQP_NAK_OP, PSN(1));
	}
	assert_int_equal(env.judged, 1);
}

/* There it may have been carried out: this lane neither takes it nor says anything about it. */
static void a_packet_on_another_lane_than_its_flows_is_not_taken(void **state)
{
	struct vqp_pkt pkt = { .op = VQP_OP_SEND, .flags = WHOLE | VQP_PKT_OPEN | VQP_PKT_ACK_REQ, .psn = PSN(0), .open_psn = PSN(0) };

	(void)state;
	env.tab.nlanes = 3;
	env.tab.lane = 1;
	for (u32 i = 0; i < 3; i++) {
		pkt.flow = 3 * FLOW + i;
		assert_int_equal(arrive(pkt), i == 1);
	}
	expect_ack(PSN(1));
	expect_silence();
	assert_int_equal(env.judged, 1);
	/* nor does it close anything, or tell of another epoch */
	pkt = (struct vqp_pkt) { .op = VQP_OP_CLOSE, .flow = 3 * FLOW, .psn = PSN(1) };
	assert_false(arrive(pkt));
	pkt = (struct vqp_pkt) { .op = VQP_OP_SEND, .flags = WHOLE, .flow = 3 * FLOW, .dst_epoch = EPOCH + 1 };
	assert_false(arrive(pkt));
	expect_silence();
	assert_int_equal(env.opens, 1);
}

/* Whichever of its packets a flow has been opened by. */
static void what_is_forgotten_is_as_late_as_its_latest_packet(void **state)
{
	(void)state;
	open_at(PSN(0), PSN(0), 0xfffffff0U);
	open_at(PSN(0), PSN(1), 2);
	open_at(PSN(0), PSN(0), 1);
	open_at(PSN(0), PSN(3), 3);	/* which is held */
	vqp_rxtab_purge(&env.tab, NULL);
	assert_int_equal(env.forgotten, 1);
	assert_int_equal(env.forgotten_stamp, 3);
}

static void whatever_frees_a_context_tells_that_it_is_forgotten(void **state)
{
	(void)state;
	/* silence */
	open_at(PSN(0), PSN(0), 1);
	env.now += IDLE;
	vqp_rxtab_expire(&env.tab, env.now);
	assert_int_equal(env.forgotten, 1);
	/* a namespace that goes in the middle of a message, and one that is found to be gone */
	for (u32 i = 2; i < 4; i++) {
		open_at(PSN(0), PSN(0), i);
		send_part(PSN(1), 0, 60, 150);
		if (i == 2) {
			vqp_rxtab_purge(&env.tab, &ns);
		} else {
			env.dead = true;
			send(PSN(2), 0, 10);
			env.dead = false;
		}
		assert_int_equal(env.forgotten, i);
		assert_int_equal(env.forgotten_stamp, i);
	}
	/* one that goes otherwise, and a CLOSE, leave what they know */
	open_at(PSN(0), PSN(0), 4);
	vqp_rxtab_purge(&env.tab, &ns);
	env.turn++;
	open_at(PSN(1), PSN(1), 5);
	close_at(FLOW, PSN(2));
	assert_int_equal(env.forgotten, 3);
	vqp_rxtab_purge(&env.tab, NULL);
	assert_int_equal(env.forgotten, 4);
	assert_int_equal(env.forgotten_stamp, 5);
}

/* The flow was closed, and open again when a copy of the CLOSE came. */
static void a_copy_of_a_close_closes_nothing(void **state)
{
	(void)state;
	open_flow(FLOW);
	close_at(FLOW, PSN(1));
	env.turn = 1;
	env.begin_err = -EAGAIN;
	open_at(PSN(1), PSN(1), 7);
	expect_nak(VQP_NAK_RNR);
	env.begin_err = 0;
	env.turn = 0;
	close_at(FLOW, PSN(1));
	env.turn = 2;
	send(PSN(1), VQP_PKT_ACK_REQ, 10);
	expect_ack(PSN(2));
	env.turn = 1;
	close_at(FLOW, PSN(2));
	assert_int_equal(env.closes, 1);
	env.turn = 2;
	close_at(FLOW, PSN(2));
	assert_int_equal(env.closes, 2);
}

static void closed_contexts_take_no_room_from_live_ones(void **state)
{
	(void)state;
	begin(2 * SLOTS);
	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < SLOTS; i++)
			open_flow(FLOW + round * SLOTS + i);
		open_flow(FLOW + 100);
		expect_nak(VQP_NAK_BUSY);
		for (u32 i = 0; round == 0 && i < SLOTS; i++)
			close_pkt(FLOW + i);
	}
	expect_silence();
	assert_int_equal(env.opens, 2 * SLOTS);
	assert_int_equal(env.forgotten, 0);
}

/* It is not forgotten meanwhile. */
static void a_closed_flow_waits_for_room(void **state)
{
	(void)state;
	begin(2 * SLOTS);
	open_flow(FLOW);
	close_pkt(FLOW);
	for (u32 i = 1; i <= SLOTS; i++)
		open_flow(FLOW + i);
	open_at(PSN(1), PSN(1), 0);
	assert_int_equal(expect_nak(VQP_NAK_BUSY)->rnr_us, VQP_RX_BUSY_US);
	assert_int_equal(env.tab.busy, 1);
	close_pkt(FLOW + 1);
	open_at(PSN(0), PSN(0), 0);
	expect_silence();
	open_at(PSN(1), PSN(1), 0);
	expect_ack(PSN(2));
	assert_int_equal(env.judged, 1 + SLOTS);
}

static void a_closed_flow_takes_the_room_of_an_abandoned_one(void **state)
{
	(void)state;
	begin(2 * SLOTS);
	open_flow(FLOW);
	close_pkt(FLOW);
	for (u32 i = 1; i <= SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE;
	open_at(PSN(1), PSN(1), 0);
	expect_ack(PSN(2));
	assert_int_equal(env.tab.reused, 1);
	assert_int_equal(env.forgotten, 1);
}

static void an_abandoned_context_is_reused_before_one_that_lingers(void **state)
{
	(void)state;
	for (u32 i = 0; i < SLOTS; i++)
		open_flow(FLOW + i);
	env.now += IDLE;
	for (u32 i = 1; i < SLOTS; i++)
		close_pkt(FLOW + i);
	open_flow(FLOW + SLOTS);
	assert_int_equal(env.tab.reused, 1);
	open_flow(FLOW + SLOTS + 1);
	assert_int_equal(env.tab.reused, 1);
	expect_silence();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_open_packet_makes_a_context),
		TEST(answers_name_the_flow),
		TEST(marked_packets_are_told_in_the_next_answer),
		TEST(a_second_packet_that_overtook_the_first_waits),
		TEST(an_unknown_flow_must_open),
		TEST(nobody_has_the_address),
		TEST(another_epoch_is_refused),
		TEST(opening_twice_is_one_context),
		TEST(opening_a_flow_for_somebody_else_is_refused),
		TEST(a_node_opens_flows_in_no_other_nodes_name),
		TEST(flows_of_two_nodes_are_apart),
		TEST(flows_of_two_lives_of_a_node_are_apart),
		TEST(answers_are_no_requests),
		TEST(a_send_is_received),
		TEST(an_empty_send_is_received),
		TEST(a_long_send_is_put_together),
		TEST(no_receive_posted),
		TEST(what_follows_a_send_not_received_is_dropped_silently),
		TEST(a_send_that_cannot_be_received_fails_the_flow),
		TEST(bad_receive_memory_gives_the_receive_back),
		TEST(a_hole_in_a_message_is_a_violation),
		TEST(a_message_that_changes_its_length_is_a_violation),
		TEST(more_than_the_message_is_a_violation),
		TEST(a_message_in_a_message_is_a_violation),
		TEST(a_write_or_read_in_a_send_is_a_violation),
		TEST(a_message_without_a_start_is_a_violation),
		TEST(a_write_writes),
		TEST(a_write_with_immediate_takes_a_receive),
		TEST(a_write_with_immediate_waits_for_a_receive),
		TEST(a_bad_key_fails_the_flow),
		TEST(a_write_around_the_end_of_memory_is_refused),
		TEST(a_write_of_more_than_a_message_is_a_violation),
		TEST(a_refused_write_takes_no_receive),
		TEST(a_read_is_answered_packet_by_packet),
		TEST(an_empty_read_is_answered_unchecked),
		TEST(a_part_of_a_chunk_keeps_its_offsets),
		TEST(a_read_of_more_than_a_chunk_is_refused),
		TEST(a_read_of_a_bad_key_is_refused),
		TEST(a_read_around_the_end_of_memory_is_refused),
		TEST(a_response_that_cannot_be_sent_ends_the_chunk),
		TEST(a_duplicate_is_acknowledged_not_executed),
		TEST(a_duplicate_read_is_checked_and_answered_again),
		TEST(a_late_read_of_a_key_now_gone_does_not_fail_the_flow),
		TEST(an_atomic_is_answered_with_what_was_there),
		TEST(an_atomic_is_carried_out_once),
		TEST(the_last_atomics_are_remembered),
		TEST(the_latest_atomic_of_a_psn_is_told),
		TEST(what_an_atomic_found_survives_a_close),
		TEST(a_new_context_remembers_no_atomics),
		TEST(an_atomic_across_words_is_refused),
		TEST(an_atomic_with_a_bad_key_is_refused),
		TEST(an_atomic_in_a_message_is_a_violation),
		TEST(an_atomic_behind_a_gap_waits),
		TEST(a_gap_is_reported_once),
		TEST(what_is_behind_a_gap_follows_when_it_is_filled),
		TEST(a_message_is_put_together_across_a_gap),
		TEST(reads_behind_a_gap_are_answered_in_their_turn),
		TEST(a_gap_behind_a_gap_is_told_at_once),
		TEST(who_asks_behind_a_gap_is_told),
		TEST(what_is_held_is_told_now_and_then),
		TEST(what_is_held_already_is_not_held_again),
		TEST(what_is_too_far_ahead_is_not_held),
		TEST(without_memory_nothing_is_held),
		TEST(a_refused_packet_ends_what_is_held_behind_it),
		TEST(what_waits_for_a_receive_is_not_held),
		TEST(a_longer_gap_that_is_filled_is_answered_once),
		TEST(who_goes_on_after_a_pause_is_told_of_gaps),
		TEST(what_is_held_goes_with_its_flow),
		TEST(each_gap_is_reported),
		TEST(a_gap_is_reported_again_when_the_initiator_went_back),
		TEST(acks_come_every_so_many_packets),
		TEST(an_answered_read_counts_as_an_ack),
		TEST(a_failed_flow_still_answers_earlier_reads),
		TEST(closing_lets_go_of_the_namespace),
		TEST(closing_breaks_a_message_off),
		TEST(closing_what_is_not_open_is_ignored),
		TEST(a_late_packet_of_a_closed_flow_is_recognized),
		TEST(a_closed_flow_goes_on_where_it_was),
		TEST(a_closed_flow_goes_on_for_nobody_else),
		TEST(a_closed_flow_whose_target_moved_is_told),
		TEST(a_close_that_was_overtaken_is_ignored),
		TEST(a_flow_that_a_late_close_closed_is_told),
		TEST(closed_contexts_linger),
		TEST(closed_contexts_are_reused_early_if_they_must),
		TEST(the_oldest_closed_context_is_reused_first),
		TEST(open_contexts_are_not_taken_from_the_active),
		TEST(an_idle_context_is_reused_when_none_is_free),
		TEST(reusing_breaks_a_dead_initiators_message_off),
		TEST(a_closed_context_is_reused_before_an_idle_one),
		TEST(a_dead_namespace_is_told_and_let_go),
		TEST(closing_in_a_dead_namespace_is_silent),
		TEST(a_message_whose_receive_goes_is_refused),
		TEST(a_message_whose_receive_stays_goes_on),
		TEST(only_messages_in_progress_have_a_receive),
		TEST(what_vanished_initiators_hold_is_given_back),
		TEST(purging_lets_go_of_a_namespace),
		TEST(a_flow_whose_namespace_goes_knows_how_far_it_got),
		TEST(a_forgotten_flow_is_taken_up_where_it_says),
		TEST(any_number_of_flows_uses_the_same_contexts),
		TEST(any_packet_is_safe),
		TEST(a_copy_of_a_forgotten_flow_is_challenged),
		TEST(a_challenge_names_the_packet),
		TEST(a_copy_costs_nobody_a_context),
		TEST(a_context_needs_no_clock),
		TEST(a_closed_flow_goes_on_later_only_if_it_is_no_copy),
		TEST(an_open_flow_goes_on_later_only_if_it_is_no_copy),
		TEST(a_flow_that_goes_on_later_breaks_off_its_message),
		TEST(what_a_context_has_seen_is_told),
		TEST(a_very_old_copy_does_not_count_as_the_latest_turn),
		TEST(a_failed_flow_goes_on_later),
		TEST(another_ones_flow_is_not_judged),
		TEST(a_packet_on_another_lane_than_its_flows_is_not_taken),
		TEST(what_is_forgotten_is_as_late_as_its_latest_packet),
		TEST(whatever_frees_a_context_tells_that_it_is_forgotten),
		TEST(a_copy_of_a_close_closes_nothing),
		TEST(closed_contexts_take_no_room_from_live_ones),
		TEST(a_closed_flow_waits_for_room),
		TEST(a_closed_flow_takes_the_room_of_an_abandoned_one),
		TEST(an_abandoned_context_is_reused_before_one_that_lingers),
	};

	return cmocka_run_group_tests_name("rx", tests, NULL, NULL);
}
