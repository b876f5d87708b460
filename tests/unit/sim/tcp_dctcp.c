// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "tcp.h"

#define DCTCP_G		(1.0 / 16)

static void dctcp_init(struct tcp *tcp)
{
	tcp->dctcp = (struct dctcp){ .alpha = 1 };
}

static void dctcp_grow(struct tcp *tcp, u32 n)
{
	tcp->cwnd += tcp_slow_start(tcp, n) / tcp->cwnd;
}

static void dctcp_cut(struct tcp *tcp, bool timeout)
{
	(void)timeout;
	tcp->ssthresh = fmax(tcp->cwnd / 2, 2);
}

/* RFC 8257, section 3.3: once a window, alpha is estimated; and if it has marks, it is cut. */
static void dctcp_note_marks(struct tcp *tcp, u32 n, u32 marked)
{
	struct dctcp *dctcp = &tcp->dctcp;

	if (!dctcp->window_end)
		dctcp->window_end = tcp->next;
	dctcp->acked += n;
	dctcp->marked += marked;
	if (tcp->una > dctcp->window_end) {
		dctcp->alpha += DCTCP_G * ((double)dctcp->marked / dctcp->acked - dctcp->alpha);
		dctcp->acked = 0;
		dctcp->marked = 0;
		dctcp->window_end = tcp->next;
	}
	if (!marked || tcp->una <= dctcp->cut_end || tcp->recovering)
		return;
	tcp->cwnd = fmax(tcp->cwnd * (1 - dctcp->alpha / 2), 2);
	tcp->ssthresh = tcp->cwnd;
	dctcp->cut_end = tcp->next;
	tcp->cuts++;
}

const struct tcp_model tcp_dctcp = {
	.name = "dctcp", .ect = true, .init = dctcp_init, .grow = dctcp_grow, .cut = dctcp_cut,
	.note_marks = dctcp_note_marks,
};
