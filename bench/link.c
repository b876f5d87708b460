// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "link.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_PAGE_BYTES	4096

const struct link_kind *const link_kinds[LINKS] = {
	[LINK_VQP] = &link_vqp,
	[LINK_VERBS] = &link_verbs,
};

int link_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return -1;
}

int link_open(struct link *link, const struct link_kind *kind, bool serves, struct link_address *own)
{
	memset(link, 0, sizeof(*link));
	link->kind = kind;
	link->serves = serves;
	link->memory = aligned_alloc(LINK_PAGE_BYTES, LINK_BYTES);
	if (!link->memory)
		return link_fail("memory");
	memset(link->memory, 0, LINK_BYTES);
	if (kind->open(link, own))
		return -1;
	own->memory = (uintptr_t)link->memory;
	own->rkey = link->mr->rkey;
	return 0;
}

int link_connect(struct link *link, const struct link_address *peer)
{
	link->peer = *peer;
	return link->kind->connect(link);
}

void link_close(struct link *link)
{
	if (link->kind)
		link->kind->close(link);
	free(link->memory);
	memset(link, 0, sizeof(*link));
}

/* Of one size on both sides. */
struct ibv_qp_init_attr link_qp_init_attr(const struct link *link, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){
		.qp_type = type,
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = {
			.max_send_wr = LINK_DEPTH,
			.max_recv_wr = 2 * LINK_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = LINK_INLINE_BYTES,
		},
	};
}

void link_prepare(struct link *link, enum ibv_wr_opcode opcode, uint32_t bytes, uint32_t count)
{
	const bool is_inline = opcode != IBV_WR_RDMA_READ && bytes <= LINK_INLINE_BYTES;

	link->count = count;
	for (uint32_t i = 0; i < count; i++) {
		link->sges[i] = (struct ibv_sge){
			.addr = (uintptr_t)link->memory + bytes * i,
			.length = bytes,
			.lkey = link->mr->lkey,
		};
		link->wrs[i] = (struct ibv_send_wr){
			.next = i + 1 < count ? &link->wrs[i + 1] : NULL,
			.sg_list = &link->sges[i],
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IBV_SEND_SIGNALED | (is_inline ? IBV_SEND_INLINE : 0),
			.wr.rdma = {
				.remote_addr = link->peer.memory + bytes * i,
				.rkey = link->peer.rkey,
			},
		};
	}
}

int link_transfer(struct link *link)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(link->qp, link->wrs, &bad);
	return errno ? link_fail("post_send") : link_await(link, link->count);
}

int link_post_receives(struct link *link, uint32_t bytes, uint32_t count)
{
	struct ibv_recv_wr wrs[LINK_DEPTH], *bad;
	struct ibv_sge sges[LINK_DEPTH];

	for (uint32_t i = 0; i < count; i++) {
		sges[i] = (struct ibv_sge){
			.addr = (uintptr_t)link->memory + bytes * i,
			.length = bytes,
			.lkey = link->mr->lkey,
		};
		wrs[i] = (struct ibv_recv_wr){
			.next = i + 1 < count ? &wrs[i + 1] : NULL,
			.sg_list = &sges[i],
			.num_sge = 1,
		};
	}
	errno = ibv_post_recv(link->qp, wrs, &bad);
	return errno ? link_fail("post_recv") : 0;
}

int link_await(struct link *link, uint32_t count)
{
	struct ibv_wc wcs[LINK_DEPTH];

	while (count) {
		int polled = ibv_poll_cq(link->cq, count < LINK_DEPTH ? count : LINK_DEPTH, wcs);

		if (!polled && !link->spins)
			sched_yield();
		if (polled < 0)
			return link_fail("poll_cq");
		for (int i = 0; i < polled; i++) {
			if (wcs[i].status != IBV_WC_SUCCESS) {
				fprintf(stderr, "%s: %s\n", link->kind->name,
					ibv_wc_status_str(wcs[i].status));
				return -1;
			}
		}
		count -= polled;
	}
	return 0;
}
