// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The simulator's time, ports and buffers. */
#include "unit.h"
#include "sim/port.h"

#define BYTES	4086U

/* Ports to nowhere: what comes out of a wire is noted. */
static struct {
	struct events events;
	struct packets packets;
	u64 random;
	struct port ports[2];
	u64 arrived_ns[100000];
	bool ce[100000];
	u32 labels[100000];
	u32 narrived;
} env;

static int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	env.random = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	packets_end(&env.packets);
	events_end(&env.events);
	return 0;
}

static void arrive(void *who, void *what)
{
	struct packet *packet = what;

	(void)who;
	assert_true(env.narrived < ARRAY_SIZE(env.arrived_ns));
	env.ce[env.narrived] = packet->ce;
	env.labels[env.narrived] = packet->label;
	env.arrived_ns[env.narrived++] = env.events.now_ns;
	packet_free(&env.packets, packet);
}

static struct port *make(u32 index, const struct port_cfg *cfg)
{
	struct port *port = &env.ports[index];

	port_init(port, cfg, &env.events, &env.packets, &env.random);
	port->deliver = arrive;
	return port;
}

/* Packets that carry the numbers 0 to n - 1. */
static void offer(struct port *port, u32 n, bool ect)
{
	for (u32 i = 0; i < n; i++) {
		struct packet *packet = packet_new(&env.packets);

		packet->bytes = BYTES;
		packet->label = i;
		packet->ect = ect;
		port_send(port, packet);
	}
}

static void note_number(void *who, void *what)
{
	u32 **next = who;

	*(*next)++ = *(u32 *)what;
}

static void events_come_by_their_time_and_then_by_their_age(void **state)
{
	u32 number[1000], seen[1000], *next = seen;
	u64 at_ns[1000];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(number); i++) {
		number[i] = i;
		at_ns[i] = unit_random(&env.random) % 100;
		events_at(&env.events, at_ns[i], note_number, &next, &number[i]);
	}
	events_run(&env.events, 98);
	assert_int_equal(env.events.now_ns, 98);
	assert_true(next < seen + ARRAY_SIZE(seen));
	assert_true(events_step(&env.events, 99));
	events_run(&env.events, 99);
	assert_false(events_step(&env.events, UINT64_MAX));
	assert_ptr_equal(next, seen + ARRAY_SIZE(seen));
	for (u32 i = 1; i < ARRAY_SIZE(seen); i++) {
		assert_true(at_ns[seen[i - 1]] <= at_ns[seen[i]]);
		if (at_ns[seen[i - 1]] == at_ns[seen[i]])
			assert_true(seen[i - 1] < seen[i]);
	}
}

static void what_is_late_comes_now(void **state)
{
	u32 number[2] = { 1, 2 }, seen[2], *next = seen;

	(void)state;
	events_run(&env.events, 50);
	events_at(&env.events, 50, note_number, &next, &number[0]);
	events_at(&env.events, 10, note_number, &next, &number[1]);
	events_run(&env.events, 50);
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], 2);
}

/* The n-th packet has left after n times its bits at the rate, to the nanosecond. */
static void check_rate(u64 mbps)
{
	const struct port_cfg cfg = { .mbps = mbps, .delay_ns = 500 };
	const u64 packet_ps = BYTES * 8ULL * 1000000 / mbps, began_ns = env.events.now_ns;
	struct port *port = make(0, &cfg);

	env.narrived = 0;
	offer(port, 1000, false);
	events_run(&env.events, began_ns + 1000000000);
	assert_int_equal(env.narrived, 1000);
	for (u64 i = 0; i < 1000; i++) {
		assert_int_equal(env.arrived_ns[i], began_ns + (packet_ps * (i + 1) + 999) / 1000 + 500);
		assert_int_equal(env.labels[i], i);
	}
}

static void a_port_has_its_rate(void **state)
{
	(void)state;
	check_rate(100000);
	check_rate(25000);
	check_rate(10000);
	check_rate(400000);
}

static void a_port_that_was_idle_sends_at_once(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .delay_ns = 500 };
	struct port *port = make(0, &cfg);

	(void)state;
	offer(port, 1, false);
	events_run(&env.events, 10000);
	offer(port, 1, false);
	events_run(&env.events, 20000);
	assert_int_equal(env.arrived_ns[0], 327 + 500);
	assert_int_equal(env.arrived_ns[1], 10000 + 327 + 500);
}

static void a_full_queue_drops_what_comes(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .limit = 512 };
	struct port *port = make(0, &cfg);

	(void)state;
	offer(port, 600, false);
	assert_int_equal(port->queue.count, 512);
	assert_int_equal(port->counts[PACKET_VQP].dropped, 88);
	/* The first one has left: there is room for one, and for no more. */
	events_run(&env.events, 327);
	offer(port, 2, false);
	assert_int_equal(port->counts[PACKET_VQP].dropped, 89);
	events_run(&env.events, 1000000);
	assert_int_equal(env.narrived, 513);
	assert_int_equal(port->counts[PACKET_VQP].packets, 602);
	assert_int_equal(port->most, 512);
	for (u32 i = 0; i < 512; i++)
		assert_int_equal(env.labels[i], i);
	assert_int_equal(env.labels[512], 0);
}

static void a_queue_marks_from_its_threshold_on(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .limit = 512, .mark_from = 65 };
	struct port *port = make(0, &cfg);

	(void)state;
	offer(port, 100, true);
	events_run(&env.events, 1000000);
	assert_int_equal(env.narrived, 100);
	for (u32 i = 0; i < 100; i++)
		assert_int_equal(env.ce[i], i >= 65);
	assert_int_equal(port->counts[PACKET_VQP].marked, 35);
}

static void what_understands_no_marks_gets_none(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .limit = 512, .mark_from = 65 };
	struct port *port = make(0, &cfg);

	(void)state;
	offer(port, 600, false);
	events_run(&env.events, 1000000);
	assert_int_equal(env.narrived, 512);
	for (u32 i = 0; i < 512; i++)
		assert_false(env.ce[i]);
	assert_int_equal(port->counts[PACKET_VQP].marked, 0);
}

/* With alpha 1, n busy ports have 1 / (n + 1) of the buffer each (Choudhury and Hahne, 1998). */
static void ports_share_a_buffer(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000 };
	struct port_buffer buffer = { .packets = 300, .share = 1 };
	struct port *a = make(0, &cfg), *b = make(1, &cfg);

	(void)state;
	a->buffer = &buffer;
	b->buffer = &buffer;
	offer(a, 400, false);
	assert_int_equal(a->queue.count, 150);
	offer(b, 400, false);
	assert_int_equal(b->queue.count, 75);
	assert_int_equal(buffer.used, 225);
	/* Both are served at the same rate, and each takes what it may, until they have the same. */
	for (u32 i = 0; i < 100; i++) {
		events_run(&env.events, env.events.now_ns + 327);
		offer(a, 2, false);
		offer(b, 2, false);
	}
	assert_in_range(a->queue.count, 99, 101);
	assert_in_range(b->queue.count, 99, 101);
	events_run(&env.events, 10000000);
	assert_int_equal(buffer.used, 0);
	offer(b, 400, false);
	assert_int_equal(b->queue.count, 150);
}

static void a_faulty_wire_loses_its_share(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .loss = 0.05 };
	struct port *port = make(0, &cfg);
	u64 lost;

	(void)state;
	offer(port, 40000, false);
	events_run(&env.events, 1000000000);
	lost = port->counts[PACKET_VQP].lost;
	/* 2,000, with a standard deviation of 44 */
	assert_in_range(lost, 1800, 2200);
	assert_int_equal(env.narrived + lost, 40000);
	/* What is lost has occupied the wire. */
	assert_int_equal(port->free_ps, 40000ULL * BYTES * 80);
}

static void a_wire_loses_each_nth_packet(void **state)
{
	const struct port_cfg cfg = { .mbps = 100000, .lose_every = 10 };
	struct port *port = make(0, &cfg);

	(void)state;
	offer(port, 100, false);
	events_run(&env.events, 1000000);
	assert_int_equal(env.narrived, 90);
	for (u32 i = 0; i < 90; i++)
		assert_int_not_equal(env.labels[i] % 10, 9);
	assert_int_equal(port->counts[PACKET_VQP].lost, 10);
}

/* Ten packets of 100 ns: 10, 9, ... 1, and then nothing for as long again. */
static void the_average_length_of_a_queue(void **state)
{
	const struct port_cfg cfg = { .mbps = 8 * 10000 };
	struct port *port = make(0, &cfg);

	(void)state;
	for (u32 i = 0; i < 10; i++) {
		struct packet *packet = packet_new(&env.packets);

		packet->bytes = 1000;
		port_send(port, packet);
	}
	events_run(&env.events, 1000);
	assert_int_equal((u64)(port_mean_queue(port, 0) * 1000), 5500);
	events_run(&env.events, 2000);
	assert_int_equal((u64)(port_mean_queue(port, 0) * 1000), 2750);
	port_count_anew(port);
	events_run(&env.events, 3000);
	assert_int_equal((u64)(port_mean_queue(port, 2000) * 1000), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_come_by_their_time_and_then_by_their_age),
		TEST(what_is_late_comes_now),
		TEST(a_port_has_its_rate),
		TEST(a_port_that_was_idle_sends_at_once),
		TEST(a_full_queue_drops_what_comes),
		TEST(a_queue_marks_from_its_threshold_on),
		TEST(what_understands_no_marks_gets_none),
		TEST(ports_share_a_buffer),
		TEST(a_faulty_wire_loses_its_share),
		TEST(a_wire_loses_each_nth_packet),
		TEST(the_average_length_of_a_queue),
	};

	return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
