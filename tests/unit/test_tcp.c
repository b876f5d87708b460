// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The simulator's models of TCP, against what was published of Reno, Cubic and DCTCP. */
#include <math.h>
#include "unit.h"
#include "sim/network.h"
#include "sim/tcp.h"

#define MS	1000000ULL
#define SECOND	1000000000ULL
#define END	(300 * SECOND)	/* nothing takes so long */

/* Up to four connections from hosts 1, 2, ... to host 0. */
static struct {
	struct network network;
	struct tcp tcps[4];
	u32 ntcps;
	struct port *port;		/* to host 0 */
} env;

static void stop(void)
{
	for (u32 i = 0; i < env.ntcps; i++)
		tcp_end(&env.tcps[i]);
	if (env.port)
		network_end(&env.network);
	memset(&env, 0, sizeof(env));
}

/*
 * Hosts that take no time, and links that take little, but for that to host 0, which has the rate
 * and the limits. A round trip takes rtt_ns while nothing waits there.
 */
static void start(const struct tcp_model *model, u32 ntcps, u64 mbps, u64 rtt_ns, u32 limit,
		  u32 mark_from)
{
	const struct network_cfg cfg = {
		.hosts = 1 + ntcps, .leaves = 1, .paths = 1,
		.host_link = {
			.mbps = 400000, .delay_ns = rtt_ns / 4, .limit = limit, .mark_from = mark_from,
		},
	};

	stop();
	network_init(&env.network, &cfg, 1, 1);
	env.port = network_port_to(&env.network, 0);
	env.port->cfg.mbps = mbps;
	env.ntcps = ntcps;
	for (u32 i = 0; i < ntcps; i++) {
		tcp_init(&env.tcps[i], &env.network, model, 1 + i, 0, i);
		tcp_start(&env.tcps[i], i * rtt_ns / 3);
	}
}

static void go_on(u64 ns)
{
	events_run(&env.network.events, env.network.events.now_ns + ns);
}

/* The next event, of which there is one soon enough. */
static void step(void)
{
	assert_true(events_step(&env.network.events, END));
}

/* Go on until so many more segments were lost; the time for that. */
static u64 time_of_losses(u64 n)
{
	const u64 began_ns = env.network.events.now_ns, lost = env.port->counts[PACKET_TCP].lost;

	while (env.port->counts[PACKET_TCP].lost < lost + n)
		step();
	return env.network.events.now_ns - began_ns;
}

/* Let the first connection get to a window of so many segments, and lose one of them then. */
static void lose_one_at(double window)
{
	struct tcp *tcp = &env.tcps[0];

	tcp->ssthresh = window;
	while (tcp->cwnd < window)
		step();
	env.port->cfg.lose_every = 1;
	while (!env.port->counts[PACKET_TCP].lost)
		step();
	env.port->cfg.lose_every = 0;
	while (!tcp->cuts || tcp->recovering)
		step();
}

/*
 * The average window of a model from whose segments one of so many is lost. It begins with a loss
 * at the window `begin`.
 */
static double average_window(const struct tcp_model *model, u32 lose_every, u64 rtt_ns,
			     double begin)
{
	const u32 losses = 20;

	start(model, 1, 400000, rtt_ns, 0, 0);
	lose_one_at(begin);
	env.port->cfg.lose_every = lose_every;
	time_of_losses(2);
	return (double)lose_every * losses * (double)rtt_ns / (double)time_of_losses(losses);
}

/* Is the value within so many per cent of what was published? */
static void check_near(const char *what, double value, double published, double percent)
{
	print_message("%s: %.4g, published: %.4g\n", what, value, published);
	assert_true(fabs(value - published) <= published * percent / 100);
}

/*
 * Mathis, Semke, Mahdavi and Ott, 1997: with one segment lost of 1 / p, and each acknowledged, the
 * window is sqrt(3 / 2p) on average. That leaves out the round trip in which Reno recovers, which
 * matters the less the larger the window is.
 */
static void reno_gets_what_mathis_says(void **state)
{
	(void)state;
	check_near("Reno's window", average_window(&tcp_reno, 400, MS, 33), sqrt(1.5 * 400), 10);
	check_near("Reno's window", average_window(&tcp_reno, 2500, MS, 82), sqrt(1.5 * 2500), 5);
	assert_int_equal(env.tcps[0].timeouts, 0);
}

/*
 * The window of Reno goes from half of what path and buffer hold to all of it. If the path holds B
 * segments and the buffer b * B, the link is used to 3 (1 + b)^2 / 4 (1 + b + b^2): to 3/4 without
 * a buffer, and to the full with one for a round trip.
 */
static void reno_needs_a_buffer_for_a_round_trip(void **state)
{
	const double line = 1e9 / 8 / (TCP_MSS + TCP_OVERHEAD), path = line * 2e-3;
	const u32 buffers[] = { 6, 20, 60 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(buffers); i++) {
		const double b = buffers[i] / path;
		u64 before;

		start(&tcp_reno, 1, 1000, 2 * MS, buffers[i] + 1, 0);
		env.tcps[0].cwnd = 2;
		env.tcps[0].ssthresh = 30;
		go_on(SECOND / 2);
		before = env.tcps[0].expected;
		go_on(2 * SECOND);
		check_near("Reno's use of the link", (double)(env.tcps[0].expected - before) / 2 / line,
			   0.75 * (1 + b) * (1 + b) / (1 + b + b * b), 3);
	}
}

/* RFC 9438, figure 1: W_cubic(t) = C * (t - K)^3 + W_max, with K = cbrt((W_max - cwnd) / C). */
static void cubics_window_is_cubic(void **state)
{
	struct tcp *tcp = &env.tcps[0];
	double w_max, k;
	u64 epoch_ns;

	(void)state;
	start(&tcp_cubic, 1, 100000, 100 * MS, 0, 0);
	lose_one_at(200);
	w_max = tcp->cubic.w_max;
	check_near("Cubic's W_max", w_max, 200, 1);
	check_near("Cubic's window after a loss", tcp->cwnd, 0.7 * w_max, 2);
	k = cbrt(0.3 * w_max / 0.4);
	epoch_ns = env.network.events.now_ns;
	for (u32 i = 1; i <= 16; i++) {
		double t;

		go_on(SECOND / 2);
		t = (double)(env.network.events.now_ns - epoch_ns) / 1e9 - k;
		check_near("Cubic's window", tcp->cwnd, 0.4 * t * t * t + w_max, 2);
	}
	assert_int_equal(tcp->cuts, 1);
}

/* RFC 9438, section 4.7: if the window has not grown as far as before, w_max is less than it. */
static void cubic_makes_room_for_newcomers(void **state)
{
	struct tcp *tcp = &env.tcps[0];

	(void)state;
	start(&tcp_cubic, 1, 100000, 100 * MS, 0, 0);
	lose_one_at(200);
	go_on(SECOND);
	assert_true(tcp->cwnd < 199);
	env.port->cfg.lose_every = 1;
	env.port->counts[PACKET_TCP].lost = 0;
	while (!env.port->counts[PACKET_TCP].lost)
		step();
	env.port->cfg.lose_every = 0;
	while (tcp->cuts < 2)
		step();
	check_near("Cubic's W_max", tcp->cubic.w_max, 0.85 * tcp->cubic.cwnd_prior, 1);
}

/* Fast convergence is for windows that differ. Here one may be a little less than the last. */
static void cut_without_convergence(struct tcp *tcp, bool timeout)
{
	tcp->cubic.w_max = 0;
	tcp_cubic.cut(tcp, timeout);
}

/*
 * RFC 9438, section 5.1: the average window for a round trip of 0.1 s and a loss of 1 in 10,000 is
 * 187, where it is cubic (table 1); for 0.01 s and 1 in 1,000 it is 38, that of Reno (table 2).
 */
static void cubic_gets_what_its_rfc_says(void **state)
{
	struct tcp_model cubic = tcp_cubic;

	(void)state;
	cubic.cut = cut_without_convergence;
	check_near("Cubic's window", average_window(&cubic, 10000, 100 * MS, 202), 187, 5);
	check_near("Cubic's window", average_window(&cubic, 1000, 10 * MS, 44), 38, 5);
}

/*
 * Alizadeh et al., SIGCOMM 2010, section 3.3: N synchronous flows have windows of at most
 * W* + 1 with W* = (C * RTT + K) / N; alpha is sqrt(2 / W*); the queue has at most K + N packets
 * and oscillates by sqrt(2 N (C * RTT + K)) / 2.
 */
static void dctcp_keeps_the_queue_at_its_threshold(void **state)
{
	const u32 n = 2, k = 65;
	const double path = 10e9 / 8 / (TCP_MSS + TCP_OVERHEAD) * 100e-6;
	const double amplitude = sqrt(2 * n * (path + k)) / 2;
	u32 least = UINT32_MAX, most = 0;
	double alpha = 0;

	(void)state;
	start(&tcp_dctcp, n, 10000, MS / 10, 512, k);
	go_on(50 * MS);
	for (u32 i = 0; i < 10000; i++) {
		go_on(5000);
		least = env.port->queue.count < least ? env.port->queue.count : least;
		most = env.port->queue.count > most ? env.port->queue.count : most;
		alpha += env.tcps[0].dctcp.alpha / 10000;
	}
	check_near("DCTCP's alpha", alpha, sqrt(2 * n / (path + k)), 10);
	check_near("DCTCP's longest queue", most, k + n, 3);
	check_near("DCTCP's shortest queue", least, k + n - amplitude, 5);
	assert_int_equal(env.port->counts[PACKET_TCP].dropped, 0);
}

static void connections_share_a_link(void **state)
{
	const struct tcp_model *models[] = { &tcp_reno, &tcp_cubic, &tcp_dctcp };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(models); i++) {
		u64 least = UINT64_MAX, most = 0, sum = 0;

		start(models[i], 4, 1000, MS, 60, 15);
		go_on(2 * SECOND);
		for (u32 n = 0; n < 4; n++) {
			const u64 bytes = env.tcps[n].meter.bytes;

			least = bytes < least ? bytes : least;
			most = bytes > most ? bytes : most;
			sum += bytes;
		}
		print_message("%s: %.3f of the line, slowest / fastest %.2f\n", models[i]->name,
			      (double)sum * 8 / 2e9, (double)least / (double)most);
		assert_true(sum * 8 > 2e9 * 0.95);
		assert_true((double)least / (double)most > 0.5);
		/* Only DCTCP asks for marks. */
		assert_int_equal(env.port->counts[PACKET_TCP].marked > 0, i == 2);
	}
}

/* All that is under way is lost. The tail loss probe finds out; a timeout would take 200 ms. */
static void a_probe_finds_what_is_lost_at_the_end(void **state)
{
	struct tcp *tcp = &env.tcps[0];
	u64 expected;

	(void)state;
	start(&tcp_cubic, 1, 1000, MS, 60, 0);
	go_on(100 * MS);
	/* longer than a round trip with a full buffer */
	env.port->cfg.loss = 1;
	go_on(4 * MS);
	env.port->cfg.loss = 0;
	expected = tcp->expected;
	go_on(40 * MS);
	assert_true(tcp->expected > expected + 500);
	assert_int_equal(tcp->timeouts, 0);
}

static void a_connection_outlives_a_cut_cable(void **state)
{
	struct tcp *tcp = &env.tcps[0];
	u64 expected;

	(void)state;
	start(&tcp_cubic, 1, 1000, MS, 60, 0);
	go_on(100 * MS);
	env.port->cfg.loss = 1;
	go_on(SECOND);
	expected = tcp->expected;
	assert_in_range(tcp->timeouts, 1, 4);
	env.port->cfg.loss = 0;
	go_on(2 * SECOND);
	assert_true(tcp->expected > expected + 20000);
}

static int teardown(void **state)
{
	(void)state;
	stop();
	return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reno_gets_what_mathis_says),
		TEST(reno_needs_a_buffer_for_a_round_trip),
		TEST(cubics_window_is_cubic),
		TEST(cubic_makes_room_for_newcomers),
		TEST(cubic_gets_what_its_rfc_says),
		TEST(dctcp_keeps_the_queue_at_its_threshold),
		TEST(connections_share_a_link),
		TEST(a_probe_finds_what_is_lost_at_the_end),
		TEST(a_connection_outlives_a_cut_cable),
	};

	return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
