// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How many packets are under way: the window as losses cut it and answers open it, and the caller's cap. */
#include "tx_flow.h"

static void the_window_bounds_what_is_in_flight(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 100 * PAYLOAD);

	(void)state;
	post(&msg);
	assert_int_equal(env.nsent, 32);
	ack(PSN(10));
	assert_int_equal(env.nsent, 42);
}

static void the_window_is_cut_by_what_is_lost_but_not_below_half(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 1, PSN(1), 0);
	assert_int_equal(window(), 31);
	gap_at(PSN(0), 1 << 1 | 1 << 5, PSN(5), 0);
	assert_int_equal(window(), 28);
	gap_at(PSN(0), 1 << 1 | 1 << 5 | 1U << 31, PSN(31), 0);
	assert_int_equal(window(), 16);
	/* and once more in the next round trip */
	gap_at(PSN(0), 1 << 1 | 1 << 5 | 1U << 31, PSN(31), env.tx.turn);
	assert_int_equal(window(), 8);
}

static void a_window_that_was_cut_opens_by_a_packet_in_a_round_trip(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 20, PSN(20), 0);
	assert_int_equal(window(), 16);
	/* one of these was held already */
	ack(PSN(9));
	assert_int_equal(window(), 16);
	ack(PSN(18));
	assert_int_equal(window(), 17);
	ack(PSN(35));
	assert_int_equal(window(), 18);
}

static void a_target_that_saw_marks_cuts_the_window(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	input((struct vqp_pkt) { .op = VQP_OP_ACK, .ack_psn = PSN(10), .marks = 10 });
	assert_int_equal(window(), 16);
}

static void a_window_of_one_packet_is_not_cut(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	/* of what was sent before */
	gap_at(PSN(0), 1 << 8, PSN(8), 0);
	assert_int_equal(window(), 1);
}

static void a_window_that_was_closed_opens_to_half_at_once(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	assert_int_equal(window(), 1);
	for (u32 acked = 1; acked < 16; acked = 2 * acked + 1)
		ack(PSN(acked));
	assert_int_equal(window(), 16);
	ack(PSN(31));
	assert_int_equal(window(), 17);
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
	assert_int_equal(window(), 31);
	ack(PSN(21));
	assert_int_equal(window(), 31);
	ack(PSN(51));
	assert_int_equal(window(), 31);
	ack(PSN(52));
	assert_int_equal(window(), 32);
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

static void what_was_lost_keeps_the_window_closed(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	timeout();
	ack_to(PSN(1), env.tx.turn);
	assert_int_equal(window(), 2);
	/* the first answer has told: this is a late one to what was behind the gap */
	ack_to(PSN(2), 0);
	assert_int_equal(window(), 3);
}

static void a_window_cut_for_a_gap_that_was_but_order_opens_again(void **state)
{
	struct vqp_msg msg = message(VQP_OP_SEND, 200 * PAYLOAD);

	(void)state;
	post(&msg);
	gap_at(PSN(0), 1 << 8, PSN(8), 0);
	assert_int_equal(window(), 24);
	ack_to(PSN(1), 0);
	assert_int_equal(window(), 32);
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
	assert_int_equal(env.nsent, 32 + 16 + 17);
	ack(PSN(33));
	assert_int_equal(window(), 18);
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
	env.tx.cap = VQP_READ_CHUNK_PACKETS;
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

static void a_flow_is_capped_if_nothing_but_the_cap_keeps_it_from_sending(void **state)
{
	struct vqp_msg msgs[3] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	env.tx.cap = 1;
	post(&msgs[0]);
	/* It has nothing more to send. */
	assert_false(vqp_tx_is_capped(&env.tx));
	post(&msgs[1]);
	assert_true(vqp_tx_is_capped(&env.tx));
	/* The window is no greater than the cap. */
	timeout();
	assert_int_equal(window(), 1);
	assert_false(vqp_tx_is_capped(&env.tx));
	ack(PSN(1));
	post(&msgs[2]);
	assert_int_equal(window(), 2);
	assert_true(vqp_tx_is_capped(&env.tx));
	/* The target has no receive for a while. */
	nak(VQP_NAK_RNR, PSN(1));
	assert_false(vqp_tx_is_capped(&env.tx));
}

static void a_flow_that_may_send_less_than_its_cap_is_not_capped(void **state)
{
	struct vqp_msg fetched = message(VQP_OP_READ, PAYLOAD), fenced = message(VQP_OP_SEND, 1);

	(void)state;
	fenced.fence = true;
	env.tx.cap = 2;
	post(&fetched);
	post(&fenced);
	assert_int_equal(env.nsent, 1);
	assert_false(vqp_tx_is_capped(&env.tx));
}

static void a_flow_that_is_throttled_or_has_no_target_is_not_capped(void **state)
{
	struct vqp_msg msgs[2] = { message(VQP_OP_SEND, 1), message(VQP_OP_SEND, 1) };

	(void)state;
	env.tx.cap = 1;
	env.allowed = 0;
	post(&msgs[0]);
	assert_false(vqp_tx_is_capped(&env.tx));
	env.allowed = ~0U;
	vqp_tx_run(&env.tx, env.now);
	post(&msgs[1]);
	assert_true(vqp_tx_is_capped(&env.tx));
	nak(VQP_NAK_EPOCH, PSN(0));
	assert_false(vqp_tx_is_capped(&env.tx));
	vqp_tx_retarget(&env.tx, env.now);
	assert_true(vqp_tx_is_capped(&env.tx));
	vqp_tx_abort(&env.tx, VQP_WC_RETRY_EXC_ERR);
	assert_false(vqp_tx_is_capped(&env.tx));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_window_bounds_what_is_in_flight),
		TEST(the_window_is_cut_by_what_is_lost_but_not_below_half),
		TEST(a_window_that_was_cut_opens_by_a_packet_in_a_round_trip),
		TEST(a_target_that_saw_marks_cuts_the_window),
		TEST(a_window_of_one_packet_is_not_cut),
		TEST(a_window_that_was_closed_opens_to_half_at_once),
		TEST(losses_wait_for_the_window_but_for_the_first),
		TEST(what_is_held_is_not_in_flight),
		TEST(what_was_held_does_not_open_the_window_again),
		TEST(no_more_is_sent_than_a_target_holds),
		TEST(a_hole_waits_for_room),
		TEST(what_was_lost_keeps_the_window_closed),
		TEST(a_window_cut_for_a_gap_that_was_but_order_opens_again),
		TEST(a_gap_with_nothing_behind_it_halves_the_window),
		TEST(a_cap_is_a_smaller_window),
		TEST(a_capped_flow_asks_for_answers),
		TEST(a_capped_flow_fetches_one_chunk_at_a_time),
		TEST(a_capped_flow_asks_a_new_target_for_what_it_was_fetching),
		TEST(a_cap_that_is_lifted_counts_no_more),
		TEST(a_flow_is_capped_if_nothing_but_the_cap_keeps_it_from_sending),
		TEST(a_flow_that_may_send_less_than_its_cap_is_not_capped),
		TEST(a_flow_that_is_throttled_or_has_no_target_is_not_capped),
	};

	return cmocka_run_group_tests_name("tx_window", tests, NULL, NULL);
}
