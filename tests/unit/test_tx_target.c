// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Targets that have forgotten the flow or have moved, and flows that are closed. */
#include "tx_flow.h"

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
	set_window(1);
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

static void a_report_of_a_context_that_was_closed_before_is_ignored(void **state)
{
	const struct vqp_pkt closed = { .op = VQP_OP_NAK, .nak = VQP_NAK_CLOSED, .flow = FLOW, .ack_psn = PSN(0), .psn = PSN(0) };
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	/* The flow has opened no context yet. */
	vqp_tx_input(&env.tx, &closed, env.now);
	expect_silence();
	/* It has opened one since, and the report is of the one before. */
	nak(VQP_NAK_EPOCH, PSN(0));
	vqp_tx_retarget(&env.tx, env.now);
	expect_psn(PSN(0));
	nak(VQP_NAK_RNR, PSN(0));
	assert_true(env.tx.opened);
	vqp_tx_input(&env.tx, &closed, env.now);
	assert_true(env.tx.opened);
	expect_silence();
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

/* A node that has no context may answer for ever, while the one that has carried the request out forgets it. */
static void only_a_context_is_heard(void **state)
{
	const struct { u8 nak; bool heard; } cases[] = {
		{ VQP_NAK_NO_NS, false }, { VQP_NAK_EPOCH, false }, { VQP_NAK_BUSY, false }, { VQP_NAK_STALE, false },
		{ VQP_NAK_NO_FLOW, false }, { VQP_NAK_SEQ, true }, { VQP_NAK_RNR, true }, { VQP_NAK_CLOSED, true },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vqp_msg msg = message(VQP_OP_SEND, 1);
		struct vqp_pkt answer = { .op = VQP_OP_NAK, .nak = cases[i].nak, .ack_psn = PSN(0) };

		setup(state);
		env.cfg.forget_us = GIVEUP / 2;
		post(&msg);
		env.now += GIVEUP / 4;
		if (answer.nak == VQP_NAK_STALE)
			answer.echo = 5;
		input(answer);
		if (env.tx.stopped)
			vqp_tx_retarget(&env.tx, env.now);
		env.now += GIVEUP / 4;
		vqp_tx_run(&env.tx, env.now);
		assert_int_equal(env.ndone, cases[i].heard ? 0 : 1);
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

/* ---- New targets ---- */

/* The same node has let go of the context since: the rest of the message does not go on without its beginning. */
static void an_ack_that_comes_after_a_restart_repeats_nothing(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&first);
	post(&msg);
	vqp_tx_retarget(&env.tx, env.now);
	env.seen = env.nsent;
	ack_to(PSN(2), 0);
	expect_done(0, &first, VQP_WC_SUCCESS);
	expect_silence();
	nak(VQP_NAK_NO_FLOW, PSN(3));
	expect_silence();
	expect_done(1, &msg, VQP_WC_RETRY_EXC_ERR);
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

static void what_the_target_before_acknowledges_is_not_sent_again(void **state)
{
	struct vqp_msg msgs[4] = {
		message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1),
	};

	(void)state;
	for (u32 i = 0; i < 4; i++)
		post(&msgs[i]);
	nak(VQP_NAK_EPOCH, PSN(0));
	env.seen = env.nsent;
	env.room = 1;
	vqp_tx_retarget(&env.tx, env.now);
	expect_psn(PSN(0));
	expect_silence();
	/* The target before had carried out three messages, and its answer was late. */
	env.room = ~0U;
	ack_to(PSN(3), 0);
	for (u32 i = 0; i < 3; i++)
		expect_done(i, &msgs[i], VQP_WC_SUCCESS);
	expect_psn(PSN(3));
	expect_silence();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		TEST(a_report_of_a_context_that_was_closed_before_is_ignored),
		TEST(a_late_report_of_a_forgotten_flow_is_ignored),
		TEST(what_may_be_forgotten_is_not_sent_again),
		TEST(only_a_context_is_heard),
		TEST(a_late_read_is_asked_for_again),
		TEST(a_stale_target_stops_the_flow),
		TEST(an_ack_that_comes_after_a_restart_repeats_nothing),
		TEST(a_new_target_ends_no_turn),
		TEST(a_new_target_gets_all_that_is_unacknowledged),
		TEST(giving_up_on_a_stale_target),
		TEST(a_late_refusal_of_the_target_before_is_ignored),
		TEST(what_the_target_before_acknowledges_is_not_sent_again),
		TEST(an_idle_flow_opens_at_its_new_target),
		TEST(what_was_queued_goes_to_the_new_target),
		TEST(closing_tells_the_target),
		TEST(an_idle_flow_lets_its_context_go),
		TEST(a_context_is_let_go_later_when_there_is_no_room),
		TEST(closing_a_flow_nobody_knows_is_silent),
		TEST(closing_flushes_what_is_left),
	};

	return cmocka_run_group_tests_name("tx_target", tests, NULL, NULL);
}
