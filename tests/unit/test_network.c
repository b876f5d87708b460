// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The simulator's switches and hosts, with the engine on them. */
#include "unit.h"
#include "sim/flow.h"
#include "sim/network.h"

#define MS		1000000ULL
#define FLOWS_MAX	64

static struct {
	struct network network;
	struct flow flows[FLOWS_MAX];
	struct flow_cfg cfg;
	struct samples took;
	u32 nflows;
} env;

/* Hosts that take no time, at links of 100 Gbit/s with 500 ns each. */
static const struct network_cfg quiet = {
	.hosts = 2, .leaves = 1, .paths = 4,
	.host_link = { .mbps = 100000, .delay_ns = 500, .limit = 512 },
	.path_link = { .mbps = 100000, .delay_ns = 500, .limit = 512 },
	.host = { .tick_ns = 4000000 },
};

/* Make the network, for flows that each have so many messages of this kind. */
static void start(const struct network_cfg *cfg, u8 op, u32 bytes, u32 messages)
{
	memset(&env, 0, sizeof(env));
	env.cfg = (struct flow_cfg){ .op = op, .bytes = bytes, .depth = 1, .messages = messages };
	network_init(&env.network, cfg, FLOWS_MAX, 1);
	env.network.flows = env.flows;
}

static struct flow *add(u32 from, u32 to)
{
	struct flow *flow = &env.flows[env.nflows];

	flow_init(flow, &env.network, &env.cfg, env.nflows++, from, to, &env.took);
	flow_start(flow, 0);
	return flow;
}

static u64 completed(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < env.nflows; i++)
		sum += env.flows[i].completed;
	return sum;
}

/* Go on until all is done; and then until contexts are closed and no packet is under way. */
static void finish(u64 messages)
{
	for (u32 i = 0; i < 60000 && completed() < messages; i++)
		events_run(&env.network.events, env.network.events.now_ns + MS);
	assert_int_equal(completed(), messages);
	events_run(&env.network.events, env.network.events.now_ns + 1000 * MS);
}

static int teardown(void **state)
{
	(void)state;
	for (u32 i = 0; i < env.nflows; i++)
		flow_end(&env.flows[i]);
	network_end(&env.network);
	samples_end(&env.took);
	return 0;
}

/* Packets that somebody still has. */
static u64 packets_in_use(void)
{
	const struct packet *packet;
	u64 n = 0, made = 0;

	for (packet = env.network.packets.free; packet; packet = packet->link)
		n++;
	for (u32 i = 0; i < env.network.cfg.hosts; i++)
		made += env.network.hosts[i].received.count;
	return env.network.packets.nmade * PACKETS_AT_ONCE - n - made;
}

/* The flows have found out that there is room for the greatest window. */
static void open_windows(void)
{
	for (u32 i = 0; i < env.nflows; i++)
		env.flows[i].tx.cc.cwnd = env.flows[i].tx.cc.most;
}

/* The time of a packet of vqp at 100 Gbit/s, by its headers and its payload. */
static double packet_ns(u32 headers, u32 payload)
{
	return (90 + 28 + headers + payload) * 0.08;
}

/*
 * A window of 64 packets with open headers, and three without, of which the last one is short. They
 * follow one another, on the second wire behind the first packet, which is as long as any. Then the
 * acknowledgement, which is sent twice. Four wires.
 */
static void a_write_alone_takes_the_time_of_its_bits(void **state)
{
	const double open = packet_ns(84 + 16, 3952), full = packet_ns(16, 3952);
	const double last = packet_ns(16, 262144 - 66 * 3952), ack = packet_ns(4, 0);
	const double expected_ns = 65 * open + 2 * full + last + 2 * ack + 4 * 500;
	u64 took_ns;

	(void)state;
	start(&quiet, VQP_OP_WRITE, 262144, 1);
	add(0, 1);
	open_windows();
	finish(1);
	took_ns = samples_percentile(&env.took, 50);
	print_message("%llu ns, expected %.0f\n", (unsigned long long)took_ns, expected_ns);
	/* Whatever is sent ends with a whole nanosecond. */
	assert_in_range(took_ns, (u64)expected_ns, (u64)expected_ns + 5);
	assert_int_equal(env.flows[0].tx.packets_resent, 0);
	assert_int_equal(env.flows[0].meter.bytes, 262144);
}

static void a_read_of_8_bytes_takes_a_round_trip(void **state)
{
	(void)state;
	start(&quiet, VQP_OP_READ, 8, 1);
	add(0, 1);
	finish(1);
	/* 226 bytes there and 130 back, each sent twice */
	assert_in_range(samples_percentile(&env.took, 50), 2000 + 56, 2000 + 61);
	assert_int_equal(env.flows[0].meter.bytes, 8);
}

static void a_processor_takes_its_time(void **state)
{
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.host.service_ns = 700;
	start(&cfg, VQP_OP_READ, 8, 1);
	add(0, 1);
	finish(1);
	assert_in_range(samples_percentile(&env.took, 50), 3400 + 56, 3400 + 61);
}

static void jitter_delays_and_never_reorders(void **state)
{
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.host.service_ns = 100;
	cfg.host.jitter_ns = 20000;
	cfg.host.stall_every_ns = 100000;
	cfg.host.stall_ns = 50000;
	start(&cfg, VQP_OP_WRITE, 16384, 200);
	add(0, 1);
	finish(200);
	assert_int_equal(env.flows[0].tx.packets_resent, 0);
	assert_true(samples_percentile(&env.took, 1) >= 3000);
	assert_in_range(samples_percentile(&env.took, 50), 10000, 60000);
	assert_in_range(samples_percentile(&env.took, 100), 40000, 500000);
}

/* Ticks of 4 ms: what is set for 8 ms comes after 8 to 12. */
static void timers_expire_with_ticks(void **state)
{
	const struct host *host;

	(void)state;
	start(&quiet, VQP_OP_WRITE, 8, 1);
	host = env.network.hosts;
	assert_true(host->tick_from_ns < 4 * MS);
	for (u64 at_ns = 0; at_ns < 20 * MS; at_ns += 12345) {
		const u64 tick_ns = host_tick(host, at_ns);

		assert_in_range(tick_ns, at_ns, at_ns + 4 * MS - 1);
		assert_int_equal((tick_ns - host->tick_from_ns) % (4 * MS), 0);
	}
	add(0, 1);
	finish(1);
}

/* As many flows as there are want more slots than the lane has: all get some in turn. */
static void flows_wait_for_slots_of_their_lane(void **state)
{
	struct network_cfg cfg = quiet;
	u32 most = 0;

	(void)state;
	cfg.hosts = 33;
	start(&cfg, VQP_OP_WRITE, 262144, 4);
	for (u32 i = 0; i < 32; i++)
		add(0, 1 + i);
	open_windows();
	for (u32 i = 0; i < 32; i++) {
		events_run(&env.network.events, 1000 * (i + 1));
		most = env.network.hosts[0].nic.most > most ? env.network.hosts[0].nic.most : most;
	}
	assert_int_equal(most, VQP_LANE_TX_SLOTS - VQP_LANE_TX_RESERVED);
	finish(32 * 4);
	assert_int_equal(packets_in_use(), 0);
}

static void a_host_that_is_too_slow_drops_what_it_cannot_hold(void **state)
{
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.hosts = 33;
	cfg.host_link.limit = 0;
	cfg.host.service_ns = 2000;
	start(&cfg, VQP_OP_WRITE, 262144, 4);
	for (u32 i = 0; i < 32; i++)
		add(1 + i, 0);
	finish(32 * 4);
	assert_true(env.network.hosts[0].overrun[PACKET_VQP] > 100);
	assert_int_equal(network_counts(&env.network, PACKET_VQP).dropped,
			 env.network.hosts[0].overrun[PACKET_VQP]);
	assert_int_equal(packets_in_use(), 0);
}

/* What is dropped is sent again; each message completes, and no packet is left. */
static void an_incast_loses_packets_and_no_message(void **state)
{
	const u8 ops[] = { VQP_OP_WRITE, VQP_OP_READ, VQP_OP_SEND };
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.hosts = 33;
	cfg.host_link.limit = 100;
	cfg.host_link.mark_from = 20;
	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		struct port_counts counts;

		if (i)
			teardown(NULL);
		start(&cfg, ops[i], 262144, 4);
		for (u32 n = 1; n < 33; n++)
			add(ops[i] == VQP_OP_READ ? 0 : n, ops[i] == VQP_OP_READ ? n : 0);
		finish(32 * 4);
		counts = network_counts(&env.network, PACKET_VQP);
		print_message("%llu dropped, %llu marked\n", (unsigned long long)counts.dropped, (unsigned long long)counts.marked);
		assert_true(counts.dropped > 10 && counts.marked > 100);
		assert_int_equal(network_port_to(&env.network, 0)->most, 100);
		for (u32 n = 0; n < env.nflows; n++)
			assert_true(env.flows[n].meter.bytes >= 4 * 262144);
		for (u32 n = 0; n < cfg.hosts; n++)
			assert_int_equal(env.network.hosts[n].target.held, 0);
		assert_int_equal(packets_in_use(), 0);
	}
}

static struct port *path_port(u32 path)
{
	struct network_switch *leaf = &env.network.switches[0];

	return &leaf->ports[leaf->nhosts + path];
}

/* All packets between two hosts go by one path, and the pairs of hosts are spread over all. */
static void a_pair_of_hosts_has_one_path(void **state)
{
	struct network_cfg cfg = quiet;
	u64 used = 0;

	(void)state;
	cfg.hosts = 64;
	cfg.leaves = 2;
	for (u32 from = 0; from < 32; from++) {
		u32 paths = 0;

		if (from)
			teardown(NULL);
		start(&cfg, VQP_OP_WRITE, 65536, 1);
		add(from, 63 - from);
		finish(1);
		for (u32 i = 0; i < 4; i++) {
			const u64 packets = path_port(i)->counts[PACKET_VQP].packets;

			paths += packets > 0;
			used |= packets ? 1U << i : 0;
			/* 17 packets with data, and the CLOSE */
			assert_true(packets == 0 || packets == 18);
		}
		assert_int_equal(paths, 1);
	}
	assert_int_equal(used, 15);
}

/* Hosts of one leaf need no spine. */
static void neighbours_take_no_path(void **state)
{
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.hosts = 8;
	cfg.leaves = 2;
	start(&cfg, VQP_OP_WRITE, 65536, 1);
	add(0, 3);
	add(7, 4);
	finish(2);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(path_port(i)->counts[PACKET_VQP].packets, 0);
}

static void only_a_grey_path_loses_packets(void **state)
{
	struct network_cfg cfg = quiet;

	(void)state;
	cfg.hosts = 64;
	cfg.leaves = 2;
	cfg.grey_loss = 0.05;
	start(&cfg, VQP_OP_WRITE, 65536, 20);
	for (u32 i = 0; i < 32; i++)
		add(i, 32 + i);
	finish(32 * 20);
	assert_in_range(path_port(0)->counts[PACKET_VQP].lost * 100,
			3 * path_port(0)->counts[PACKET_VQP].packets,
			7 * path_port(0)->counts[PACKET_VQP].packets);
	for (u32 i = 1; i < 4; i++)
		assert_int_equal(path_port(i)->counts[PACKET_VQP].lost, 0);
	assert_int_equal(network_counts(&env.network, PACKET_VQP).dropped, 0);
	assert_int_equal(packets_in_use(), 0);
}

static void percentiles(void **state)
{
	(void)state;
	start(&quiet, VQP_OP_WRITE, 8, 1);
	assert_int_equal(samples_percentile(&env.took, 50), 0);
	for (u32 i = 200; i; i--)
		samples_add(&env.took, i);
	assert_int_equal(samples_percentile(&env.took, 50), 100);
	assert_int_equal(samples_percentile(&env.took, 99), 198);
	assert_int_equal(samples_percentile(&env.took, 100), 200);
	samples_add(&env.took, 1000);
	assert_int_equal(samples_percentile(&env.took, 100), 1000);
}

static void starving(void **state)
{
	struct meter meter = { 0 };

	(void)state;
	start(&quiet, VQP_OP_WRITE, 8, 1);
	/* Who wants nothing does not starve. */
	assert_int_equal(meter_starved_ns(&meter, 100), 0);
	meter_wait(&meter, 100);
	meter_wait(&meter, 150);
	meter_add(&meter, 10, 200);
	meter_add(&meter, 10, 250);
	assert_int_equal(meter_starved_ns(&meter, 270), 100);
	meter_rest(&meter);
	assert_int_equal(meter_starved_ns(&meter, 10000), 100);
	meter_wait(&meter, 10000);
	assert_int_equal(meter_starved_ns(&meter, 10500), 500);
	meter_count_anew(&meter, 10500);
	assert_int_equal(meter.bytes, 0);
	assert_int_equal(meter_starved_ns(&meter, 10600), 100);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_write_alone_takes_the_time_of_its_bits),
		TEST(a_read_of_8_bytes_takes_a_round_trip),
		TEST(a_processor_takes_its_time),
		TEST(jitter_delays_and_never_reorders),
		TEST(timers_expire_with_ticks),
		TEST(flows_wait_for_slots_of_their_lane),
		TEST(a_host_that_is_too_slow_drops_what_it_cannot_hold),
		TEST(an_incast_loses_packets_and_no_message),
		TEST(a_pair_of_hosts_has_one_path),
		TEST(neighbours_take_no_path),
		TEST(only_a_grey_path_loses_packets),
		TEST(percentiles),
		TEST(starving),
	};

	return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
