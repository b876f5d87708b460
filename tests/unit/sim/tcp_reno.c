// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "tcp.h"

static void reno_init(struct tcp *tcp)
{
	(void)tcp;
}

static void reno_grow(struct tcp *tcp, u32 n)
{
	tcp->cwnd += tcp_slow_start(tcp, n) / tcp->cwnd;
}

static void reno_cut(struct tcp *tcp, bool timeout)
{
	(void)timeout;
	tcp->ssthresh = fmax(tcp->cwnd / 2, 2);
}

const struct tcp_model tcp_reno = {
	.name = "reno", .init = reno_init, .grow = reno_grow, .cut = reno_cut,
};
