// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "tcp.h"

#define CUBIC_C		0.4
#define CUBIC_BETA	0.7

static void cubic_init(struct tcp *tcp)
{
	tcp->cubic = (struct cubic){ 0 };
}

/*
 * RFC 9438, sections 4.2 and 4.8: after a timeout, or if nothing was lost yet, the window begins
 * at its plateau.
 */
static void cubic_begin(struct tcp *tcp)
{
	struct cubic *cubic = &tcp->cubic;

	cubic->begun = true;
	cubic->epoch_ns = tcp_now_ns(tcp);
	cubic->w_est = tcp->cwnd;
	if (cubic->timed_out || cubic->w_max < tcp->cwnd)
		cubic->w_max = tcp->cwnd;
	cubic->k = cbrt((cubic->w_max - tcp->cwnd) / CUBIC_C);
}

static double cubic_window(const struct cubic *cubic, double t)
{
	const double d = t - cubic->k;

	return CUBIC_C * d * d * d + cubic->w_max;
}

/* Section 4.3: the window of Reno if that were cut as Cubic is. */
static void cubic_estimate(struct tcp *tcp, u32 n)
{
	struct cubic *cubic = &tcp->cubic;
	const double alpha = cubic->w_est < cubic->cwnd_prior ?
			     3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) : 1;

	cubic->w_est += alpha * n / tcp->cwnd;
}

static void cubic_grow(struct tcp *tcp, u32 n)
{
	struct cubic *cubic = &tcp->cubic;
	double t, target;

	n = tcp_slow_start(tcp, n);
	if (!n)
		return;
	if (!cubic->begun)
		cubic_begin(tcp);
	t = (double)(tcp_now_ns(tcp) - cubic->epoch_ns) / 1e9;
	cubic_estimate(tcp, n);
	if (cubic_window(cubic, t) < cubic->w_est) {
		tcp->cwnd = fmax(tcp->cwnd, cubic->w_est);
		return;
	}
	target = fmin(fmax(cubic_window(cubic, t + tcp->srtt_ns / 1e9), tcp->cwnd), 1.5 * tcp->cwnd);
	tcp->cwnd += n * (target - tcp->cwnd) / tcp->cwnd;
}

/* Sections 4.6 and 4.7: with fast convergence. */
static void cubic_cut(struct tcp *tcp, bool timeout)
{
	struct cubic *cubic = &tcp->cubic;

	cubic->w_max = tcp->cwnd < cubic->w_max ? tcp->cwnd * (1 + CUBIC_BETA) / 2 : tcp->cwnd;
	cubic->cwnd_prior = tcp->cwnd;
	cubic->begun = false;
	cubic->timed_out = timeout;
	tcp->ssthresh = fmax(tcp->cwnd * CUBIC_BETA, 2);
}

const struct tcp_model tcp_cubic = {
	.name = "cubic", .init = cubic_init, .grow = cubic_grow, .cut = cubic_cut,
};
