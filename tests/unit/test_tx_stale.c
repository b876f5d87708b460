// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A target that cannot tell a flow's first packets from late copies, and challenges them. */
#include "tx_flow.h"

static void stale(u32 echo, u32 psn, u16 turn)
{
	const struct vqp_pkt challenge = {
		.op = VQP_OP_NAK, .nak = VQP_NAK_STALE, .flow = FLOW, .echo = echo, .psn = psn, .ack_psn = psn, .turn = turn,
	};

	vqp_tx_input(&env.tx, &challenge, env.now);
}

/* The next packet that was sent is `psn`, and opens the flow with that echo. */
static void expect_echo(u32 psn, u32 echo)
{
	const struct vqp_pkt *pkt = &next_sent()->pkt;

	assert_int_equal(pkt->psn, psn);
	assert_true(pkt->flags & VQP_PKT_OPEN);
	assert_int_equal(pkt->echo, echo);
}

/* ---- What packets say of their time ---- */

static void packets_that_open_are_stamped(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(env.sent[i].pkt.stamp, env.clock);
		assert_int_equal(env.sent[i].pkt.age, 0);
		assert_int_equal(env.sent[i].pkt.echo, 0);
	}
	ack(PSN(3));
	msg = message(VQP_OP_SEND, 1);
	post(&msg);
	assert_int_equal(env.sent[3].pkt.stamp, 0);
}

static void what_is_sent_again_says_how_old_it_is(void **state)
{
	const u32 ages[] = { 3, 254, 255, 5000 };
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	const u32 first = env.clock;

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	for (u32 i = 0; i < ARRAY_SIZE(ages); i++) {
		env.clock = first + ages[i];
		wait_for_packet();
		assert_int_equal(env.sent[env.seen].pkt.stamp, env.clock);
		assert_int_equal(env.sent[env.seen].pkt.age, ages[i] < 255 ? ages[i] : VQP_PKT_AGE_MAX);
		expect_psn(PSN(0));
	}
}

/* A context would be made for the first one, too, which may have been carried out and forgotten. */
static void a_later_packet_is_as_old_as_the_first(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1);

	(void)state;
	post(&first);
	env.clock += 7;
	post(&second);
	assert_int_equal(env.sent[1].pkt.open_psn, PSN(0));
	assert_int_equal(env.sent[1].pkt.age, 7);
}

static void a_packet_that_found_no_room_is_new(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	env.room = 0;
	post(&msg);
	env.clock += 100;
	env.room = 1;
	vqp_tx_run(&env.tx, env.now);
	assert_int_equal(env.sent[0].pkt.age, 0);
}

static void a_flow_that_opens_again_is_new(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1);

	(void)state;
	env.cfg.close_us = 1000;
	post(&first);
	ack(PSN(1));
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(next_sent()->pkt.op, VQP_OP_CLOSE);
	env.clock += 100;
	post(&second);
	assert_int_equal(env.sent[env.seen].pkt.age, 0);
	expect_psn(PSN(1));
}

/* Its packets were first sent when it was open, at a time that was not noted. */
static void a_flow_that_was_forgotten_is_not_new(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1);

	(void)state;
	post(&first);
	ack(PSN(1));
	env.clock += 9;
	post(&second);
	env.seen = env.nsent;
	env.clock++;
	nak(VQP_NAK_NO_FLOW, PSN(1));
	assert_true(env.sent[env.seen].pkt.age >= 1);
	expect_psn(PSN(1));
}

/* A READ of two packets, of whose response one has arrived, is asked for again by a flow that was forgotten. */
static void open_with_a_read(struct vqp_msg *read)
{
	*read = message(VQP_OP_READ, 2 * PAYLOAD);
	post(read);
	respond(PSN(0), 0, PAYLOAD);
	env.seen = env.nsent;
	nak(VQP_NAK_NO_FLOW, PSN(0));
	assert_int_equal(env.sent[env.seen].pkt.open_psn, PSN(1));
	expect_psn(PSN(0));
	expect_silence();
}

/*
 * The target may know only the packet that asks again. If what follows seemed to be born later, a copy of it would be
 * fresh when the flow is forgotten.
 */
static void what_follows_a_read_that_opens_is_as_old(void **state)
{
	struct vqp_msg read, msg = message(VQP_OP_SEND, 1);

	(void)state;
	open_with_a_read(&read);
	env.clock += 7;
	post(&msg);
	assert_true(env.sent[env.seen].pkt.age >= 7);
	expect_psn(PSN(1));
	respond(PSN(0), PAYLOAD, PAYLOAD);
	ack(PSN(2));
	expect_done(1, &msg, VQP_WC_SUCCESS);
}

/* ---- Challenges ---- */

static void a_challenge_is_answered_by_its_echo(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);
	u32 cwnd;

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	cwnd = window();
	stale(5, PSN(0), 0);
	for (u32 i = 0; i < 3; i++)
		expect_echo(PSN(i), 5);
	expect_silence();
	assert_int_equal(window(), cwnd);
	assert_int_equal(env.tx.pause_us, 0);
	ack(PSN(3));
	expect_done(0, &msg, VQP_WC_SUCCESS);
	assert_int_equal(window(), cwnd);
}

static void a_read_is_sent_again_with_the_echo(void **state)
{
	struct vqp_msg msg = message(VQP_OP_READ, PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	stale(5, PSN(0), env.tx.turn);
	expect_echo(PSN(0), 5);
	respond(PSN(0), 0, PAYLOAD);
	expect_done(0, &msg, VQP_WC_SUCCESS);
}

/* Its PSN is acknowledged, so that going back does not bring it. */
static void a_read_that_is_half_there_is_sent_again_with_the_echo(void **state)
{
	struct vqp_msg read;

	(void)state;
	open_with_a_read(&read);
	stale(5, PSN(0), env.tx.turn);
	expect_echo(PSN(0), 5);
	respond(PSN(0), PAYLOAD, PAYLOAD);
	expect_done(0, &read, VQP_WC_SUCCESS);
}

static void the_same_challenge_to_other_packets_is_ignored(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	post(&msg);
	stale(5, PSN(0), 0);
	env.seen = env.nsent;
	stale(5, PSN(1), 0);
	stale(5, PSN(2), 0);
	expect_silence();
	assert_int_equal(env.tx.turn, 1);
}

/* A late one comes in between: the packets under way have its echo, and so the present one counts again. */
static void any_other_echo_counts(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	stale(5, PSN(0), 0);
	expect_echo(PSN(0), 5);
	stale(4, PSN(0), 0);
	expect_echo(PSN(0), 4);
	stale(5, PSN(0), 0);
	expect_echo(PSN(0), 5);
	expect_silence();
}

static void an_echo_is_sent_until_the_target_answers(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1), third = message(VQP_OP_SEND, 1);

	(void)state;
	env.cfg.close_us = 1000;
	post(&first);
	stale(5, PSN(0), 0);
	env.seen = env.nsent;
	post(&second);
	expect_echo(PSN(1), 5);
	wait_for_packet();
	expect_echo(PSN(0), 5);
	ack(PSN(2));
	wait_for_packet();
	env.seen = env.nsent;
	/* When the flow opens again, the target may ask with the same number again. */
	post(&third);
	expect_echo(PSN(2), 0);
	stale(5, PSN(2), env.tx.turn);
	expect_echo(PSN(2), 5);
}

/*
 * A target drops an echo when it forgets something. If a throttled flow waited for its turn to repeat it, it could be
 * challenged at each turn, for ever.
 */
static void an_echo_does_not_wait_for_a_turn(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 3 * PAYLOAD);

	(void)state;
	env.allowed = 1;
	post(&msg);
	env.seen = env.nsent;
	for (u32 echo = 5; echo < 8; echo++) {
		stale(echo, PSN(0), env.tx.turn);
		expect_echo(PSN(0), echo);
		/* One packet is enough, and what it is worth is charged. */
		vqp_tx_run(&env.tx, env.now);
		expect_silence();
	}
	ack(PSN(1));
	expect_silence();
	env.allowed = ~0U;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(1));
	expect_psn(PSN(2));
}

static void a_read_that_repeats_an_echo_does_not_wait_for_a_turn(void **state)
{
	struct vqp_msg read;

	(void)state;
	open_with_a_read(&read);
	env.allowed = 0;
	stale(5, PSN(0), env.tx.turn);
	expect_echo(PSN(0), 5);
	expect_silence();
}

/* A flow whose turn is over is challenged while its packet finds no room at the lane. */
static void challenge_without_room(struct vqp_msg *msg)
{
	env.allowed = 1;
	post(msg);
	env.seen = env.nsent;
	env.room = 0;
	stale(5, PSN(0), env.tx.turn);
}

/* The packet found no room at the lane: the next attempt does not wait either. */
static void an_echo_that_found_no_room_does_not_wait_for_a_turn(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	challenge_without_room(&msg);
	expect_silence();
	env.room = 1;
	vqp_tx_run(&env.tx, env.now);
	expect_echo(PSN(0), 5);
}

static void a_new_target_is_given_nothing_before_its_turn(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	challenge_without_room(&msg);
	env.room = 1;
	vqp_tx_retarget(&env.tx, env.now);
	expect_silence();
}

static void a_new_target_gets_no_echo(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);

	(void)state;
	post(&msg);
	stale(5, PSN(0), 0);
	env.seen = env.nsent;
	vqp_tx_retarget(&env.tx, env.now);
	expect_echo(PSN(0), 0);
}

static void a_challenge_to_an_open_flow_is_late(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 2 * PAYLOAD);

	(void)state;
	post(&msg);
	ack(PSN(1));
	env.seen = env.nsent;
	stale(5, PSN(1), env.tx.turn);
	expect_silence();
	assert_int_equal(env.tx.echo, 0);
}

/*
 * After a timeout the packets were challenged. That one of them is acknowledged as an answer to the first turn does not
 * mean that the others are only late.
 */
static void what_was_challenged_does_not_come_late(void **state)
{
	struct vqp_msg msgs[3] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	for (u32 i = 0; i < 3; i++)
		post(&msgs[i]);
	timeout();
	env.room = 0;
	env.seen = env.nsent;
	stale(5, PSN(1), 0);
	ack_to(PSN(1), 0);
	env.room = ~0U;
	vqp_tx_run(&env.tx, env.now);
	expect_psn(PSN(1));
	ack(PSN(2));
	expect_psn(PSN(2));
	ack(PSN(3));
	expect_done(2, &msgs[2], VQP_WC_SUCCESS);
}

static void challenges_alone_are_no_progress(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 1);
	u32 echo = 0;
	u64 begun;

	(void)state;
	post(&msg);
	begun = env.now;
	while (env.now < begun + PATIENCE - RTO) {
		env.now += RTO / 2;
		stale(++echo, PSN(0), env.tx.turn);
	}
	assert_int_equal(env.ndone, 0);
	while (env.now < begun + PATIENCE)
		env.now += RTO / 2;
	stale(++echo, PSN(0), env.tx.turn);
	expect_done(0, &msg, VQP_WC_RETRY_EXC_ERR);
}

/* ---- Late copies at the target, and what they bring about ---- */

static void a_late_copy_of_what_was_answered_may_be_of_an_unknown_flow(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };
	const struct vqp_pkt late = { .op = VQP_OP_NAK, .nak = VQP_NAK_NO_FLOW, .flow = FLOW, .psn = PSN(0), .ack_psn = PSN(0) };

	(void)state;
	post(&msgs[0]);
	ack(PSN(1));
	post(&msgs[1]);
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &late, env.now);
	expect_silence();
	ack(PSN(2));
	expect_done(1, &msgs[1], VQP_WC_SUCCESS);
}

/* What the target says of a context that the flow has let go is late, even if it names the packet at hand. */
static void closing_begins_a_turn(void **state)
{
	struct vqp_msg first = message(VQP_OP_SEND, 1), second = message(VQP_OP_SEND, 1), third = message(VQP_OP_SEND, 1);

	(void)state;
	env.cfg.close_us = 1000;
	post(&first);
	ack(PSN(1));
	env.seen = env.nsent;
	wait_for_packet();
	assert_int_equal(next_sent()->pkt.turn, 0);
	post(&second);
	assert_int_equal(next_sent()->pkt.turn, 1);
	ack(PSN(2));
	post(&third);
	env.seen = env.nsent;
	vqp_tx_input(&env.tx, &(struct vqp_pkt) {
		.op = VQP_OP_NAK, .nak = VQP_NAK_NO_FLOW, .flow = FLOW, .psn = PSN(2), .ack_psn = PSN(2), .turn = 0,
	}, env.now);
	expect_silence();
	ack(PSN(3));
	expect_done(2, &third, VQP_WC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_that_open_are_stamped),
		TEST(what_is_sent_again_says_how_old_it_is),
		TEST(a_later_packet_is_as_old_as_the_first),
		TEST(a_packet_that_found_no_room_is_new),
		TEST(a_flow_that_opens_again_is_new),
		TEST(a_flow_that_was_forgotten_is_not_new),
		TEST(what_follows_a_read_that_opens_is_as_old),
		TEST(a_challenge_is_answered_by_its_echo),
		TEST(a_read_is_sent_again_with_the_echo),
		TEST(a_read_that_is_half_there_is_sent_again_with_the_echo),
		TEST(the_same_challenge_to_other_packets_is_ignored),
		TEST(any_other_echo_counts),
		TEST(an_echo_is_sent_until_the_target_answers),
		TEST(an_echo_does_not_wait_for_a_turn),
		TEST(a_read_that_repeats_an_echo_does_not_wait_for_a_turn),
		TEST(an_echo_that_found_no_room_does_not_wait_for_a_turn),
		TEST(a_new_target_is_given_nothing_before_its_turn),
		TEST(a_new_target_gets_no_echo),
		TEST(a_challenge_to_an_open_flow_is_late),
		TEST(what_was_challenged_does_not_come_late),
		TEST(challenges_alone_are_no_progress),
		TEST(a_late_copy_of_what_was_answered_may_be_of_an_unknown_flow),
		TEST(closing_begins_a_turn),
	};

	return cmocka_run_group_tests_name("tx_stale", tests, NULL, NULL);
}
