// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "sim.h"

#define SEEDS		500
#define REPLAY_SEEDS	80

/* SEEDS in the environment is the number of random networks. */
static u64 seeds(void)
{
	const char *wanted = getenv("SEEDS");

	return wanted ? strtoull(wanted, NULL, 10) : SEEDS;
}

static const struct sim_cfg quiet = {
	.seed = 1, .nodes = 2, .flows = 3, .msgs = 20, .max_bytes = 200 * 1024, .contexts = 16,
	.payload_bytes = 1024, .window_packets = 32, .delay_us = 100, .packet_us = 2, .pause_us = 2000,
	.idle_us = 10000000,
};

static struct sim_stats run(const struct sim_cfg *cfg)
{
	struct sim_stats stats;

	sim_run(cfg, &stats);
	return stats;
}

static void a_good_network_sees_each_packet_once(void **state)
{
	const struct sim_stats stats = run(&quiet);

	(void)state;
	assert_int_equal(stats.resent, 0);
	assert_int_equal(stats.gaps, 0);
}

static void acks_are_few(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.flows = 1;
	cfg.ops = 1 << SIM_WRITE;
	cfg.msgs = 200;
	stats = run(&cfg);
	/* data, an answer every 16 packets, and one for each burst of posts or turn of the window */
	assert_true(stats.packets < stats.bytes / cfg.payload_bytes * 5 / 4 + 3 * cfg.msgs);
}

static void each_kind_alone(void **state)
{
	struct sim_cfg cfg = quiet;

	(void)state;
	cfg.loss = 50;
	cfg.jitter_us = 50;
	for (u32 kind = 0; kind < SIM_KINDS; kind++) {
		cfg.ops = 1U << kind;
		run(&cfg);
	}
}

static void loss(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.loss = 200;
	stats = run(&cfg);
	assert_true(stats.lost > 100 && stats.resent > 0);
}

static void duplicates(void **state)
{
	struct sim_cfg cfg = quiet;

	(void)state;
	cfg.duplicates = 500;
	cfg.jitter_us = 200;
	run(&cfg);
}

static void reordering(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.jitter_us = 1000;
	stats = run(&cfg);
	assert_true(stats.gaps > 0);
}

static void receivers_not_ready(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.rnr = 800;
	cfg.loss = 20;
	stats = run(&cfg);
	assert_true(stats.rnr > 50);
}

static void senders_without_room(void **state)
{
	struct sim_cfg cfg = quiet;

	(void)state;
	cfg.no_room = 300;
	run(&cfg);
}

/* For longer than a flow may be without progress. */
static void senders_that_are_throttled(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.throttled = 100;
	cfg.throttled_us = 5000000;
	cfg.msgs = 10;
	stats = run(&cfg);
	assert_true(stats.us > 30 * 1000000ULL);
	assert_int_equal(stats.timeouts, 0);
	assert_int_equal(stats.resent, 0);
	cfg.loss = 50;
	run(&cfg);
}

static void more_flows_than_contexts(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.flows = 12;
	cfg.contexts = 2;
	cfg.loss = 20;
	cfg.max_bytes = 20000;
	stats = run(&cfg);
	assert_true(stats.busy > 0);
}

/* Flows that rest for so long that the few contexts go from one to the other. */
static struct sim_cfg resting(void)
{
	struct sim_cfg cfg = quiet;

	cfg.flows = 8;
	cfg.contexts = 3;
	cfg.max_bytes = 20000;
	cfg.pause_us = 20000000;
	cfg.idle_us = 4000000;
	return cfg;
}

/* Contexts are taken from flows that rest, which open again where they were. */
static void contexts_taken_from_idle_flows(void **state)
{
	struct sim_cfg cfg = resting();
	struct sim_stats stats;

	(void)state;
	cfg.msgs = 40;
	stats = run(&cfg);
	assert_true(stats.reused > 10 && stats.no_flow > 10);
}

/* The same where packets are lost, as initiators do it: they say that they rest, which may be lost, too. */
static void contexts_taken_from_flows_whose_close_was_lost(void **state)
{
	struct sim_cfg cfg = resting();
	struct sim_stats stats;

	(void)state;
	cfg.flows = 12;
	cfg.msgs = 400;
	cfg.loss = 200;
	cfg.duplicates = 30;
	cfg.jitter_us = 100;
	cfg.close_us = 200000;
	stats = run(&cfg);
	assert_true(stats.reused > 3);
}

static void many_to_one_node(void **state)
{
	struct sim_cfg cfg = quiet;

	(void)state;
	cfg.nodes = 4;
	cfg.flows = 24;
	cfg.contexts = 32;
	cfg.max_bytes = 50000;
	cfg.loss = 10;
	run(&cfg);
}

/* Many senders, each from a node of its own, to one that has room for so many packets. */
static struct sim_stats run_many_to_one(u32 senders, u32 queue_packets)
{
	struct sim_cfg cfg = quiet;

	cfg.nodes = 17;
	cfg.flows = senders;
	cfg.to_one = true;
	cfg.ops = 1 << SIM_WRITE;
	cfg.msgs = 1600 / senders;
	cfg.contexts = senders;
	cfg.window_packets = 64;
	cfg.service_us = 10;
	cfg.queue_packets = queue_packets;
	cfg.rto_min_us = 8000;
	cfg.pause_us = 10;
	return run(&cfg);
}

static void sixteen_senders_have_room_at_one_receiver(void **state)
{
	const struct sim_stats stats = run_many_to_one(16, 1024);

	(void)state;
	assert_int_equal(stats.overrun, 0);
	assert_int_equal(stats.resent, 0);
}

/* The receiver is as busy as with one sender, and not with what it has no room for. */
static void check_overrun(u32 senders, u32 queue_packets)
{
	const struct sim_stats one = run_many_to_one(1, queue_packets);
	const struct sim_stats many = run_many_to_one(senders, queue_packets);
	const double ratio = (double)many.bytes / many.us * one.us / one.bytes;

	print_message("%u senders, %u packets: %.2f of what one brings, %.1f %% overrun\n", senders,
		      queue_packets, ratio, 100.0 * many.overrun / many.packets);
	assert_true(ratio > 0.9);
	assert_true(many.overrun * 10 < many.packets);
}

static void more_senders_than_there_is_room_for(void **state)
{
	(void)state;
	check_overrun(64, 1024);
	check_overrun(16, 128);
}

static void a_node_that_stands_still_is_sent_little_again(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.ops = 1 << SIM_WRITE;
	cfg.msgs = 400;
	cfg.window_packets = 64;
	cfg.rto_min_us = 8000;
	cfg.packet_us = 10;
	cfg.stall_every_us = 100000;
	cfg.stall_us = 30000;
	stats = run(&cfg);
	print_message("%llu timeouts, %llu of %llu packets sent again\n", (unsigned long long)stats.timeouts,
		      (unsigned long long)stats.resent, (unsigned long long)stats.packets);
	assert_true(stats.timeouts > 0);
	assert_true(stats.resent <= 2 * stats.timeouts);
}

static void one_packet_windows(void **state)
{
	struct sim_cfg cfg = quiet;

	(void)state;
	cfg.window_packets = 1;
	cfg.max_bytes = 20000;
	cfg.loss = 50;
	run(&cfg);
}

/* And no flow does after that, however often it opens. */
static void a_first_contact_takes_one_more_round_trip(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats friends, strangers;

	(void)state;
	cfg.flows = 1;
	cfg.msgs = 1;
	cfg.ops = 1 << SIM_WRITE;
	cfg.max_bytes = cfg.payload_bytes;
	friends = run(&cfg);
	cfg.strangers = true;
	strangers = run(&cfg);
	assert_int_equal(friends.stale, 0);
	assert_int_equal(strangers.stale, 1);
	assert_int_equal(strangers.packets, friends.packets + 2);
	assert_in_range(strangers.us - friends.us, 2 * cfg.delay_us, 2 * cfg.delay_us + 4 * cfg.packet_us + 4);

	cfg.msgs = 50;
	cfg.close_us = 500;
	strangers = run(&cfg);
	/* each packet of the first burst of posts is challenged */
	assert_in_range(strangers.stale, 1, 4);
	cfg.strangers = false;
	friends = run(&cfg);
	assert_int_equal(friends.stale, 0);
}

/* Sixteen nodes that the target does not know open hundreds of flows at the same time. */
static void many_strangers_at_once(void **state)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats stats;

	(void)state;
	cfg.nodes = 17;
	cfg.to_one = true;
	cfg.flows = 480;
	cfg.contexts = 512;
	cfg.msgs = 2;
	cfg.max_bytes = 20000;
	cfg.window_packets = 64;
	cfg.rto_min_us = 8000;
	cfg.pause_us = 1;
	cfg.service_us = 10;
	cfg.queue_packets = 1024;
	cfg.strangers = true;
	stats = run(&cfg);
	assert_true(stats.stale >= cfg.flows / 2);
	cfg.loss = 50;
	run(&cfg);
}

/*
 * With a loss of so many per mille a transfer may take this many times as long as without:
 * `percent` / 100.
 */
static void check_goodput(u32 ops, u32 delay_us, u32 loss, u32 percent)
{
	struct sim_cfg cfg = quiet;
	struct sim_stats clean, lossy;

	cfg.flows = 1;
	cfg.ops = ops;
	cfg.msgs = 400;
	cfg.delay_us = delay_us;
	cfg.rto_min_us = 8000;
	cfg.packet_us = 10;
	cfg.window_packets = 64;
	cfg.pause_us = 10;
	clean = run(&cfg);
	cfg.loss = loss;
	lossy = run(&cfg);
	print_message("%llu us without loss, %llu us with %u per mille\n",
		      (unsigned long long)clean.us, (unsigned long long)lossy.us, loss);
	assert_int_equal(clean.bytes, lossy.bytes);
	assert_true(lossy.us * 100 <= clean.us * percent);
}

static void goodput_of_writes_with_one_percent_loss(void **state)
{
	(void)state;
	/* only what is lost is sent again, and the window goes on meanwhile */
	check_goodput(1 << SIM_WRITE, 100, 10, 115);
	/* also where the window is what limits them */
	check_goodput(1 << SIM_WRITE, 400, 10, 115);
}

static void goodput_of_reads_with_one_percent_loss(void **state)
{
	(void)state;
	/* only what is missing is asked for again */
	check_goodput(1 << SIM_READ, 100, 10, 115);
}

static void goodput_of_writes_with_five_percent_loss(void **state)
{
	(void)state;
	check_goodput(1 << SIM_WRITE, 100, 50, 225);
}

/* Everything at once, at random. */
static struct sim_cfg random_cfg(u64 seed)
{
	u64 rng = seed;
	const u32 payloads[] = { 256, 1000, 1024, 2048, 3960 };
	const u32 windows[] = { 4, 16, 64, 256 };

	return (struct sim_cfg) {
		.seed = seed,
		.nodes = 2 + unit_random(&rng) % 3,
		.flows = 2 + unit_random(&rng) % 5,
		.msgs = 5 + unit_random(&rng) % 15,
		.max_bytes = 200 * 1024,
		.contexts = 1 + unit_random(&rng) % 8,
		.closed_contexts = unit_random(&rng) % 2 * (unit_random(&rng) % 8),
		.payload_bytes = payloads[unit_random(&rng) % ARRAY_SIZE(payloads)],
		.window_packets = windows[unit_random(&rng) % ARRAY_SIZE(windows)],
		.loss = unit_random(&rng) % 201,
		.duplicates = unit_random(&rng) % 100,
		.rnr = unit_random(&rng) % 300,
		.no_room = unit_random(&rng) % 50,
		.delay_us = 10 + unit_random(&rng) % 300,
		.jitter_us = unit_random(&rng) % 300,
		.packet_us = unit_random(&rng) % 10,
		.pause_us = 1 + unit_random(&rng) % 20000,
		.idle_us = 10000000,
		.close_us = unit_random(&rng) % 2 ? unit_random(&rng) % 10000 : 0,
		.service_us = 1 + unit_random(&rng) % 9,
		.queue_packets = unit_random(&rng) % 2 ? 8 + unit_random(&rng) % 100 : 0,
		.stall_every_us = unit_random(&rng) % 2 ? 10000 + unit_random(&rng) % 50000 : 0,
		.stall_us = unit_random(&rng) % 10000,
		.throttled = unit_random(&rng) % 2 ? unit_random(&rng) % 50 : 0,
		.throttled_us = unit_random(&rng) % 10000,
		.strangers = unit_random(&rng) % 2,
	};
}

/*
 * Packets of any age come again, most of them when their flow has closed and the target has forgotten it: the flows'
 * pauses are longer than it takes for that.
 */
static void packets_that_outlive_their_flows_memory(void **state)
{
	struct sim_stats total = { 0 };

	(void)state;
	for (u64 seed = 1; seed <= REPLAY_SEEDS; seed++) {
		struct sim_cfg cfg = random_cfg(seed);
		struct sim_stats stats;

		cfg.replays = 100 + 50 * (seed % 8);
		cfg.close_us = 2000 + 1000 * (seed % 5);
		cfg.pause_us = 200000;
		cfg.max_bytes = 20000;
		cfg.msgs = 40;
		stats = run(&cfg);
		total.replayed += stats.replayed;
		total.stale += stats.stale;
		total.caught += stats.caught;
		total.packets += stats.packets;
	}
	print_message("%d seeds: %llu packets, %llu came again, %llu challenges, %llu of them caught a copy\n", REPLAY_SEEDS,
		      (unsigned long long)total.packets, (unsigned long long)total.replayed,
		      (unsigned long long)total.stale, (unsigned long long)total.caught);
	assert_true(total.replayed > 1000 && total.caught > 100);
}

static void random_networks(void **state)
{
	struct sim_stats total = { 0 };

	(void)state;
	for (u64 seed = 1; seed <= seeds(); seed++) {
		const struct sim_cfg cfg = random_cfg(seed);
		const struct sim_stats stats = run(&cfg);

		total.packets += stats.packets;
		total.lost += stats.lost;
		total.bytes += stats.bytes;
		/* So many take a while. */
		if (seed % 1000 == 0)
			print_message("%llu seeds\n", (unsigned long long)seed);
	}
	print_message("%llu seeds: %llu MB in %llu packets, %llu of them lost\n",
		      (unsigned long long)seeds(), (unsigned long long)total.bytes >> 20,
		      (unsigned long long)total.packets,
		      (unsigned long long)total.lost);
	assert_true(total.packets > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_network_sees_each_packet_once),
		cmocka_unit_test(acks_are_few),
		cmocka_unit_test(each_kind_alone),
		cmocka_unit_test(loss),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(reordering),
		cmocka_unit_test(receivers_not_ready),
		cmocka_unit_test(senders_without_room),
		cmocka_unit_test(senders_that_are_throttled),
		cmocka_unit_test(more_flows_than_contexts),
		cmocka_unit_test(contexts_taken_from_idle_flows),
		cmocka_unit_test(contexts_taken_from_flows_whose_close_was_lost),
		cmocka_unit_test(many_to_one_node),
		cmocka_unit_test(sixteen_senders_have_room_at_one_receiver),
		cmocka_unit_test(more_senders_than_there_is_room_for),
		cmocka_unit_test(a_node_that_stands_still_is_sent_little_again),
		cmocka_unit_test(a_first_contact_takes_one_more_round_trip),
		cmocka_unit_test(many_strangers_at_once),
		cmocka_unit_test(one_packet_windows),
		cmocka_unit_test(goodput_of_writes_with_one_percent_loss),
		cmocka_unit_test(goodput_of_writes_with_five_percent_loss),
		cmocka_unit_test(goodput_of_reads_with_one_percent_loss),
		cmocka_unit_test(packets_that_outlive_their_flows_memory),
		cmocka_unit_test(random_networks),
	};

	return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
