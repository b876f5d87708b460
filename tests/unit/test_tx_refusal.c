// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests that the target refuses, memory that is bad, and flows that have failed. */
#include "tx_flow.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		TEST(a_read_that_cannot_be_asked_for_again_fails),
		TEST(bad_local_memory_fails_its_message_only_after_the_earlier),
		TEST(a_read_into_bad_memory_fails),
		TEST(a_dead_flow_flushes_what_is_posted),
		TEST(a_dead_flow_is_deaf),
	};

	return cmocka_run_group_tests_name("tx_refusal", tests, NULL, NULL);
}
