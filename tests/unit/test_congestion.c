// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "congestion.h"

#define MOST	64
#define RTT	20

static struct {
	struct vqp_congestion cc;
	u64 now;
} env;

static int setup(void **state)
{
	(void)state;
	vqp_congestion_init(&env.cc, MOST);
	env.now = 1000000;
	return 0;
}

static u32 window(void)
{
	return vqp_congestion_window(&env.cc);
}

/* A round trip of rtt_us passes, in which a window of packets arrives, of which so many are marked. */
static void round_trip(u32 rtt_us, u32 marked)
{
	const u32 packets = window();

	env.now += rtt_us;
	vqp_congestion_rtt(&env.cc, rtt_us);
	vqp_congestion_ack(&env.cc, packets, marked, true, env.now);
}

/* Slow start is over, and the window is so many packets. */
static void set_window(u32 packets)
{
	env.cc.cwnd = packets * VQP_CWND_ONE;
	env.cc.ssthresh = env.cc.cwnd;
}

static void slow_start_begins_with_ten_packets_and_doubles(void **state)
{
	(void)state;
	assert_int_equal(window(), 10);
	round_trip(RTT, 0);
	assert_int_equal(window(), 20);
	round_trip(RTT, 0);
	assert_int_equal(window(), 40);
	round_trip(RTT, 0);
	assert_int_equal(window(), MOST);
}

static void then_the_window_grows_by_a_packet_in_a_round_trip(void **state)
{
	(void)state;
	set_window(8);
	for (u32 i = 1; i <= 10; i++) {
		round_trip(RTT, 0);
		assert_int_equal(window(), 8 + i);
	}
}

static void a_window_that_is_not_used_does_not_grow(void **state)
{
	(void)state;
	vqp_congestion_ack(&env.cc, 1, 0, false, env.now);
	assert_int_equal(window(), 10);
}

/* RFC 8257: once in a round trip, and the first time by half. */
static void the_first_mark_halves_the_window_once(void **state)
{
	(void)state;
	set_window(40);
	vqp_congestion_rtt(&env.cc, RTT);
	vqp_congestion_ack(&env.cc, 1, 1, true, env.now);
	assert_int_equal(window(), 20);
	vqp_congestion_ack(&env.cc, 1, 1, true, env.now + 1);
	assert_int_equal(window(), 20);
}

static void few_marks_cut_little(void **state)
{
	(void)state;
	set_window(40);
	/* One packet of a round trip: alpha falls to 1/40 at last. */
	for (u32 i = 0; i < 200; i++) {
		set_window(40);
		round_trip(RTT, 1);
	}
	assert_in_range(env.cc.alpha, VQP_ALPHA_ONE / 40, VQP_ALPHA_ONE / 20);
	assert_in_range(window(), 39, 40);
}

static void all_marks_leave_one_packet(void **state)
{
	(void)state;
	for (u32 i = 0; i < 20; i++)
		round_trip(RTT, window());
	assert_int_equal(window(), 1);
	/* From there it grows by what is not marked. */
	round_trip(RTT, 0);
	assert_int_equal(window(), 2);
}

static void a_path_that_marks_no_more_is_forgotten(void **state)
{
	(void)state;
	round_trip(RTT, 1);
	for (u32 i = 0; i < 400; i++)
		round_trip(RTT, 0);
	assert_int_equal(env.cc.alpha, 0);
}

static void a_long_round_trip_cuts_the_window_by_its_excess(void **state)
{
	(void)state;
	set_window(40);
	round_trip(100, 0);
	/* 20 us of 100 are too many, of which it gives up four fifths */
	assert_in_range(window(), 33, 34);
	set_window(40);
	for (u32 i = 0; i < 10; i++)
		round_trip(1000, 0);
	assert_int_equal(env.cc.cwnd, VQP_CWND_ONE);
}

static void one_late_answer_is_no_queue(void **state)
{
	(void)state;
	set_window(40);
	round_trip(RTT, 0);
	round_trip(5000, 0);
	round_trip(RTT, 0);
	assert_in_range(window(), 40, 43);
}

static void where_packets_are_marked_delay_does_not_count(void **state)
{
	(void)state;
	set_window(40);
	env.cc.alpha = 16;
	round_trip(1000, 0);
	assert_int_equal(window(), 41);
}

/* Others fill the queue, whatever the flow does; or the hosts are slow. */
static void a_flow_that_yields_alone_does_so_no_longer(void **state)
{
	(void)state;
	set_window(40);
	for (u32 us = 0; us < VQP_YIELD_US + 2000; us += 500)
		round_trip(500, 0);
	assert_true(env.cc.target_us > 500);
	for (u32 i = 0; i < 10; i++)
		round_trip(500, 0);
	assert_int_equal(window(), MOST);
	/* The queue has gone, and then it comes again. */
	for (u32 i = 0; i < 50; i++)
		round_trip(RTT, 0);
	assert_int_equal(env.cc.target_us, VQP_TARGET_US);
	for (u32 i = 0; i < 4; i++)
		round_trip(500, 0);
	assert_true(window() < MOST);
}

static void a_loss_behind_a_growing_queue_halves_the_window_once(void **state)
{
	(void)state;
	set_window(40);
	round_trip(RTT, 0);
	env.cc.rtt_us = 0;
	env.cc.last_rtt_us = 150;
	set_window(40);
	vqp_congestion_loss(&env.cc, 1, true);
	assert_int_equal(window(), 20);
	vqp_congestion_loss(&env.cc, 5, false);
	assert_int_equal(window(), 20);
}

static void a_loss_on_a_path_without_queue_costs_a_packet(void **state)
{
	(void)state;
	set_window(40);
	env.cc.last_rtt_us = RTT;
	vqp_congestion_loss(&env.cc, 1, true);
	assert_int_equal(window(), 39);
	vqp_congestion_loss(&env.cc, 30, false);
	assert_int_equal(window(), 20);
}

static void a_random_loss_does_not_end_slow_start(void **state)
{
	(void)state;
	env.cc.last_rtt_us = RTT;
	vqp_congestion_loss(&env.cc, 1, true);
	assert_int_equal(window(), 9);
	round_trip(RTT, 0);
	assert_int_equal(window(), 18);
}

static void a_loss_of_the_first_packets_halves_the_window(void **state)
{
	(void)state;
	vqp_congestion_loss(&env.cc, 1, true);
	assert_int_equal(window(), 5);
	assert_int_equal(env.cc.ssthresh, env.cc.cwnd);
}

static void a_timeout_leaves_one_packet_and_half_of_the_window_as_ssthresh(void **state)
{
	(void)state;
	set_window(40);
	vqp_congestion_timeout(&env.cc);
	vqp_congestion_timeout(&env.cc);
	assert_int_equal(env.cc.cwnd, VQP_CWND_ONE);
	assert_int_equal(env.cc.ssthresh, 20 * VQP_CWND_ONE);
}

static void what_was_late_only_is_undone(void **state)
{
	(void)state;
	set_window(40);
	vqp_congestion_timeout(&env.cc);
	vqp_congestion_undo(&env.cc, 40 * VQP_CWND_ONE);
	assert_int_equal(window(), 40);
	assert_int_equal(env.cc.ssthresh, 40 * VQP_CWND_ONE);
}

static void a_flow_that_has_rested_begins_with_ten_packets(void **state)
{
	(void)state;
	set_window(40);
	vqp_congestion_rest(&env.cc);
	assert_int_equal(window(), 10);
	set_window(4);
	vqp_congestion_rest(&env.cc);
	assert_int_equal(window(), 4);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slow_start_begins_with_ten_packets_and_doubles),
		TEST(then_the_window_grows_by_a_packet_in_a_round_trip),
		TEST(a_window_that_is_not_used_does_not_grow),
		TEST(the_first_mark_halves_the_window_once),
		TEST(few_marks_cut_little),
		TEST(all_marks_leave_one_packet),
		TEST(a_path_that_marks_no_more_is_forgotten),
		TEST(a_long_round_trip_cuts_the_window_by_its_excess),
		TEST(one_late_answer_is_no_queue),
		TEST(where_packets_are_marked_delay_does_not_count),
		TEST(a_flow_that_yields_alone_does_so_no_longer),
		TEST(a_loss_behind_a_growing_queue_halves_the_window_once),
		TEST(a_loss_on_a_path_without_queue_costs_a_packet),
		TEST(a_random_loss_does_not_end_slow_start),
		TEST(a_loss_of_the_first_packets_halves_the_window),
		TEST(a_timeout_leaves_one_packet_and_half_of_the_window_as_ssthresh),
		TEST(what_was_late_only_is_undone),
		TEST(a_flow_that_has_rested_begins_with_ten_packets),
	};

	return cmocka_run_group_tests_name("congestion", tests, NULL, NULL);
}
