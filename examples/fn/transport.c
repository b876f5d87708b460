// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "transport.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>


uint64_t transport_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int transport_fail(struct transport *t, const char *what)
{
	snprintf(t->error, sizeof(t->error), "%s: %s", what, strerror(errno));
	return -1;
}

static struct ibv_sge transport_sge(const struct transport *t)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)t->data,
		.length = t->bytes,
		.lkey = t->mr ? t->mr->lkey : 0,
	};
}

int transport_post_receive(struct transport *t)
{
	struct ibv_sge sge = transport_sge(t);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = t->mr ? 1 : 0 };
	struct ibv_recv_wr *bad;

	errno = ibv_post_recv(t->qp, &wr, &bad);
	return errno ? transport_fail(t, "post_recv") : 0;
}

int transport_poll(struct transport *t, struct ibv_wc *wc)
{
	int count = ibv_poll_cq(t->cq, 1, wc);

	if (count < 0)
		return transport_fail(t, "poll_cq");
	if (count && wc->status != IBV_WC_SUCCESS) {
		snprintf(t->error, sizeof(t->error), "completion status %d", wc->status);
		return -1;
	}
	return count;
}

int transport_await(struct transport *t, struct ibv_wc *wc, long nap_us, int timeout_ms)
{
	const struct timespec nap = { .tv_nsec = nap_us * 1000 };
	uint64_t deadline = transport_now_ns() + timeout_ms * 1000000ULL;
	int count;

	while (!(count = transport_poll(t, wc))) {
		if (transport_now_ns() > deadline) {
			errno = ETIMEDOUT;
			return transport_fail(t, "completion");
		}
		nanosleep(&nap, NULL);
	}
	return count < 0 ? -1 : 0;
}

int transport_send(struct transport *t, int timeout_ms)
{
	struct ibv_sge sge = transport_sge(t);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = t->bytes ? 1 : 0,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | (t->mr ? 0 : IBV_SEND_INLINE),
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	errno = ibv_post_send(t->qp, &wr, &bad);
	if (errno)
		return transport_fail(t, "post_send");
	return transport_await(t, &wc, TRANSPORT_NAP_US, timeout_ms);
}
