// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Timeouts and round trips, and targets that ask for time: without a receive, or too busy. */
#include "tx_flow.h"

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
			assert_int_equal(env.tx.cc.srtt_us, 800);
			assert_int_equal(env.tx.rto_us, 800 + 4 * 400);
		}
	}
	assert_in_range(env.tx.cc.srtt_us, 790, 810);
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
	assert_int_equal(env.tx.cc.srtt_us, RTO + 5);
}

static void an_answer_to_another_packet_is_no_measure(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	post(&msgs[0]);
	env.now += 100;
	post(&msgs[1]);
	ack(PSN(2));
	assert_int_equal(env.tx.cc.srtt_us, 0);
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

static void a_node_that_answers_others_is_given_more_time(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	const u64 began = env.now;
	u64 heard_us = 0;

	(void)state;
	post(&msg);
	while (env.now - began < 2 * GIVEUP) {
		heard_us = env.now;
		vqp_tx_hear_node(&env.tx, heard_us);
		timeout();
		assert_int_equal(env.ndone, 0);
	}
	/* Now the node is silent. */
	while (!env.ndone)
		timeout();
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	assert_int_equal(env.now - heard_us, GIVEUP);
}

static void a_node_that_answers_only_others_is_given_up(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	const u64 began = env.now;

	(void)state;
	post(&msg);
	while (!env.ndone) {
		vqp_tx_hear_node(&env.tx, env.now);
		timeout();
	}
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	assert_int_equal(env.now - began, PATIENCE);
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

static void a_busy_target_is_asked_again_with_open_and_then_given_up(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);
	const u64 began = env.now;
	u32 asked = 0;

	(void)state;
	post(&msg);
	for (;;) {
		env.nsent = env.seen = 0;
		nak(VQP_NAK_BUSY, PSN(1));
		if (env.ndone)
			break;
		expect_silence();
		wait_for_packet();
		assert_true(next_sent()->pkt.flags & VQP_PKT_OPEN);
		assert_int_equal(env.sent[0].pkt.psn, PSN(0));
		asked++;
	}
	assert_true(asked > 3);
	assert_in_range(env.now - began, PATIENCE, PATIENCE + 100000);
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
	assert_int_equal(env.ndone, 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(silence_sends_one_packet_again),
		TEST(an_ack_of_all_after_silence_sends_nothing_again),
		TEST(going_on_after_an_ack_overtook_going_back),
		TEST(the_timeout_doubles_to_its_limit),
		TEST(a_measured_round_trip_ends_the_doubling),
		TEST(the_timeout_follows_the_round_trip),
		TEST(packets_sent_twice_are_measured_right),
		TEST(an_answer_to_another_packet_is_no_measure),
		TEST(nobody_there_ends_in_retry_exceeded),
		TEST(a_node_that_answers_others_is_given_more_time),
		TEST(a_node_that_answers_only_others_is_given_up),
		TEST(giving_up_counts_from_the_last_progress),
		TEST(an_idle_flow_does_not_give_up),
		TEST(a_late_timer_is_not_held_against_the_target),
		TEST(the_timer_is_armed_once_for_many_packets),
		TEST(an_early_timeout_is_put_off),
		TEST(receiver_not_ready_waits),
		TEST(receiver_not_ready_is_retried_for_ever),
		TEST(waits_double_until_something_gets_through),
		TEST(not_ready_acknowledges_what_is_before),
		TEST(an_ack_of_the_packet_waited_with_ends_the_wait),
		TEST(an_absurd_wait_is_cut_short),
		TEST(a_gap_report_during_the_wait_sends_nothing),
		TEST(a_busy_target_is_asked_again_with_open_and_then_given_up),
		TEST(late_busy_of_an_open_flow_is_ignored),
	};

	return cmocka_run_group_tests_name("tx_timer", tests, NULL, NULL);
}
