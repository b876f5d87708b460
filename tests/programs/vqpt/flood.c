// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests for ever, --depth of them under way: who counts them asks the kernel. */
#include <string.h>
#include <stdio.h>
#include <unistd.h>
#include "vqpt.h"

static void flood_post(struct vqpt_conn *conn, const struct vqpt_options *o, char **args)
{
	struct ibv_sge sge = { .addr = (uintptr_t)conn->memory, .length = (uint32_t)o->bytes, .lkey = conn->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = strcmp(args[0], "read") ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.rkey = (uint32_t)vqpt_number(args[3], UINT32_MAX),
			.remote_addr = vqpt_number(args[4], UINT64_MAX),
		},
	};

	vqpt_conn_post_send(conn->qp, &wr);
}

int vqpt_flood_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, IBV_ACCESS_LOCAL_WRITE);
	uint64_t i;

	vqpt_conn_to(&conn, args[1], args[2]);
	for (i = 0; i < o->depth; i++)
		flood_post(&conn, o, args);
	for (i = 0;; i++) {
		vqpt_conn_wait(&conn, conn.send_cq);
		flood_post(&conn, o, args);
		if (!i && o->background)
			vqpt_ready("pid=%d\n", getpid());
	}
}
