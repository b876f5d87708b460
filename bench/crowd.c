// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What 5,000 connected VQPs of one context take: the kernel's memory, and time. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <vqp/vqp.h>

#include "duel.h"
#include "kernel_bytes.h"
#include "transport.h"

#define CROWD_VQPS	5000
#define CROWD_REST_MS	1000	/* flows that are idle for a while let go of what they had */

static int crowd_create(struct link *link, struct ibv_qp *qps[CROWD_VQPS])
{
	struct ibv_qp_init_attr attr = {
		.qp_type = VQP_QPT_VQP,
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	for (int i = 0; i < CROWD_VQPS; i++) {
		qps[i] = vqp_create_qp(link->pd, &attr);
		if (!qps[i])
			return link_fail("vqp_create_qp");
	}
	return 0;
}

static int crowd_connect(const struct link *link, struct ibv_qp *const qps[CROWD_VQPS])
{
	for (int i = 0; i < CROWD_VQPS; i++) {
		errno = -vqp_connect(qps[i], &link->peer.gid, link->peer.number);
		if (errno)
			return link_fail("vqp_connect");
	}
	return 0;
}

/* A READ over each shows that it is connected. */
static int crowd_use(struct link *link, struct ibv_qp *const qps[CROWD_VQPS])
{
	struct ibv_send_wr *bad;

	link_prepare(link, IBV_WR_RDMA_READ, 8, 1);
	for (int i = 0; i < CROWD_VQPS; i++) {
		errno = ibv_post_send(qps[i], link->wrs, &bad);
		if (errno)
			return link_fail("post_send");
		if (i >= LINK_DEPTH && link_await(link, 1))
			return -1;
	}
	return link_await(link, LINK_DEPTH);
}

json_t *crowd_run(struct duel *duel)
{
	static struct ibv_qp *qps[CROWD_VQPS];
	struct link *link = &duel->links[LINK_VQP];
	const long before = kernel_bytes();
	uint64_t start, ns;

	if (before < 0 || crowd_create(link, qps))
		return NULL;
	start = transport_now_ns();
	if (crowd_connect(link, qps))
		return NULL;
	ns = transport_now_ns() - start;
	if (crowd_use(link, qps))
		return NULL;
	usleep(CROWD_REST_MS * 1000);
	return json_pack("{s:i, s:I, s:f}", "vqps", CROWD_VQPS,
			 "bytes", (json_int_t)kernel_bytes() - before,
			 "connect_us", ns / 1000.0 / CROWD_VQPS);
}
