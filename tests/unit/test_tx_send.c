// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a flow sends when nothing is lost: packets of messages, what has no room or may not be sent yet, fences. */
#include "tx_flow.h"

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

/* ---- Curbed flows ---- */

static void a_throttled_flow_is_not_given_up_on(void **state)
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

static void what_a_throttled_flow_has_sent_is_not_sent_again(void **state)
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

static void a_throttled_flow_takes_answers(void **state)
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
static void a_flow_that_is_throttled_no_more_gives_up(void **state)
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

static void a_read_that_is_throttled_is_asked_for_later(void **state)
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

static void an_atomic_that_is_throttled_counts_once(void **state)
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

static void throttled_memory_is_not_bad_memory(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, PAYLOAD);

	(void)state;
	env.allowed = 0;
	post(&msg);
	assert_int_equal(env.tx.fail, 0);
	assert_int_equal(env.ndone, 0);
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
		TEST(no_room_is_tried_again),
		TEST(a_flow_that_never_gets_room_gives_up),
		TEST(a_flow_that_gets_room_late_goes_on),
		TEST(a_throttled_flow_is_not_given_up_on),
		TEST(what_a_throttled_flow_has_sent_is_not_sent_again),
		TEST(a_throttled_flow_takes_answers),
		TEST(a_flow_that_is_throttled_no_more_gives_up),
		TEST(a_read_that_is_throttled_is_asked_for_later),
		TEST(an_atomic_that_is_throttled_counts_once),
		TEST(throttled_memory_is_not_bad_memory),
		TEST(a_fence_waits_for_earlier_reads),
		TEST(a_fence_does_not_wait_for_writes),
		TEST(a_fence_does_not_wait_for_later_reads),
		TEST(a_fenced_read_does_not_wait_for_itself),
	};

	return cmocka_run_group_tests_name("tx_send", tests, NULL, NULL);
}
