// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include <linux/vqp.h>
#include "tx.h"

#define FLOW		77
#define FIRST_PSN	0xfffffffeU	/* so that every test sees the wrap */
#define PAYLOAD		100
#define CHUNK		(PAYLOAD * VQP_READ_CHUNK_PACKETS)
#define PSN(n)		(FIRST_PSN + (n))
#define RTO		1000
#define GIVEUP		100000

struct sent {
	struct vqp_pkt pkt;
	struct vqp_msg *msg;
	u32 offset, bytes;
};

static struct {
	struct vqp_tx tx;
	struct vqp_tx_cfg cfg;
	u64 now;
	struct sent sent[4096];
	u32 nsent, seen;		/* `seen`: looked at by the test */
	struct vqp_msg *done[64];
	u32 status[64];
	u32 ndone;
	u64 armed;
	u32 narmed, nstale, nplaced;
	u32 room;			/* packets until -EAGAIN */
	u32 allowed;			/* packets until -EBUSY */
	struct vqp_msg *bad;		/* its local memory is bad */
	bool bad_place;
	u8 memory[64 * 1024];		/* where READs go */
	u8 source[PAYLOAD];
} env;

static int fake_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes)
{
	assert_ptr_equal(tx, &env.tx);
	if (!env.room)
		return -EAGAIN;
	if (!env.allowed)
		return -EBUSY;
	if (msg && msg == env.bad)
		return -EFAULT;
	env.room--;
	env.allowed--;
	assert_true(env.nsent < ARRAY_SIZE(env.sent));
	assert_int_equal(pkt->flow, FLOW);
	assert_int_equal(pkt->payload_bytes, bytes);
	if (msg)
		assert_true(offset + bytes <= msg->bytes);
	env.sent[env.nsent++] = (struct sent) { *pkt, msg, offset, bytes };
	return 0;
}

static int fake_place(struct vqp_tx *tx, struct vqp_msg *msg, u32 offset, const void *data, u32 bytes)
{
	(void)tx;
	assert_true(offset + bytes <= msg->bytes && offset + bytes <= sizeof(env.memory));
	if (env.bad_place)
		return -EFAULT;
	memcpy(env.memory + offset, data, bytes);
	env.nplaced++;
	return 0;
}

/* The message is the test's again: make sure that the engine does not look at it. */
static void fake_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status)
{
	(void)tx;
	assert_true(env.ndone < ARRAY_SIZE(env.done));
	for (u32 i = 0; i < env.ndone; i++)
		assert_ptr_not_equal(env.done[i], msg);
	env.done[env.ndone] = msg;
	env.status[env.ndone++] = status;
	memset(msg, 0xee, sizeof(*msg));
}

static void fake_arm(struct vqp_tx *tx, u64 at_us)
{
	(void)tx;
	env.armed = at_us;
	env.narmed++;
}

static void fake_stale(struct vqp_tx *tx)
{
	assert_true(tx->stopped);
	env.nstale++;
}

static const struct vqp_tx_ops fake_ops = {
	.xmit = fake_xmit, .place = fake_place, .complete = fake_complete, .arm = fake_arm, .stale = fake_stale,
};

static int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	env.cfg = (struct vqp_tx_cfg) {
		.payload_bytes = PAYLOAD, .window_packets = 32, .rto_min_us = RTO, .rto_max_us = 16 * RTO,
		.giveup_us = GIVEUP,
	};
	env.room = ~0U;
	env.allowed = ~0U;
	env.now = 1000000;
	vqp_tx_init(&env.tx, &fake_ops, &env.cfg, FLOW, FIRST_PSN);
	return 0;
}

static struct vqp_msg message(u8 op, u32 bytes)
{
	return (struct vqp_msg) { .op = op, .bytes = bytes, .remote_addr = 0x10000, .rkey = 5 };
}

static void post(struct vqp_msg *msg)
{
	vqp_tx_post(&env.tx, msg, env.now);
}

/* An answer to the latest packet. */
static void input(struct vqp_pkt pkt)
{
	pkt.flow = FLOW;
	if (env.nsent) {
		pkt.turn = env.sent[env.nsent - 1].pkt.turn;
		if (pkt.op != VQP_OP_READ_RESP)
			pkt.psn = env.sent[env.nsent - 1].pkt.psn;
	}
	vqp_tx_input(&env.tx, &pkt, env.now);
}

static void ack(u32 psn)
{
	input((struct vqp_pkt) { .op = VQP_OP_ACK, .ack_psn = psn });
}

static void nak(u8 code, u32 psn)
{
	input((struct vqp_pkt) {
		.op = VQP_OP_NAK, .nak = code, .ack_psn = psn,
		.rnr_us = code == VQP_NAK_RNR || code == VQP_NAK_BUSY ? 500 : 0,
	});
}

static void respond(u32 psn, u32 offset, u32 bytes)
{
	memset(env.source, psn + offset / PAYLOAD, sizeof(env.source));
	input((struct vqp_pkt) {
		.op = VQP_OP_READ_RESP, .psn = psn, .offset = offset, .payload = env.source, .payload_bytes = bytes,
	});
}

/* Go on to the armed deadline. */
static void timeout(void)
{
	assert_true(env.armed >= env.now);
	env.now = env.armed;
	vqp_tx_timeout(&env.tx, env.now);
}

/* Go on to when the flow does something by itself. */
static void wait_for_packet(void)
{
	const u32 before = env.nsent, done = env.ndone;

	for (u32 i = 0; i < 100 && env.nsent == before && env.ndone == done; i++)
		timeout();
}

static const struct sent *next_sent(void)
{
	assert_true(env.seen < env.nsent);
	return &env.sent[env.seen++];
}

static void expect_psn(u32 psn)
{
	assert_int_equal(next_sent()->pkt.psn, psn);
}

static void expect_silence(void)
{
	assert_int_equal(env.seen, env.nsent);
}

static void expect_done(u32 index, const struct vqp_msg *msg, u32 status)
{
	assert_true(index < env.ndone);
	assert_ptr_equal(env.done[index], msg);
	assert_int_equal(env.status[index], status);
}

/* What an atomic found. */
static void found(u32 psn, u64 before)
{
	for (u32 i = 0; i < VQP_ATOMIC_BYTES; i++)
		env.source[i] = before >> (8 * (VQP_ATOMIC_BYTES - 1 - i));
	input((struct vqp_pkt) {
		.op = VQP_OP_READ_RESP, .psn = psn, .payload = env.source, .payload_bytes = VQP_ATOMIC_BYTES,
	});
}

static struct vqp_msg fetch_add(void)
{
	struct vqp_msg msg = message(VQP_OP_FETCH_ADD, VQP_ATOMIC_BYTES);

	msg.compare_add = 7;
	return msg;
}

/* ---- What is sent ---- */

static void a_small_send_is_one_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 10);
	const struct sent *sent;

	(void)state;
	post(&msg);
	sent = next_sent();
	assert_int_equal(sent->pkt.op, VQP_OP_SEND);
	assert_int_equal(sent->pkt.psn, FIRST_PSN);
	assert_int_equal(sent->pkt.flags, VQP_PKT_FIRST | VQP_PKT_LAST | VQP_PKT_OPEN | VQP_PKT_ACK_REQ);
	assert_int_equal(sent->pkt.msg_bytes, 10);
	assert_int_equal(sent->bytes, 10);
	expect_silence();
}

static void a_long_send_is_cut_into_packets(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD + 1);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 3);
	for (u32 i = 0; i < 3; i++) {
		const struct sent *sent = next_sent();

		assert_int_equal(sent->pkt.psn, PSN(i));
		assert_int_equal(sent->pkt.offset, i * PAYLOAD);
		assert_int_equal(sent->offset, i * PAYLOAD);
		assert_int_equal(sent->bytes, i < 2 ? PAYLOAD : 1);
		assert_int_equal(sent->pkt.msg_bytes, msg.bytes);
		assert_int_equal(!!(sent->pkt.flags & VQP_PKT_FIRST), i == 0);
		assert_int_equal(!!(sent->pkt.flags & VQP_PKT_LAST), i == 2);
	}
}

static void a_message_of_whole_packets_has_no_empty_one(void **state)
{
	struct vqp_msg msg = message(VQP_OP_WRITE, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 2);
}

static void an_empty_message_is_one_packet(void **state)
{
	struct vqp_msg send = message(VQP_OP_SEND, 0), write = message(VQP_OP_WRITE, 0);

	(void)state;
	post(&send);
	post(&write);
	assert_int_equal(env.nsent, 2);
	ack(PSN(2));
	expect_done(0, &send, VQP_WC_SUCCESS);
	expect_done(1, &write, VQP_WC_SUCCESS);
}

static void a_write_names_each_packets_address(void **state)
{
	struct vqp_msg msg = message(VQP_OP_WRITE, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(next_sent()->pkt.addr, 0x10000);
	assert_int_equal(next_sent()->pkt.addr, 0x10000 + PAYLOAD);
	assert_int_equal(env.sent[0].pkt.rkey, 5);
}

static void the_immediate_goes_with_the_last_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_WRITE, 2 * PAYLOAD);

	(void)state;
	msg.flags = VQP_PKT_IMM | VQP_PKT_SOLICITED;
	msg.imm = 0xabcd;
	post(&msg);
	assert_false(next_sent()->pkt.flags & (VQP_PKT_IMM | VQP_PKT_SOLICITED));
	assert_int_equal(env.sent[1].pkt.flags & (VQP_PKT_IMM | VQP_PKT_SOLICITED), VQP_PKT_IMM | VQP_PKT_SOLICITED);
	assert_int_equal(env.sent[1].pkt.imm, 0xabcd);
	assert_int_equal(env.sent[0].pkt.imm, 0);
}

static void packets_open_until_the_first_answer(void **state)
{
	struct vqp_msg msgs[3];

	(void)state;
	for (u32 i = 0; i < 3; i++)
		msgs[i] = message(VQP_OP_SEND, 1);
	post(&msgs[0]);
	post(&msgs[1]);
	for (u32 i = 0; i < 2; i++) {
		assert_true(env.sent[i].pkt.flags & VQP_PKT_OPEN);
		assert_int_equal(env.sent[i].pkt.open_psn, FIRST_PSN);
	}
	ack(PSN(1));
	post(&msgs[2]);
	assert_false(env.sent[2].pkt.flags & VQP_PKT_OPEN);
}

static void a_gap_report_is_a_first_answer(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(0));
	assert_false(next_sent()->pkt.flags & VQP_PKT_OPEN);
}

static void the_window_bounds_what_is_in_flight(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 100 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 32);
	ack(PSN(10));
	assert_int_equal(env.nsent, 42);
}

static void the_last_of_a_burst_asks_for_an_ack(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 33 * PAYLOAD);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 32; i++)
		assert_int_equal(!!(next_sent()->pkt.flags & VQP_PKT_ACK_REQ), i == 31);
	ack(PSN(32));
	assert_true(next_sent()->pkt.flags & VQP_PKT_ACK_REQ);
}

static void queued_messages_ask_once(void **state)
{
	struct vqp_msg msgs[5];

	(void)state;
	for (u32 i = 0; i < 5; i++) {
		msgs[i] = message(VQP_OP_SEND, 1);
		vqp_tx_queue(&env.tx, &msgs[i]);
	}
	expect_silence();
	vqp_tx_run(&env.tx, env.now);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(!!(next_sent()->pkt.flags & VQP_PKT_ACK_REQ), i == 4);
}

static void no_room_is_tried_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 4 * PAYLOAD);

	(void)state;
	env.room = 2;
	post(&msg);
	assert_int_equal(env.nsent, 2);
	env.room = 100;
	vqp_tx_run(&env.tx, env.now);
	for (u32 i = 0; i < 4; i++)
		expect_psn(PSN(i));
	expect_silence();
}

/* Nothing is outstanding, so no answer will ever come: only the deadline is left. */
static void a_flow_that_never_gets_room_gives_up(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_READ, 1) };
	u64 begin;

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	env.now += 10 * GIVEUP;
	vqp_tx_timeout(&env.tx, env.now);
	begin = env.now;
	env.room = 0;
	post(&msgs[1]);
	env.now += GIVEUP / 2;
	vqp_tx_run(&env.tx, env.now);
	while (env.ndone < 2)
		timeout();
	expect_done(1, &msgs[1], VQP_WC_RETRY_EXC_ERR);
	assert_int_equal(env.now - begin, GIVEUP);
}

static void a_flow_that_gets_room_late_goes_on(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	env.room = 0;
	post(&msg);
	env.now += GIVEUP - 1;
	env.room = 1;
	vqp_tx_run(&env.tx, env.now);
	env.now += 2;
	vqp_tx_timeout(&env.tx, env.now);
	assert_int_equal(env.ndone, 0);
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

/* ---- Completion ---- */

static void messages_complete_in_order(void **state)
{
	struct vqp_msg msgs[3];

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		msgs[i] = message(i == 1 ? VQP_OP_WRITE : VQP_OP_SEND, 150);
		post(&msgs[i]);
	}
	ack(PSN(5));
	assert_int_equal(env.ndone, 2);
	ack(PSN(6));
	for (u32 i = 0; i < 3; i++)
		expect_done(i, &msgs[i], VQP_WC_SUCCESS);
	assert_true(vqp_tx_idle(&env.tx));
}

static void a_message_waits_for_its_last_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(2));
	assert_int_equal(env.ndone, 0);
	ack(PSN(3));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void acks_out_of_range_are_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(0));
	ack(PSN(4));
	ack(PSN(-1));
	ack(PSN(0x80000000));
	assert_int_equal(env.ndone, 0);
	assert_int_equal(env.tx.psn_acked, FIRST_PSN);
	assert_false(env.tx.opened);
}

static void an_ack_of_another_flow_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	const struct vqp_pkt pkt = { .op = VQP_OP_ACK, .flow = FLOW + 1, .ack_psn = PSN(1) };

	(void)state;
	post(&msg);
	vqp_tx_input(&env.tx, &pkt, env.now);
	assert_int_equal(env.ndone, 0);
}

static void a_duplicate_ack_changes_nothing(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	ack(PSN(1));
	ack(PSN(1));
	assert_int_equal(env.ndone, 1);
	assert_int_equal(env.nsent, 2);
}

static void requests_are_no_answers(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	input((struct vqp_pkt) { .op = VQP_OP_SEND, .ack_psn = PSN(1) });
	input((struct vqp_pkt) { .op = VQP_OP_CLOSE, .ack_psn = PSN(1) });
	input((struct vqp_pkt) { .op = 200, .ack_psn = PSN(1) });
	assert_int_equal(env.ndone, 0);
}

/* ---- Loss ---- */

static void a_gap_makes_it_go_back(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(2));
	expect_psn(PSN(2));
	expect_psn(PSN(3));
	expect_psn(PSN(4));
	expect_silence();
	assert_int_equal(env.tx.packets_resent, 3);
}

/* The packet `psn` came; the target waits for `gap`, and holds gap + n of each bit n of `held`. */
static void gap_at(u32 gap, u64 held, u32 psn, u16 turn)
{
	vqp_tx_input(&env.tx, &(struct vqp_pkt) {
		.op = VQP_OP_NAK, .nak = VQP_NAK_SEQ, .flow = FLOW, .ack_psn = gap, .psn = psn, .turn = turn,
		.held.words[0] = held,
	}, env.now);
}

static void only_what_is_lost_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 6 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	gap_at(PSN(1), 1 << 2 | 1 << 3, PSN(4), 0);
	/* 1, 2 and 3 were sent before 4, and 3 came; 5 may be on its way */
	expect_psn(PSN(1));
	expect_psn(PSN(2));
	expect_silence();
	assert_int_equal(env.tx.packets_resent, 2);
	ack(PSN(6));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void what_came_and_was_not_kept_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 6 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(3), 0);
	expect_psn(PSN(0));
	expect_psn(PSN(2));
	expect_psn(PSN(3));
	expect_silence();
}

static void the_window_is_cut_by_what_is_lost_but_not_below_half(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 1, PSN(1), 0);
	assert_int_equal(env.tx.window, 31);
	gap_at(PSN(0), 1 << 1 | 1 << 5, PSN(5), 0);
	assert_int_equal(env.tx.window, 28);
	gap_at(PSN(0), 1 << 1 | 1 << 5 | 1U << 31, PSN(31), 0);
	assert_int_equal(env.tx.window, 16);
	/* and once more in the next round trip */
	gap_at(PSN(0), 1 << 1 | 1 << 5 | 1U << 31, PSN(31), env.tx.turn);
	assert_int_equal(env.tx.window, 8);
}

static void a_window_that_was_cut_opens_by_four_packets_in_a_round_trip(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 20, PSN(20), 0);
	assert_int_equal(env.tx.window, 16);
	/* one of these was held already */
	ack(PSN(9));
	assert_int_equal(env.tx.window, 18);
	ack(PSN(18));
	assert_int_equal(env.tx.window, 20);
	for (u32 acked = 38; acked < 138; acked += 20)
		ack(PSN(acked));
	assert_int_equal(env.tx.window, 32);
}

static void a_window_of_one_packet_is_not_cut(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	/* of what was sent before */
	gap_at(PSN(0), 1 << 8, PSN(8), 0);
	assert_int_equal(env.tx.window, 1);
}

static void a_window_that_was_closed_opens_to_half_at_once(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	assert_int_equal(env.tx.window, 1);
	for (u32 acked = 1; acked < 16; acked = 2 * acked + 1)
		ack(PSN(acked));
	assert_int_equal(env.tx.window, 16);
	ack(PSN(31));
	assert_int_equal(env.tx.window, 20);
}

static void losses_wait_for_the_window_but_for_the_first(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 32 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	/* all but the last was lost, and 16 may be in flight */
	gap_at(PSN(0), 1U << 31, PSN(31), 0);
	for (u32 i = 0; i < 16; i++)
		expect_psn(PSN(i));
	expect_silence();
	ack(PSN(2));
	/* two have arrived, and what is held is not known any more */
	expect_psn(PSN(16));
	expect_silence();
}

static void turns_that_are_yet_to_come_are_not_believed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(1), env.tx.turn + 1);
	gap_at(PSN(0), 0, PSN(1), env.tx.turn + 1);
	expect_silence();
}

static void a_later_loss_is_mended_at_once(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 10 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(1), 0);
	expect_psn(PSN(0));
	/* told of packets of the first turn: 0 is on its way again */
	gap_at(PSN(0), 1 << 1 | 1 << 2 | 1 << 5, PSN(5), 0);
	expect_psn(PSN(3));
	expect_psn(PSN(4));
	gap_at(PSN(0), 0x7 << 5 | 1 << 1 | 1 << 2, PSN(7), 0);
	expect_silence();
}

static void what_is_lost_again_is_sent_again(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 3 * PAYLOAD), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(1), 0);
	expect_psn(PSN(0));
	post(&msgs[1]);
	expect_psn(PSN(3));
	/* the new packet was sent after the one that is still missing */
	gap_at(PSN(0), 1 << 1 | 1 << 2 | 1 << 3, PSN(3), env.sent[env.nsent - 1].pkt.turn);
	expect_psn(PSN(0));
	expect_silence();
}

static void what_was_sent_again_may_be_under_way(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 6 * PAYLOAD);
	u16 turn;

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 1 | 1 << 3, PSN(3), 0);
	env.seen = env.nsent;
	/* 0 filled its gap, and 2 is the next one, sent right behind it; 4 was sent once, before 5 */
	turn = env.sent[env.nsent - 1].pkt.turn;
	gap_at(PSN(2), 1 << 1, PSN(0), turn);
	expect_silence();
	assert_int_equal(env.tx.window, 30);
	assert_int_equal(env.tx.held, 1);
	gap_at(PSN(2), 1 << 1 | 1 << 3, PSN(0), turn);
	expect_psn(PSN(4));
	expect_silence();
}

static void what_is_held_is_not_in_flight(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 32);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(1), 0);
	expect_psn(PSN(0));
	expect_silence();
	/* the window is 31: of 32 sent 24 have arrived */
	gap_at(PSN(0), ((1ULL << 24) - 1) << 1, PSN(24), 0);
	for (u32 i = 0; i < 23; i++)
		expect_psn(PSN(32 + i));
	expect_silence();
	ack(PSN(25));
	assert_int_equal(env.tx.held, 0);
}

static void what_was_held_does_not_open_the_window_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), ((1ULL << 20) - 1) << 1, PSN(20), 0);
	assert_int_equal(env.tx.window, 31);
	ack(PSN(21));
	assert_int_equal(env.tx.window, 31);
	ack(PSN(28));
	assert_int_equal(env.tx.window, 32);
}

static void after_a_timeout_one_packet_at_a_time_is_believed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	assert_int_equal(env.tx.window, 1);
	/* the others had arrived: that says nothing about a burst of so many */
	ack(PSN(32));
	assert_int_equal(env.tx.window, 2);
}

static void no_more_is_sent_than_a_target_holds(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 400 * PAYLOAD);
	struct vqp_pkt report = { .op = VQP_OP_NAK, .nak = VQP_NAK_SEQ, .flow = FLOW, .ack_psn = PSN(0) };

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 10; i++) {
		const u32 last = env.tx.psn_send - 1;

		for (u32 n = 1; n <= last - FIRST_PSN; n++)
			vqp_mask_set(&report.held, n);
		report.psn = last;
		vqp_tx_input(&env.tx, &report, env.now);
	}
	assert_int_equal(env.tx.psn_send - FIRST_PSN, VQP_MASK_BITS);
}

static void a_hole_waits_for_room(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.room = 1;
	gap_at(PSN(0), 1 << 3, PSN(3), 0);
	expect_psn(PSN(0));
	expect_silence();
	env.room = ~0U;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(1));
	expect_psn(PSN(2));
	expect_silence();
}

/* An acknowledgement that answers a packet of `turn`. */
static void ack_to(u32 psn, u16 turn)
{
	const struct vqp_pkt pkt = { .op = VQP_OP_ACK, .flow = FLOW, .ack_psn = psn, .psn = psn - 1, .turn = turn };

	vqp_tx_input(&env.tx, &pkt, env.now);
}

static void what_was_late_and_not_lost_is_not_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	timeout();
	expect_psn(PSN(0));
	assert_int_equal(env.tx.window, 1);
	/* this answers what was sent before the timeout */
	ack_to(PSN(16), 0);
	assert_int_equal(env.tx.window, 32);
	for (u32 i = 32; i < 48; i++)
		expect_psn(PSN(i));
	expect_silence();
	assert_int_equal(env.tx.packets_resent, 1);
}

static void what_was_lost_among_what_was_late_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 20 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	env.seen = env.nsent;
	ack_to(PSN(4), 0);
	expect_silence();
	gap_at(PSN(4), 1 << 1, PSN(5), 0);
	expect_psn(PSN(4));
	expect_silence();
}

static void what_was_lost_keeps_the_window_closed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	ack_to(PSN(1), env.tx.turn);
	assert_int_equal(env.tx.window, 2);
	/* the first answer has told: this is a late one to what was behind the gap */
	ack_to(PSN(2), 0);
	assert_int_equal(env.tx.window, 3);
}

static void a_window_cut_for_a_gap_that_was_but_order_opens_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 8, PSN(8), 0);
	assert_int_equal(env.tx.window, 24);
	ack_to(PSN(1), 0);
	assert_int_equal(env.tx.window, 32);
}

static void what_a_pause_stopped_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 20 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	nak(VQP_NAK_RNR, PSN(0));
	timeout();
	env.seen = env.nsent;
	/* a late copy was received after all; what was behind it was dropped */
	ack_to(PSN(1), 0);
	expect_psn(PSN(1));
}

static void a_hole_that_was_filled_meanwhile_is_not_sent(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.room = 0;
	gap_at(PSN(0), 1 << 3, PSN(3), 0);
	env.room = ~0U;
	gap_at(PSN(2), 1 << 1, PSN(1), 0);
	expect_psn(PSN(2));
	expect_silence();
}

static void a_hole_with_bad_memory_fails_its_message(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 2 * PAYLOAD), message(VQP_OP_SEND, 2 * PAYLOAD) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	env.bad = &msgs[0];
	gap_at(PSN(0), 1 << 3, PSN(3), 0);
	expect_done(0, &msgs[0], VQP_WC_LOC_PROT_ERR);
	expect_done(1, &msgs[1], VQP_WC_WR_FLUSH_ERR);
}

static void a_read_in_a_hole_is_requested_again(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 10), send = message(VQP_OP_SEND, 10);

	(void)state;
	post(&read);
	post(&send);
	env.seen = env.nsent;
	gap_at(PSN(0), 1 << 1, PSN(1), env.sent[1].pkt.turn);
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_READ);
	expect_psn(PSN(0));
	expect_silence();
	respond(PSN(0), 0, 10);
	ack(PSN(2));
	expect_done(0, &read, VQP_WC_SUCCESS);
	expect_done(1, &send, VQP_WC_SUCCESS);
}

static void a_gap_report_from_nowhere_is_harmless(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), ~0ULL, PSN(100), 0);
	gap_at(PSN(0), ~0ULL, PSN(0x7fffffff), env.tx.turn);
	gap_at(PSN(0), 1 << 4, PSN(0x80000001), env.tx.turn);
	assert_true(env.nsent <= 5 + 4);
	ack(PSN(5));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_gap_completes_what_is_before_it(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	nak(VQP_NAK_SEQ, PSN(1));
	expect_done(0, &msgs[0], VQP_WC_SUCCESS);
	assert_int_equal(env.ndone, 1);
}

static void copies_of_a_gap_report_go_back_once(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);
	struct vqp_pkt old = { .op = VQP_OP_NAK, .nak = VQP_NAK_SEQ, .flow = FLOW, .ack_psn = PSN(0) };

	(void)state;
	post(&msg);
	old.psn = env.sent[1].pkt.psn;
	old.turn = env.sent[1].pkt.turn;
	vqp_tx_input(&env.tx, &old, env.now);
	assert_int_equal(env.nsent, 10);
	vqp_tx_input(&env.tx, &old, env.now);
	assert_int_equal(env.nsent, 10);
	nak(VQP_NAK_SEQ, PSN(0));
	assert_int_equal(env.nsent, 15);
}

static void gaps_are_heeded_after_any_number_of_reads(void **state)
{
	static struct vqp_msg msgs[40001];
	u32 i;

	(void)state;
	for (i = 0; i < 40000; i++) {
		msgs[i] = message(VQP_OP_READ, 1);
		env.nsent = env.ndone = 0;
		post(&msgs[i]);
		respond(PSN(i), 0, 1);
	}
	msgs[i] = message(VQP_OP_SEND, 5 * PAYLOAD);
	post(&msgs[i]);
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(i));
	expect_psn(PSN(i));
}

/* How many of the packets from `first` on asked for an acknowledgement. */
static u32 asked_since(u32 first)
{
	u32 asked = 0;

	for (; first < env.nsent; first++)
		asked += !!(env.sent[first].pkt.flags & VQP_PKT_ACK_REQ);
	return asked;
}

static void a_flow_that_goes_on_asks_now_and_then(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(asked_since(0), 1);
	for (u32 acked = 2; acked < 16; acked += 2)
		ack(PSN(acked));
	assert_int_equal(env.nsent, 32 + 14);
	assert_int_equal(asked_since(32), 0);
	ack(PSN(16));
	assert_int_equal(asked_since(32), 1);
}

static void a_flow_with_a_small_window_asks_each_time(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 20 * PAYLOAD);

	(void)state;
	env.cfg.window_packets = 8;
	vqp_tx_init(&env.tx, &fake_ops, &env.cfg, FLOW, FIRST_PSN);
	post(&msg);
	ack(PSN(1));
	ack(PSN(3));
	assert_int_equal(asked_since(0), 3);
}

static void the_last_packet_of_all_asks(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 33 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.nsent, 33);
	assert_int_equal(asked_since(32), 1);
}

static void a_gap_with_nothing_behind_it_halves_the_window(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 32);
	nak(VQP_NAK_SEQ, PSN(0));
	assert_int_equal(env.nsent, 32 + 16);
	ack(PSN(16));
	assert_int_equal(env.nsent, 32 + 16 + 20);
	ack(PSN(36));
	assert_int_equal(env.tx.window, 24);
}

static void silence_sends_one_packet_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	assert_int_equal(env.armed, env.now + RTO);
	timeout();
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_ACK_REQ);
	expect_psn(PSN(0));
	expect_silence();
	ack(PSN(1));
	expect_psn(PSN(1));
	expect_psn(PSN(2));
	expect_silence();
}

static void an_ack_of_all_after_silence_sends_nothing_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 5 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	env.seen = env.nsent;
	ack(PSN(5));
	expect_silence();
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void going_on_after_an_ack_overtook_going_back(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 5 * PAYLOAD), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	timeout();
	env.seen = env.nsent;
	ack(PSN(5));
	post(&msgs[1]);
	expect_psn(PSN(5));
	assert_ptr_equal(env.sent[env.seen - 1].msg, &msgs[1]);
}

static void the_timeout_doubles_to_its_limit(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	u64 before, expect = RTO;

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 7; i++) {
		before = env.now;
		wait_for_packet();
		assert_int_equal(env.now - before, expect);
		expect = expect < 16 * RTO ? 2 * expect : expect;
	}
	assert_int_equal(env.tx.rto_us, 16 * RTO);
}

static void a_measured_round_trip_ends_the_doubling(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	timeout();
	timeout();
	assert_int_equal(env.tx.rto_us, 4 * RTO);
	ack(PSN(1));
	assert_int_equal(env.tx.rto_us, 4 * RTO);
	post(&msgs[1]);
	env.now += 100;
	ack(PSN(2));
	assert_int_equal(env.tx.rto_us, RTO);
}

static void the_timeout_follows_the_round_trip(void **state)
{
	struct vqp_msg msgs[20];

	(void)state;
	for (u32 i = 0; i < 20; i++) {
		msgs[i] = message(VQP_OP_SEND, 1);
		post(&msgs[i]);
		env.now += 800;
		ack(PSN(i + 1));
		if (i == 0) {
			assert_int_equal(env.tx.srtt_us, 800);
			assert_int_equal(env.tx.rto_us, 800 + 4 * 400);
		}
	}
	assert_in_range(env.tx.srtt_us, 790, 810);
	assert_int_equal(env.tx.rto_us, RTO);
}

static void packets_sent_twice_are_measured_right(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	struct vqp_pkt late = { .op = VQP_OP_ACK, .flow = FLOW, .psn = PSN(0), .ack_psn = PSN(1) };

	(void)state;
	post(&msg);
	late.turn = env.sent[0].pkt.turn;
	timeout();
	env.now += 5;
	vqp_tx_input(&env.tx, &late, env.now);
	assert_int_equal(env.tx.srtt_us, RTO + 5);
}

static void an_answer_to_another_packet_is_no_measure(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	env.now += 100;
	post(&msgs[1]);
	ack(PSN(2));
	assert_int_equal(env.tx.srtt_us, 0);
}

static void nobody_there_ends_in_retry_exceeded(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_WRITE, 1) };
	const u64 begin = env.now;

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	while (!env.ndone)
		timeout();
	expect_done(0, &msgs[0], VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &msgs[1], VQP_WC_WR_FLUSH_ERR);
	assert_int_equal(env.now - begin, GIVEUP);
}

static void giving_up_counts_from_the_last_progress(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);
	u64 progress;

	(void)state;
	post(&msg);
	env.now += GIVEUP / 2;
	ack(PSN(1));
	progress = env.now;
	env.armed = env.now;
	while (!env.ndone)
		timeout();
	assert_int_equal(env.now - progress, GIVEUP);
}

static void an_idle_flow_does_not_give_up(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	env.now += 10 * GIVEUP;
	vqp_tx_timeout(&env.tx, env.now);
	post(&msgs[1]);
	vqp_tx_timeout(&env.tx, env.now + 1);
	assert_int_equal(env.ndone, 1);
}

static void a_late_timer_is_not_held_against_the_target(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	u64 begin;

	(void)state;
	post(&msg);
	expect_psn(PSN(0));
	env.now += 10 * GIVEUP;
	begin = env.now;
	vqp_tx_timeout(&env.tx, env.now);
	expect_psn(PSN(0));
	assert_int_equal(env.ndone, 0);
	while (!env.ndone)
		timeout();
	assert_in_range(env.now - begin, GIVEUP - RTO, GIVEUP);
	assert_true(env.nsent > 3);
}

static void the_timer_is_armed_once_for_many_packets(void **state)
{
	struct vqp_msg msgs[20];

	(void)state;
	for (u32 i = 0; i < 20; i++) {
		msgs[i] = message(VQP_OP_SEND, 1);
		post(&msgs[i]);
		env.now++;
		ack(PSN(i + 1));
	}
	assert_int_equal(env.narmed, 1);
}

static void an_early_timeout_is_put_off(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	env.now += RTO / 2;
	ack(PSN(1));
	env.seen = env.nsent;
	vqp_tx_timeout(&env.tx, env.now + RTO / 2);
	expect_silence();
	assert_int_equal(env.armed, env.now + env.tx.rto_us);
}

/* ---- Not ready, busy ---- */

static void receiver_not_ready_waits(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD), later = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	nak(VQP_NAK_RNR, PSN(0));
	post(&later);
	expect_silence();
	assert_int_equal(env.armed, env.now + 500);
	timeout();
	expect_psn(PSN(0));
	expect_silence();
	ack(PSN(1));
	expect_psn(PSN(1));
}

static void receiver_not_ready_is_retried_for_ever(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 10 * GIVEUP / 500; i++) {
		nak(VQP_NAK_RNR, PSN(0));
		env.nsent = env.seen = 0;
		wait_for_packet();
		expect_psn(PSN(0));
	}
	assert_int_equal(env.ndone, 0);
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void waits_double_until_something_gets_through(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < VQP_TX_PAUSE_DOUBLINGS + 3; i++) {
		nak(VQP_NAK_RNR, PSN(0));
		assert_int_equal(env.tx.pause_us - env.now,
				 500 << (i < VQP_TX_PAUSE_DOUBLINGS ? i : VQP_TX_PAUSE_DOUBLINGS));
		wait_for_packet();
	}
	nak(VQP_NAK_RNR, PSN(1));
	assert_int_equal(env.tx.pause_us - env.now, 500);
}

static void not_ready_acknowledges_what_is_before(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	nak(VQP_NAK_RNR, PSN(1));
	expect_done(0, &msgs[0], VQP_WC_SUCCESS);
	assert_int_equal(env.ndone, 1);
}

static void an_ack_of_the_packet_waited_with_ends_the_wait(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	nak(VQP_NAK_RNR, PSN(0));
	env.seen = env.nsent;
	ack(PSN(1));
	expect_psn(PSN(1));
}

static void an_absurd_wait_is_cut_short(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	input((struct vqp_pkt) { .op = VQP_OP_NAK, .nak = VQP_NAK_RNR, .ack_psn = PSN(0), .rnr_us = ~0U });
	assert_true(env.tx.pause_us <= env.now + env.cfg.rto_max_us);
}

static void a_gap_report_during_the_wait_sends_nothing(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	nak(VQP_NAK_RNR, PSN(0));
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(0));
	expect_silence();
}

static void a_busy_target_is_asked_again_with_open(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 10 * GIVEUP / 500; i++) {
		env.nsent = env.seen = 0;
		nak(VQP_NAK_BUSY, PSN(1));
		expect_silence();
		wait_for_packet();
		assert_true(next_sent()->pkt.flags & VQP_PKT_OPEN);
		assert_int_equal(env.sent[0].pkt.psn, PSN(0));
	}
	assert_int_equal(env.ndone, 0);
}

static void late_busy_of_an_open_flow_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(1));
	nak(VQP_NAK_BUSY, PSN(0));
	assert_int_equal(env.tx.pause_us, 0);
}

/* ---- Lost contexts, stale targets ---- */

static void a_forgotten_flow_opens_again(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	post(&msgs[1]);
	assert_false(env.sent[1].pkt.flags & VQP_PKT_OPEN);
	env.seen = env.nsent;
	nak(VQP_NAK_NO_FLOW, PSN(1));
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(1));
	expect_psn(PSN(1));
	expect_silence();
}

static void more_reports_of_a_forgotten_flow_are_ignored(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 3 * PAYLOAD) };

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	post(&msgs[1]);
	nak(VQP_NAK_NO_FLOW, PSN(1));
	env.seen = env.nsent;
	nak(VQP_NAK_NO_FLOW, PSN(2));
	nak(VQP_NAK_NO_FLOW, PSN(3));
	expect_silence();
}

/* The target has no memory of the flow when packet `psn` of the present turn comes. */
static void forgotten(u32 psn)
{
	const struct vqp_pkt answer = {
		.op = VQP_OP_NAK, .nak = VQP_NAK_NO_FLOW, .flow = FLOW, .psn = psn, .ack_psn = psn, .turn = env.tx.turn,
	};

	vqp_tx_input(&env.tx, &answer, env.now);
}

static void opening_again_begins_with_a_whole_message(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 4 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(2));
	env.seen = env.nsent;
	forgotten(PSN(2));
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(0));
	for (u32 i = 0; i < 4; i++)
		expect_psn(PSN(i));
}

/* A first message, so that the target has a context. */
static void open_flow(void)
{
	static struct vqp_msg first;

	first = message(VQP_OP_SEND, 1);
	post(&first);
	ack(PSN(1));
	env.seen = env.nsent;
}

static void what_may_have_been_received_is_not_sent_again(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	open_flow();
	post(&msgs[0]);
	post(&msgs[1]);
	timeout();
	env.seen = env.nsent;
	forgotten(PSN(1));
	expect_silence();
	expect_done(1, &msgs[0], VQP_WC_RETRY_EXC_ERR);
	expect_done(2, &msgs[1], VQP_WC_WR_FLUSH_ERR);
}

static void what_came_before_a_forgotten_packet_may_have_been_received(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	open_flow();
	post(&msgs[0]);
	post(&msgs[1]);
	forgotten(PSN(2));
	expect_done(1, &msgs[0], VQP_WC_RETRY_EXC_ERR);
}

static void a_part_of_a_write_is_not_written_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_WRITE, 3 * PAYLOAD);

	(void)state;
	open_flow();
	post(&msg);
	ack(PSN(2));
	forgotten(PSN(2));
	expect_done(1, &msg, VQP_WC_RETRY_EXC_ERR);
}

static void a_part_of_a_send_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	env.cfg.window_packets = 1;
	open_flow();
	post(&msg);
	timeout();
	env.seen = env.nsent;
	forgotten(PSN(1));
	expect_psn(PSN(1));
	ack(PSN(2));
	ack(PSN(3));
	ack(PSN(4));
	expect_done(1, &msg, VQP_WC_SUCCESS);
}

static void a_read_is_asked_for_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, PAYLOAD);

	(void)state;
	open_flow();
	post(&msg);
	timeout();
	env.seen = env.nsent;
	forgotten(PSN(1));
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	expect_psn(PSN(1));
	respond(PSN(1), 0, PAYLOAD);
	expect_done(1, &msg, VQP_WC_SUCCESS);
}

static void a_flow_that_was_closed_opens_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	open_flow();
	post(&msg);
	timeout();
	env.seen = env.nsent;
	nak(VQP_NAK_CLOSED, PSN(0));
	expect_silence();
	nak(VQP_NAK_CLOSED, PSN(1));
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	expect_psn(PSN(1));
	nak(VQP_NAK_CLOSED, PSN(1));
	expect_silence();
	ack(PSN(2));
	expect_done(1, &msg, VQP_WC_SUCCESS);
}

static void a_closed_flows_target_has_acknowledged(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	open_flow();
	post(&msgs[0]);
	post(&msgs[1]);
	env.seen = env.nsent;
	nak(VQP_NAK_CLOSED, PSN(2));
	expect_done(1, &msgs[0], VQP_WC_SUCCESS);
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(2));
	expect_psn(PSN(2));
	ack(PSN(3));
	expect_done(2, &msgs[1], VQP_WC_SUCCESS);
}

static void a_late_report_of_a_forgotten_flow_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	struct vqp_pkt late = { .op = VQP_OP_NAK, .nak = VQP_NAK_NO_FLOW, .flow = FLOW, .psn = PSN(1), .ack_psn = PSN(1) };

	(void)state;
	open_flow();
	post(&msg);
	late.turn = env.tx.turn;
	timeout();
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &late, env.now);
	expect_silence();
	ack(PSN(2));
	expect_done(1, &msg, VQP_WC_SUCCESS);
}

/* Whoever calls first after the flow stood still. */
static void what_may_be_forgotten_is_not_sent_again(void **state)
{
	for (u32 i = 0; i < 3; i++) {
		struct vqp_msg msg = message(VQP_OP_SEND, 1), later = message(VQP_OP_SEND, 1);

		setup(state);
		env.cfg.forget_us = GIVEUP / 2;
		post(&msg);
		env.now += GIVEUP / 2 - 1;
		vqp_tx_run(&env.tx, env.now);
		assert_int_equal(env.ndone, 0);
		env.seen = env.nsent;
		env.now++;
		if (i == 0)
			post(&later);
		else if (i == 1)
			vqp_tx_retarget(&env.tx, env.now);
		else
			nak(VQP_NAK_SEQ, PSN(0));
		expect_silence();
		expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	}
}

static void a_late_read_is_asked_for_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, PAYLOAD);

	(void)state;
	env.cfg.forget_us = GIVEUP / 2;
	post(&msg);
	env.seen = env.nsent;
	env.now += GIVEUP / 2;
	vqp_tx_retarget(&env.tx, env.now);
	expect_psn(PSN(0));
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_stale_target_stops_the_flow(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD), later = message(VQP_OP_SEND, 1);
	const u8 codes[] = { VQP_NAK_NO_NS, VQP_NAK_EPOCH };

	for (u32 i = 0; i < 2; i++) {
		setup(state);
		post(&msg);
		env.seen = env.nsent;
		nak(codes[i], PSN(0));
		assert_int_equal(env.nstale, 1);
		nak(codes[i], PSN(1));
		assert_int_equal(env.nstale, 1);
		post(&later);
		vqp_tx_timeout(&env.tx, env.now + GIVEUP);
		expect_silence();
		assert_int_equal(env.ndone, 0);
	}
}

/* ---- Curbed flows, and capped ones ---- */

static void a_curbed_flow_is_not_given_up_on(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 10);

	(void)state;
	env.allowed = 0;
	post(&msg);
	assert_int_equal(env.nsent, 0);
	assert_int_equal(env.narmed, 0);
	env.now += 10 * GIVEUP;
	vqp_tx_timeout(&env.tx, env.now);
	assert_int_equal(env.ndone, 0);
	env.allowed = 1;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(0));
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void what_a_curbed_flow_has_sent_is_not_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 4 * PAYLOAD);

	(void)state;
	env.allowed = 2;
	post(&msg);
	assert_int_equal(env.nsent, 2);
	for (u32 i = 0; i < 10; i++) {
		env.now += GIVEUP;
		vqp_tx_timeout(&env.tx, env.now);
	}
	env.allowed = ~0U;
	vqp_tx_run(&env.tx, env.now);
	for (u32 i = 0; i < 4; i++)
		expect_psn(PSN(i));
	expect_silence();
	ack(PSN(4));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_curbed_flow_takes_answers(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, PAYLOAD), second = message(VQP_OP_SEND, PAYLOAD);

	(void)state;
	env.allowed = 1;
	post(&first);
	post(&second);
	env.now += 10 * GIVEUP;
	ack(PSN(1));
	expect_done(0, &first, VQP_WC_SUCCESS);
	assert_int_equal(env.ndone, 1);
	env.now += 10 * GIVEUP;
	env.allowed = 1;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(0));
	expect_psn(PSN(1));
	ack(PSN(2));
	expect_done(1, &second, VQP_WC_SUCCESS);
}

/* The time goes on where it stood. */
static void a_flow_that_is_curbed_no_more_gives_up(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);
	u64 since;

	(void)state;
	env.allowed = 1;
	post(&msg);
	env.now += 10 * GIVEUP;
	env.allowed = ~0U;
	vqp_tx_run(&env.tx, env.now);
	since = env.now;
	while (!env.ndone)
		timeout();
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	assert_true(env.now - since >= GIVEUP - RTO && env.now - since <= GIVEUP);
	assert_true(env.nsent > 3);
}

static void a_read_that_is_curbed_is_asked_for_later(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * CHUNK);

	(void)state;
	env.allowed = 1;
	post(&msg);
	expect_psn(PSN(0));
	expect_silence();
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	env.now += 10 * GIVEUP;
	env.allowed = 1;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(1));
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(1), i * PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	expect_silence();
}

static void an_atomic_that_is_curbed_counts_once(void **state)
{
	struct vqp_msg msg = fetch_add();

	(void)state;
	env.allowed = 0;
	post(&msg);
	for (u32 i = 0; i < 10; i++)
		vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.tx.atomics, 0);
	env.allowed = 1;
	vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.tx.atomics, 1);
	found(PSN(0), 5);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void curbed_memory_is_not_bad_memory(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, PAYLOAD);

	(void)state;
	env.allowed = 0;
	post(&msg);
	assert_int_equal(env.tx.fail, 0);
	assert_int_equal(env.ndone, 0);
}

static void a_new_target_ends_no_turn(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	env.allowed = 1;
	post(&msg);
	env.now += 10 * GIVEUP;
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(env.nsent, 1);
	env.now += 10 * GIVEUP;
	vqp_tx_timeout(&env.tx, env.now);
	env.allowed = ~0U;
	vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.nsent, 3);
	ack(PSN(2));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_cap_is_a_smaller_window(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 6 * PAYLOAD);

	(void)state;
	env.tx.cap = 2;
	post(&msg);
	assert_int_equal(env.nsent, 2);
	assert_true(vqp_tx_is_capped(&env.tx));
	ack(PSN(1));
	assert_int_equal(env.nsent, 3);
	ack(PSN(3));
	assert_int_equal(env.nsent, 5);
	ack(PSN(5));
	assert_int_equal(env.nsent, 6);
	assert_false(vqp_tx_is_capped(&env.tx));
	ack(PSN(6));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_capped_flow_asks_for_answers(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 100 * PAYLOAD);

	(void)state;
	env.tx.cap = 3;
	post(&msg);
	assert_int_equal(env.nsent, 3);
	assert_true(env.sent[2].pkt.flags & VQP_PKT_ACK_REQ);
}

static void a_capped_flow_fetches_one_chunk_at_a_time(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * CHUNK);

	(void)state;
	env.tx.cap = 8;
	post(&msg);
	assert_int_equal(env.nsent, 1);
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	assert_int_equal(env.nsent, 2);
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(1), i * PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_capped_flow_asks_a_new_target_for_what_it_was_fetching(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, PAYLOAD);

	(void)state;
	env.tx.cap = 1;
	post(&msg);
	assert_int_equal(env.nsent, 1);
	nak(VQP_NAK_EPOCH, PSN(0));
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(env.nsent, 2);
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_cap_that_is_lifted_counts_no_more(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 100 * PAYLOAD);

	(void)state;
	env.tx.cap = 1;
	post(&msg);
	assert_int_equal(env.nsent, 1);
	env.tx.cap = 0;
	ack(PSN(1));
	assert_int_equal(env.nsent, 33);
}

static void a_new_target_gets_all_that_is_unacknowledged(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 3 * PAYLOAD) };

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	post(&msgs[1]);
	nak(VQP_NAK_EPOCH, PSN(1));
	env.seen = env.nsent;
	env.now += 10 * GIVEUP;
	vqp_tx_retarget(&env.tx, env.now);
	for (u32 i = 1; i < 4; i++) {
		assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
		assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(1));
		expect_psn(PSN(i));
	}
	vqp_tx_timeout(&env.tx, env.now + 1);
	ack(PSN(4));
	expect_done(1, &msgs[1], VQP_WC_SUCCESS);
}

static void giving_up_on_a_stale_target(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	post(&msgs[1]);
	nak(VQP_NAK_NO_NS, PSN(0));
	vqp_tx_abort(&env.tx, VQP_WC_RETRY_EXC_ERR);
	expect_done(0, &msgs[0], VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &msgs[1], VQP_WC_WR_FLUSH_ERR);
}

static void a_late_refusal_of_the_target_before_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	struct vqp_pkt late = { .op = VQP_OP_NAK, .nak = VQP_NAK_EPOCH, .flow = FLOW };

	(void)state;
	post(&msg);
	late.turn = env.sent[0].pkt.turn;
	nak(VQP_NAK_EPOCH, PSN(0));
	vqp_tx_retarget(&env.tx, env.now);
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &late, env.now);
	assert_int_equal(env.nstale, 1);
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void an_idle_flow_opens_at_its_new_target(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1);

	(void)state;
	post(&first);
	ack(PSN(1));
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	expect_silence();
	post(&second);
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(1));
	expect_psn(PSN(1));
}

static void what_was_queued_goes_to_the_new_target(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	vqp_tx_queue(&env.tx, &msg);
	vqp_tx_retarget(&env.tx, env.now);
	expect_psn(PSN(0));
	expect_silence();
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

/* ---- READ ---- */

static void a_read_asks_for_chunks(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK + 10);
	const struct sent *sent;

	(void)state;
	post(&msg);
	sent = next_sent();
	assert_int_equal(sent->pkt.op, VQP_OP_READ);
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.addr, 0x10000);
	assert_int_equal(sent->pkt.msg_bytes, CHUNK);
	assert_int_equal(sent->bytes, 0);
	sent = next_sent();
	assert_int_equal(sent->pkt.psn, PSN(1));
	assert_int_equal(sent->pkt.addr, 0x10000 + CHUNK);
	assert_int_equal(sent->pkt.msg_bytes, 10);
	expect_silence();
}

static void a_read_completes_with_its_last_byte(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD + 50);

	(void)state;
	post(&msg);
	respond(PSN(0), 0, PAYLOAD);
	respond(PSN(0), 2 * PAYLOAD, 50);
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	for (u32 i = 0; i < 250; i++)
		assert_int_equal(env.memory[i], (u8)(PSN(0) + i / PAYLOAD));
}

static void an_empty_read_completes_with_its_answer(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 0);

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), 0, 0);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	assert_int_equal(env.nplaced, 0);
}

static void at_most_four_chunks_are_outstanding(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 6 * CHUNK);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
	for (u32 i = 0; i < VQP_READ_CHUNK_PACKETS; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS + 1);
}

static void an_answer_acknowledges_what_was_before(void **state)
{
	struct vqp_msg write = message(VQP_OP_WRITE, 1), read = message(VQP_OP_READ, 2 * PAYLOAD);

	(void)state;
	post(&write);
	post(&read);
	respond(PSN(1), 0, PAYLOAD);
	expect_done(0, &write, VQP_WC_SUCCESS);
	assert_int_equal(env.ndone, 1);
}

static void what_follows_a_read_waits_for_it(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	ack(PSN(2));
	assert_int_equal(env.ndone, 0);
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
	expect_done(1, &send, VQP_WC_SUCCESS);
}

static void a_wrong_answer_is_not_placed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD + 50);

	(void)state;
	post(&msg);
	respond(PSN(1), 0, PAYLOAD);			/* no such chunk */
	respond(PSN(0), 1, PAYLOAD);			/* between packets */
	respond(PSN(0), 0, PAYLOAD - 1);		/* short */
	respond(PSN(0), 2 * PAYLOAD, PAYLOAD);		/* long */
	respond(PSN(0), 3 * PAYLOAD, 0);		/* beyond the end */
	respond(PSN(0), 16 * PAYLOAD, PAYLOAD);		/* beyond the chunk */
	respond(PSN(0), 0x80000000U, PAYLOAD);
	assert_int_equal(env.nplaced, 0);
	assert_int_equal(env.tx.psn_acked, FIRST_PSN);
}

static void a_second_answer_is_not_placed_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	respond(PSN(0), 0, PAYLOAD);
	respond(PSN(0), 0, PAYLOAD);
	assert_int_equal(env.nplaced, 1);
}

static void what_is_missing_is_asked_for_when_the_end_arrives(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 10 * PAYLOAD);
	const struct sent *sent;

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.now += 100;
	for (u32 i = 0; i < 10; i++)
		if (i != 3 && i != 5)
			respond(PSN(0), i * PAYLOAD, PAYLOAD);
	sent = next_sent();
	expect_silence();
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.offset, 3 * PAYLOAD);
	assert_int_equal(sent->pkt.addr, 0x10000 + 3 * PAYLOAD);
	assert_int_equal(sent->pkt.msg_bytes, 3 * PAYLOAD);
	respond(PSN(0), 3 * PAYLOAD, PAYLOAD);
	respond(PSN(0), 5 * PAYLOAD, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void the_end_of_an_older_answer_shows_nothing(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 10 * PAYLOAD);
	struct vqp_pkt end = {
		.op = VQP_OP_READ_RESP, .flow = FLOW, .psn = PSN(0), .offset = 9 * PAYLOAD,
		.payload = env.source, .payload_bytes = PAYLOAD,
	};

	(void)state;
	post(&msg);
	end.turn = env.sent[0].pkt.turn;
	respond(PSN(0), 0, PAYLOAD);
	wait_for_packet();
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &end, env.now);
	expect_silence();
	end.turn = env.sent[1].pkt.turn;
	vqp_tx_input(&env.tx, &end, env.now);
	expect_psn(PSN(0));
}

static void the_end_of_a_later_chunk_shows_a_loss_too(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, CHUNK + PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	env.now += 100;
	for (u32 i = 0; i < 15; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	expect_silence();
	respond(PSN(1), 0, PAYLOAD);
	assert_int_equal(env.sent[env.seen].pkt.offset, 15 * PAYLOAD);
	expect_psn(PSN(0));
	expect_silence();
}

static void a_lost_end_is_asked_for_after_the_timeout(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 10 * PAYLOAD);

	(void)state;
	post(&msg);
	env.now += 100;
	for (u32 i = 0; i < 9; i++)
		respond(PSN(0), i * PAYLOAD, PAYLOAD);
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(env.sent[env.seen].pkt.offset, 9 * PAYLOAD);
	expect_psn(PSN(0));
	expect_silence();
}

static void sends_do_not_keep_a_read_waiting(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), sends[40];
	bool asked = false;

	(void)state;
	post(&read);
	for (u32 i = 0; i < 40; i++) {
		sends[i] = message(VQP_OP_SEND, 1);
		post(&sends[i]);
		env.now += RTO / 10;
		ack(PSN(i + 2));
		if (env.armed <= env.now)
			vqp_tx_timeout(&env.tx, env.now);
	}
	for (u32 i = 1; i < env.nsent; i++)
		asked |= env.sent[i].pkt.psn == PSN(0);
	assert_true(asked);
}

static void a_lost_read_request_is_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, 2 * CHUNK);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	nak(VQP_NAK_SEQ, PSN(0));
	expect_psn(PSN(0));
	expect_psn(PSN(1));
	expect_silence();
}

static void a_read_from_a_new_target_goes_on(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	respond(PSN(0), 0, PAYLOAD);
	ack(PSN(2));
	post(&(struct vqp_msg) { .op = VQP_OP_SEND });
	env.seen = env.nsent;
	nak(VQP_NAK_NO_FLOW, PSN(0));
	/* The chunk is older than where the flow is taken up: the target answers it as a duplicate. */
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(2));
	assert_int_equal(env.sent[env.seen].pkt.offset, PAYLOAD);
	expect_psn(PSN(0));
	expect_psn(PSN(2));
	vqp_tx_abort(&env.tx, VQP_WC_WR_FLUSH_ERR);
}

/* ---- Refusals ---- */

static void a_refusal_fails_its_message(void **state)
{
	const struct { u8 nak; u32 status; } expect[] = {
		{ VQP_NAK_ACCESS, VQP_WC_REM_ACCESS_ERR },
		{ VQP_NAK_INV_REQ, VQP_WC_REM_INV_REQ_ERR },
		{ VQP_NAK_OP, VQP_WC_REM_OP_ERR },
	};

	for (u32 i = 0; i < ARRAY_SIZE(expect); i++) {
		struct vqp_msg msgs[3] = {
			message(VQP_OP_SEND, 1), message(VQP_OP_WRITE, 3 * PAYLOAD), message(VQP_OP_SEND, 1),
		};

		setup(state);
		for (u32 j = 0; j < 3; j++)
			post(&msgs[j]);
		nak(expect[i].nak, PSN(2));
		expect_done(0, &msgs[0], VQP_WC_SUCCESS);
		expect_done(1, &msgs[1], expect[i].status);
		expect_done(2, &msgs[2], VQP_WC_WR_FLUSH_ERR);
	}
}

static void a_refusal_waits_for_an_earlier_read(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), write = message(VQP_OP_WRITE, 1);

	(void)state;
	post(&read);
	post(&write);
	respond(PSN(0), 0, PAYLOAD);
	nak(VQP_NAK_ACCESS, PSN(1));
	assert_int_equal(env.ndone, 0);
	env.seen = env.nsent;
	wait_for_packet();
	expect_psn(PSN(0));
	expect_silence();
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
	expect_done(1, &write, VQP_WC_REM_ACCESS_ERR);
}

static void a_refusal_does_not_wait_for_ever(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), write = message(VQP_OP_WRITE, 1);

	(void)state;
	post(&read);
	post(&write);
	respond(PSN(0), 0, PAYLOAD);
	nak(VQP_NAK_ACCESS, PSN(1));
	while (!env.ndone)
		timeout();
	expect_done(0, &read, VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &write, VQP_WC_WR_FLUSH_ERR);
}

static void nothing_more_is_sent_after_a_refusal(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), write = message(VQP_OP_WRITE, 1);
	struct vqp_msg later = message(VQP_OP_WRITE, 1);

	(void)state;
	post(&read);
	post(&write);
	nak(VQP_NAK_ACCESS, PSN(1));
	env.seen = env.nsent;
	post(&later);
	expect_silence();
	vqp_tx_abort(&env.tx, VQP_WC_WR_FLUSH_ERR);
	assert_int_equal(env.ndone, 3);
}

static void a_read_asked_for_again_can_be_refused(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	respond(PSN(0), 0, PAYLOAD);
	ack(PSN(2));
	nak(VQP_NAK_ACCESS, PSN(0));
	expect_done(0, &read, VQP_WC_REM_ACCESS_ERR);
	expect_done(1, &send, VQP_WC_WR_FLUSH_ERR);
}

static void a_refusal_of_what_is_finished_is_ignored(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), send = message(VQP_OP_SEND, PAYLOAD);

	(void)state;
	post(&read);
	respond(PSN(0), 0, PAYLOAD);
	post(&send);
	nak(VQP_NAK_ACCESS, PSN(0));
	nak(VQP_NAK_OP, PSN(0));
	nak(VQP_NAK_OP, PSN(2));
	assert_int_equal(env.ndone, 1);
}

static void answers_that_make_no_sense_are_ignored(void **state)
{
	const u8 codes[] = { VQP_NAK_SEQ, VQP_NAK_RNR, VQP_NAK_ACCESS, VQP_NAK_INV_REQ, VQP_NAK_OP };
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	for (u32 i = 0; i < ARRAY_SIZE(codes); i++) {
		nak(codes[i], PSN(1));
		nak(codes[i], PSN(0) - 1);
	}
	nak(VQP_NAK_MAX + 1, PSN(0));
	expect_silence();
	assert_int_equal(env.ndone, 0);
	ack(PSN(1));
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void the_first_of_two_refusals_counts(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), write = message(VQP_OP_WRITE, 1);

	(void)state;
	post(&read);
	post(&write);
	nak(VQP_NAK_ACCESS, PSN(1));
	nak(VQP_NAK_OP, PSN(1));
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
	expect_done(1, &write, VQP_WC_REM_ACCESS_ERR);
}

static void a_refusal_of_an_earlier_message_counts_before_bad_memory(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	env.bad = &msgs[1];
	post(&msgs[0]);
	post(&msgs[1]);
	nak(VQP_NAK_OP, PSN(0));
	expect_done(0, &msgs[0], VQP_WC_REM_OP_ERR);
	expect_done(1, &msgs[1], VQP_WC_WR_FLUSH_ERR);
}

static void bad_local_memory_fails_the_oldest_message_at_once(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	env.bad = &msg;
	post(&msg);
	expect_done(0, &msg, VQP_WC_LOC_PROT_ERR);
	expect_silence();
	assert_int_equal(env.narmed, 0);
}

static void what_is_before_bad_local_memory_is_sent_again_when_lost(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	env.bad = &msgs[1];
	post(&msgs[0]);
	post(&msgs[1]);
	env.seen = env.nsent;
	wait_for_packet();
	expect_psn(PSN(0));
	expect_silence();
	ack(PSN(1));
	expect_done(0, &msgs[0], VQP_WC_SUCCESS);
	expect_done(1, &msgs[1], VQP_WC_LOC_PROT_ERR);
}

static void a_read_that_cannot_be_asked_for_again_fails(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	env.bad = &read;
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &read, VQP_WC_LOC_PROT_ERR);
	expect_done(1, &send, VQP_WC_WR_FLUSH_ERR);
}

static void bad_local_memory_fails_its_message_only_after_the_earlier(void **state)
{
	struct vqp_msg msgs[3] = {
		message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1),
	};

	(void)state;
	env.bad = &msgs[1];
	for (u32 i = 0; i < 3; i++)
		post(&msgs[i]);
	assert_int_equal(env.nsent, 1);
	assert_int_equal(env.ndone, 0);
	ack(PSN(1));
	expect_done(0, &msgs[0], VQP_WC_SUCCESS);
	expect_done(1, &msgs[1], VQP_WC_LOC_PROT_ERR);
	expect_done(2, &msgs[2], VQP_WC_WR_FLUSH_ERR);
}

static void a_read_into_bad_memory_fails(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, PAYLOAD), send = message(VQP_OP_SEND, 1);

	(void)state;
	post(&read);
	post(&send);
	env.bad_place = true;
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &read, VQP_WC_LOC_PROT_ERR);
	expect_done(1, &send, VQP_WC_WR_FLUSH_ERR);
}

static void a_dead_flow_flushes_what_is_posted(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	vqp_tx_abort(&env.tx, VQP_WC_RETRY_EXC_ERR);
	post(&msgs[0]);
	vqp_tx_queue(&env.tx, &msgs[1]);
	expect_done(0, &msgs[0], VQP_WC_WR_FLUSH_ERR);
	expect_done(1, &msgs[1], VQP_WC_WR_FLUSH_ERR);
	expect_silence();
}

static void a_dead_flow_is_deaf(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, PAYLOAD);

	(void)state;
	post(&msg);
	vqp_tx_abort(&env.tx, VQP_WC_WR_FLUSH_ERR);
	respond(PSN(0), 0, PAYLOAD);
	ack(PSN(1));
	nak(VQP_NAK_NO_NS, PSN(0));
	vqp_tx_timeout(&env.tx, env.now + GIVEUP);
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(env.ndone, 1);
	assert_int_equal(env.nplaced + env.nstale, 0);
	assert_int_equal(env.nsent, 1);
}

/* ---- Atomics ---- */

static void an_atomic_is_one_packet(void **state)
{
	struct vqp_msg msg = message(VQP_OP_CMP_SWP, VQP_ATOMIC_BYTES);
	const struct sent *sent;

	(void)state;
	msg.compare_add = 1;
	msg.swap = 2;
	post(&msg);
	sent = next_sent();
	assert_int_equal(sent->pkt.op, VQP_OP_CMP_SWP);
	assert_int_equal(sent->pkt.psn, PSN(0));
	assert_int_equal(sent->pkt.addr, 0x10000);
	assert_int_equal(sent->pkt.rkey, 5);
	assert_int_equal(sent->pkt.compare_add, 1);
	assert_int_equal(sent->pkt.swap, 2);
	assert_int_equal(sent->bytes, 0);
	expect_silence();
}

static void an_atomic_completes_with_what_was_there(void **state)
{
	struct vqp_msg msg = fetch_add();
	const u64 before = 0x0102030405060708;

	(void)state;
	post(&msg);
	ack(PSN(1));
	assert_int_equal(env.ndone, 0);
	found(PSN(0), before);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	assert_memory_equal(env.memory, &before, sizeof(before));
}

static void an_atomic_whose_answer_is_lost_is_asked_for_again(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	post(&next);
	ack(PSN(2));
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_FETCH_ADD);
	assert_int_equal(env.sent[env.seen].pkt.compare_add, 7);
	expect_psn(PSN(0));
	found(PSN(0), 1);
	expect_done(0, &msg, VQP_WC_SUCCESS);
	expect_done(1, &next, VQP_WC_SUCCESS);
}

/* The target remembers what the last few found: another may only push out what is known here. */
static void atomics_wait_for_the_oldest_answer(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS + 2];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
	}
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
	for (u32 i = 1; i < VQP_READ_CHUNKS; i++)
		found(PSN(i), i);
	for (u32 i = VQP_READ_CHUNKS; i < env.nsent; i++)
		assert_int_equal(env.sent[i].pkt.psn, PSN(0));
	env.seen = env.nsent;
	found(PSN(0), 0);
	expect_psn(PSN(VQP_READ_CHUNKS));
	expect_psn(PSN(VQP_READ_CHUNKS + 1));
	expect_silence();
	assert_int_equal(env.ndone, VQP_READ_CHUNKS);
}

static void atomics_that_are_sent_again_do_not_wait_for_themselves(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
	}
	env.seen = env.nsent;
	wait_for_packet();
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(env.nsent, env.seen + VQP_READ_CHUNKS);
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++)
		found(PSN(i), i);
	assert_int_equal(env.ndone, VQP_READ_CHUNKS);
}

static void atomics_without_room_count_once(void **state)
{
	struct vqp_msg msgs[VQP_READ_CHUNKS];

	(void)state;
	env.room = 0;
	for (u32 i = 0; i < ARRAY_SIZE(msgs); i++) {
		msgs[i] = fetch_add();
		post(&msgs[i]);
		vqp_tx_run(&env.tx, env.now);
	}
	env.room = ~0U;
	vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.nsent, VQP_READ_CHUNKS);
}

/* What it found only the old target knows. */
static void an_atomic_whose_target_has_changed_fails(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	ack(PSN(1));
	post(&next);
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	assert_int_equal(next_sent()->pkt.op, VQP_OP_FETCH_ADD);
	ack(PSN(2));
	nak(VQP_NAK_OP, PSN(0));
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &next, VQP_WC_WR_FLUSH_ERR);
}

static void a_late_refusal_of_a_finished_atomic_is_ignored(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	found(PSN(0), 0);
	post(&next);
	nak(VQP_NAK_OP, PSN(0));
	ack(PSN(2));
	expect_done(1, &next, VQP_WC_SUCCESS);
}

static void a_forgotten_flow_does_not_repeat_an_atomic(void **state)
{
	struct vqp_msg msg = fetch_add(), next = message(VQP_OP_SEND, 10);

	(void)state;
	post(&msg);
	ack(PSN(1));			/* it was carried out; what it found is lost */
	post(&next);
	nak(VQP_NAK_NO_FLOW, 0);
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	expect_done(1, &next, VQP_WC_WR_FLUSH_ERR);
}

static void a_refused_atomic_fails(void **state)
{
	struct vqp_msg msg = fetch_add();

	(void)state;
	post(&msg);
	nak(VQP_NAK_INV_REQ, PSN(0));
	expect_done(0, &msg, VQP_WC_REM_INV_REQ_ERR);
}

static void what_an_atomic_found_has_eight_bytes(void **state)
{
	struct vqp_msg msg = fetch_add();

	(void)state;
	post(&msg);
	respond(PSN(0), 0, 4);
	respond(PSN(0), 0, 16);
	respond(PSN(0), PAYLOAD, VQP_ATOMIC_BYTES);
	assert_int_equal(env.nplaced, 0);
	found(PSN(0), 0);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

static void a_fence_waits_for_earlier_atomics(void **state)
{
	struct vqp_msg atomic = fetch_add(), send = message(VQP_OP_SEND, 10);

	(void)state;
	send.fence = true;
	post(&atomic);
	post(&send);
	ack(PSN(1));
	assert_int_equal(env.nsent, 1);
	found(PSN(0), 0);
	assert_int_equal(env.nsent, 2);
}

/* ---- Fences ---- */

static void a_fence_waits_for_earlier_reads(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 10), send = message(VQP_OP_SEND, 10);

	(void)state;
	send.fence = true;
	post(&read);
	env.seen = env.nsent;
	post(&send);
	expect_silence();
	respond(PSN(0), 0, 10);
	assert_int_equal(env.ndone, 1);
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_SEND);
	env.seen = env.nsent;
	ack(PSN(2));
	assert_int_equal(env.ndone, 2);
}

static void a_fence_does_not_wait_for_writes(void **state)
{
	struct vqp_msg write = message(VQP_OP_WRITE, 10), send = message(VQP_OP_SEND, 10);

	(void)state;
	send.fence = true;
	post(&write);
	env.seen = env.nsent;
	post(&send);
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_SEND);
	env.seen = env.nsent;
	ack(PSN(2));
	assert_int_equal(env.ndone, 2);
}

/* After going back, a READ that was sent before comes after it. */
static void a_fence_does_not_wait_for_later_reads(void **state)
{
	struct vqp_msg send = message(VQP_OP_SEND, 10), read = message(VQP_OP_READ, 10);

	(void)state;
	send.fence = true;
	post(&send);
	post(&read);
	env.seen = env.nsent;
	nak(VQP_NAK_RNR, PSN(0));
	wait_for_packet();
	expect_psn(PSN(0));
	ack(PSN(1));
	expect_done(0, &send, VQP_WC_SUCCESS);
	respond(PSN(1), 0, 10);
	expect_done(1, &read, VQP_WC_SUCCESS);
}

static void a_fenced_read_does_not_wait_for_itself(void **state)
{
	struct vqp_msg read = message(VQP_OP_READ, 2 * CHUNK);

	(void)state;
	read.fence = true;
	post(&read);
	expect_psn(PSN(0));
	expect_psn(PSN(1));
}

/* ---- Closing ---- */

static void closing_tells_the_target(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	ack(PSN(1));
	env.seen = env.nsent;
	vqp_tx_close(&env.tx);
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_CLOSE);
	assert_int_equal(env.sent[env.seen].pkt.flags, 0);
	assert_null(next_sent()->msg);
	vqp_tx_close(&env.tx);
	expect_silence();
}

static void an_idle_flow_lets_its_context_go(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1);

	(void)state;
	env.cfg.close_us = 1000;
	post(&first);
	ack(PSN(1));
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(env.sent[env.seen].pkt.op, VQP_OP_CLOSE);
	assert_int_equal(env.sent[env.seen].pkt.psn, PSN(1));
	env.seen = env.nsent;
	vqp_tx_timeout(&env.tx, env.now + GIVEUP);
	expect_silence();
	post(&second);
	assert_true(env.sent[env.seen].pkt.flags & VQP_PKT_OPEN);
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(1));
	env.seen = env.nsent;
	ack(PSN(2));
	assert_int_equal(env.ndone, 2);
}

static void a_context_is_let_go_later_when_there_is_no_room(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	env.cfg.close_us = 1000;
	post(&msg);
	ack(PSN(1));
	env.seen = env.nsent;
	env.room = 0;
	for (u32 i = 0; i < 5; i++)
		timeout();
	expect_silence();
	env.room = 1;
	wait_for_packet();
	assert_int_equal(next_sent()->pkt.op, VQP_OP_CLOSE);
	expect_silence();
}

static void closing_a_flow_nobody_knows_is_silent(void **state)
{
	(void)state;
	vqp_tx_close(&env.tx);
	expect_silence();
}

static void closing_flushes_what_is_left(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	vqp_tx_close(&env.tx);
	expect_done(0, &msg, VQP_WC_WR_FLUSH_ERR);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_send_is_one_packet),
		TEST(a_long_send_is_cut_into_packets),
		TEST(a_message_of_whole_packets_has_no_empty_one),
		TEST(an_empty_message_is_one_packet),
		TEST(a_write_names_each_packets_address),
		TEST(the_immediate_goes_with_the_last_packet),
		TEST(packets_open_until_the_first_answer),
		TEST(a_gap_report_is_a_first_answer),
		TEST(the_window_bounds_what_is_in_flight),
		TEST(the_last_of_a_burst_asks_for_an_ack),
		TEST(queued_messages_ask_once),
		TEST(no_room_is_tried_again),
		TEST(a_flow_that_never_gets_room_gives_up),
		TEST(a_flow_that_gets_room_late_goes_on),
		TEST(messages_complete_in_order),
		TEST(a_message_waits_for_its_last_packet),
		TEST(acks_out_of_range_are_ignored),
		TEST(an_ack_of_another_flow_is_ignored),
		TEST(a_duplicate_ack_changes_nothing),
		TEST(requests_are_no_answers),
		TEST(a_gap_makes_it_go_back),
		TEST(only_what_is_lost_is_sent_again),
		TEST(what_came_and_was_not_kept_is_sent_again),
		TEST(the_window_is_cut_by_what_is_lost_but_not_below_half),
		TEST(a_window_that_was_cut_opens_by_four_packets_in_a_round_trip),
		TEST(a_window_of_one_packet_is_not_cut),
		TEST(a_window_that_was_closed_opens_to_half_at_once),
		TEST(losses_wait_for_the_window_but_for_the_first),
		TEST(turns_that_are_yet_to_come_are_not_believed),
		TEST(a_later_loss_is_mended_at_once),
		TEST(what_is_lost_again_is_sent_again),
		TEST(what_was_sent_again_may_be_under_way),
		TEST(what_is_held_is_not_in_flight),
		TEST(what_was_held_does_not_open_the_window_again),
		TEST(after_a_timeout_one_packet_at_a_time_is_believed),
		TEST(no_more_is_sent_than_a_target_holds),
		TEST(a_hole_waits_for_room),
		TEST(a_curbed_flow_is_not_given_up_on),
		TEST(what_a_curbed_flow_has_sent_is_not_sent_again),
		TEST(a_curbed_flow_takes_answers),
		TEST(a_flow_that_is_curbed_no_more_gives_up),
		TEST(a_read_that_is_curbed_is_asked_for_later),
		TEST(an_atomic_that_is_curbed_counts_once),
		TEST(curbed_memory_is_not_bad_memory),
		TEST(a_new_target_ends_no_turn),
		TEST(a_cap_is_a_smaller_window),
		TEST(a_capped_flow_asks_for_answers),
		TEST(a_capped_flow_fetches_one_chunk_at_a_time),
		TEST(a_capped_flow_asks_a_new_target_for_what_it_was_fetching),
		TEST(a_cap_that_is_lifted_counts_no_more),
		TEST(what_was_late_and_not_lost_is_not_sent_again),
		TEST(what_was_lost_among_what_was_late_is_sent_again),
		TEST(what_was_lost_keeps_the_window_closed),
		TEST(a_window_cut_for_a_gap_that_was_but_order_opens_again),
		TEST(what_a_pause_stopped_is_sent_again),
		TEST(a_hole_that_was_filled_meanwhile_is_not_sent),
		TEST(a_hole_with_bad_memory_fails_its_message),
		TEST(a_read_in_a_hole_is_requested_again),
		TEST(a_gap_report_from_nowhere_is_harmless),
		TEST(a_gap_completes_what_is_before_it),
		TEST(copies_of_a_gap_report_go_back_once),
		TEST(gaps_are_heeded_after_any_number_of_reads),
		TEST(a_flow_that_goes_on_asks_now_and_then),
		TEST(a_flow_with_a_small_window_asks_each_time),
		TEST(the_last_packet_of_all_asks),
		TEST(a_gap_with_nothing_behind_it_halves_the_window),
		TEST(silence_sends_one_packet_again),
		TEST(an_ack_of_all_after_silence_sends_nothing_again),
		TEST(going_on_after_an_ack_overtook_going_back),
		TEST(the_timeout_doubles_to_its_limit),
		TEST(a_measured_round_trip_ends_the_doubling),
		TEST(the_timeout_follows_the_round_trip),
		TEST(packets_sent_twice_are_measured_right),
		TEST(an_answer_to_another_packet_is_no_measure),
		TEST(nobody_there_ends_in_retry_exceeded),
		TEST(giving_up_counts_from_the_last_progress),
		TEST(a_late_timer_is_not_held_against_the_target),
		TEST(an_idle_flow_does_not_give_up),
		TEST(the_timer_is_armed_once_for_many_packets),
		TEST(an_early_timeout_is_put_off),
		TEST(receiver_not_ready_waits),
		TEST(receiver_not_ready_is_retried_for_ever),
		TEST(waits_double_until_something_gets_through),
		TEST(not_ready_acknowledges_what_is_before),
		TEST(an_ack_of_the_packet_waited_with_ends_the_wait),
		TEST(an_absurd_wait_is_cut_short),
		TEST(a_gap_report_during_the_wait_sends_nothing),
		TEST(a_busy_target_is_asked_again_with_open),
		TEST(late_busy_of_an_open_flow_is_ignored),
		TEST(a_forgotten_flow_opens_again),
		TEST(more_reports_of_a_forgotten_flow_are_ignored),
		TEST(opening_again_begins_with_a_whole_message),
		TEST(what_may_have_been_received_is_not_sent_again),
		TEST(what_came_before_a_forgotten_packet_may_have_been_received),
		TEST(a_part_of_a_write_is_not_written_again),
		TEST(a_part_of_a_send_is_sent_again),
		TEST(a_read_is_asked_for_again),
		TEST(a_flow_that_was_closed_opens_again),
		TEST(a_closed_flows_target_has_acknowledged),
		TEST(a_late_report_of_a_forgotten_flow_is_ignored),
		TEST(what_may_be_forgotten_is_not_sent_again),
		TEST(a_late_read_is_asked_for_again),
		TEST(a_stale_target_stops_the_flow),
		TEST(a_new_target_gets_all_that_is_unacknowledged),
		TEST(giving_up_on_a_stale_target),
		TEST(a_late_refusal_of_the_target_before_is_ignored),
		TEST(an_idle_flow_opens_at_its_new_target),
		TEST(what_was_queued_goes_to_the_new_target),
		TEST(a_read_asks_for_chunks),
		TEST(a_read_completes_with_its_last_byte),
		TEST(an_empty_read_completes_with_its_answer),
		TEST(at_most_four_chunks_are_outstanding),
		TEST(an_answer_acknowledges_what_was_before),
		TEST(what_follows_a_read_waits_for_it),
		TEST(a_wrong_answer_is_not_placed),
		TEST(a_second_answer_is_not_placed_again),
		TEST(what_is_missing_is_asked_for_when_the_end_arrives),
		TEST(the_end_of_an_older_answer_shows_nothing),
		TEST(the_end_of_a_later_chunk_shows_a_loss_too),
		TEST(a_lost_end_is_asked_for_after_the_timeout),
		TEST(sends_do_not_keep_a_read_waiting),
		TEST(a_lost_read_request_is_sent_again),
		TEST(a_read_from_a_new_target_goes_on),
		TEST(a_refusal_fails_its_message),
		TEST(a_refusal_waits_for_an_earlier_read),
		TEST(a_refusal_does_not_wait_for_ever),
		TEST(nothing_more_is_sent_after_a_refusal),
		TEST(a_read_asked_for_again_can_be_refused),
		TEST(a_refusal_of_what_is_finished_is_ignored),
		TEST(answers_that_make_no_sense_are_ignored),
		TEST(the_first_of_two_refusals_counts),
		TEST(a_refusal_of_an_earlier_message_counts_before_bad_memory),
		TEST(bad_local_memory_fails_the_oldest_message_at_once),
		TEST(what_is_before_bad_local_memory_is_sent_again_when_lost),
		TEST(bad_local_memory_fails_its_message_only_after_the_earlier),
		TEST(a_read_into_bad_memory_fails),
		TEST(a_read_that_cannot_be_asked_for_again_fails),
		TEST(a_dead_flow_flushes_what_is_posted),
		TEST(a_dead_flow_is_deaf),
		TEST(an_atomic_is_one_packet),
		TEST(an_atomic_completes_with_what_was_there),
		TEST(an_atomic_whose_answer_is_lost_is_asked_for_again),
		TEST(atomics_wait_for_the_oldest_answer),
		TEST(atomics_that_are_sent_again_do_not_wait_for_themselves),
		TEST(atomics_without_room_count_once),
		TEST(an_atomic_whose_target_has_changed_fails),
		TEST(a_late_refusal_of_a_finished_atomic_is_ignored),
		TEST(a_forgotten_flow_does_not_repeat_an_atomic),
		TEST(a_refused_atomic_fails),
		TEST(what_an_atomic_found_has_eight_bytes),
		TEST(a_fence_waits_for_earlier_atomics),
		TEST(a_fence_waits_for_earlier_reads),
		TEST(a_fence_does_not_wait_for_writes),
		TEST(a_fence_does_not_wait_for_later_reads),
		TEST(a_fenced_read_does_not_wait_for_itself),
		TEST(closing_tells_the_target),
		TEST(an_idle_flow_lets_its_context_go),
		TEST(a_context_is_let_go_later_when_there_is_no_room),
		TEST(closing_a_flow_nobody_knows_is_silent),
		TEST(closing_flushes_what_is_left),
	};

	return cmocka_run_group_tests_name("tx", tests, NULL, NULL);
}
