// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Gap reports: what is sent again, and what is not. */
#include "tx_flow.h"

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
	assert_int_equal(window(), 30);
	assert_int_equal(env.tx.held, 1);
	gap_at(PSN(2), 1 << 1 | 1 << 3, PSN(0), turn);
	expect_psn(PSN(4));
	expect_silence();
}

static void after_a_timeout_one_packet_at_a_time_is_believed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	assert_int_equal(window(), 1);
	/* the others had arrived: that says nothing about a burst of so many */
	ack(PSN(32));
	assert_int_equal(window(), 2);
}

static void what_was_late_and_not_lost_is_not_sent_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	env.seen = env.nsent;
	timeout();
	expect_psn(PSN(0));
	assert_int_equal(window(), 1);
	/* this answers what was sent before the timeout */
	ack_to(PSN(16), 0);
	assert_int_equal(window(), 32);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gap_makes_it_go_back),
		TEST(only_what_is_lost_is_sent_again),
		TEST(what_came_and_was_not_kept_is_sent_again),
		TEST(turns_that_are_yet_to_come_are_not_believed),
		TEST(a_later_loss_is_mended_at_once),
		TEST(what_is_lost_again_is_sent_again),
		TEST(what_was_sent_again_may_be_under_way),
		TEST(after_a_timeout_one_packet_at_a_time_is_believed),
		TEST(what_was_late_and_not_lost_is_not_sent_again),
		TEST(what_was_lost_among_what_was_late_is_sent_again),
		TEST(what_a_pause_stopped_is_sent_again),
		TEST(a_hole_that_was_filled_meanwhile_is_not_sent),
		TEST(a_hole_with_bad_memory_fails_its_message),
		TEST(a_read_in_a_hole_is_requested_again),
		TEST(a_gap_report_from_nowhere_is_harmless),
		TEST(a_gap_completes_what_is_before_it),
		TEST(copies_of_a_gap_report_go_back_once),
		TEST(gaps_are_heeded_after_any_number_of_reads),
	};

	return cmocka_run_group_tests_name("tx_loss", tests, NULL, NULL);
}
