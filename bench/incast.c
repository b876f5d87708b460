// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The same bytes from one VQP and from sixteen, all at once to one receiver, in turn. */
#include <errno.h>
#include <stdio.h>
#include <vqp/vqp.h>

#include "duel.h"
#include "payload.h"
#include "talk.h"
#include "transport.h"

#define INCAST_SENDERS	16

static struct ibv_qp *incast_connect(struct link *link)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = VQP_QPT_VQP,
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = vqp_create_qp(link->pd, &attr);

	if (!qp) {
		link_fail("vqp_create_qp");
		return NULL;
	}
	errno = -vqp_connect(qp, &link->peer.gid, link->peer.number);
	if (errno) {
		link_fail("vqp_connect");
		vqp_destroy_qp(qp);
		return NULL;
	}
	return qp;
}

/* Each of so many writes its part of the memory. */
static int incast_write(struct link *link, struct ibv_qp *const qps[], uint32_t senders)
{
	struct ibv_send_wr *bad;

	link_prepare(link, IBV_WR_RDMA_WRITE, LINK_BYTES / senders, senders);
	for (uint32_t i = 0; i < senders; i++) {
		link->wrs[i].next = NULL;
		errno = ibv_post_send(qps[i], &link->wrs[i], &bad);
		if (errno)
			return link_fail("post_send");
	}
	return link_await(link, senders);
}

static int incast_check(const struct duel *duel)
{
	const struct talk_order order = {
		.what = TALK_CHECK,
		.link = LINK_VQP,
		.bytes = LINK_BYTES,
		.seed = duel->seed,
	};
	const int64_t bad = talk_ask(duel->fd, &order);

	if (bad > 0)
		fprintf(stderr, "incast: WRONG: %lld bytes\n", (long long)bad);
	return bad ? -1 : 0;
}

/* Their time goes to the array `times`. The first of two transfers wakes everybody up. */
static int incast_side(struct duel *duel, struct ibv_qp *const qps[], uint32_t senders, json_t *times)
{
	struct link *link = &duel->links[LINK_VQP];
	uint64_t start;
	double us;

	if (incast_write(link, qps, senders))
		return -1;
	payload_fill(link->memory, LINK_BYTES, ++duel->seed);
	start = transport_now_ns();
	if (incast_write(link, qps, senders))
		return -1;
	us = (transport_now_ns() - start) / 1000.0;
	fprintf(stderr, "  incast        %u senders %.0f\n", senders, us);
	json_array_append_new(times, json_real(us));
	return incast_check(duel);
}

static int incast_rounds(struct duel *duel, struct ibv_qp *const qps[], int rounds, json_t *result)
{
	for (int i = 0; i < rounds; i++)
		if (incast_side(duel, qps, 1, json_object_get(result, "one_us")) ||
		    incast_side(duel, qps, INCAST_SENDERS, json_object_get(result, "many_us")))
			return -1;
	return 0;
}

json_t *incast_run(struct duel *duel, int rounds)
{
	json_t *result = json_pack("{s:i, s:[], s:[]}", "senders", INCAST_SENDERS, "one_us", "many_us");
	struct ibv_qp *qps[INCAST_SENDERS];
	uint32_t connected = 0;
	int ret = -1;

	while (connected < INCAST_SENDERS && (qps[connected] = incast_connect(&duel->links[LINK_VQP])))
		connected++;
	if (connected == INCAST_SENDERS)
		ret = incast_rounds(duel, qps, rounds, result);
	while (connected)
		vqp_destroy_qp(qps[--connected]);
	if (!ret)
		return result;
	json_decref(result);
	return NULL;
}
