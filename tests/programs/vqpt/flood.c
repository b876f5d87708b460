// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests for ever, --depth of them under way: who counts them asks the kernel. On SIGTERM the VQP is destroyed with
 * them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "vqpt.h"

#define LOOK_MS	20		/* so often it looks whether it is to end */

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

/* Wait for a completion. False: it is to end. */
static bool flood_wait(const struct vqpt_conn *conn)
{
	int n = vqp_cq_wait(conn->send_cq, LOOK_MS);

	while (!ended && (!n || n == -EINTR))
		n = vqp_cq_wait(conn->send_cq, LOOK_MS);
	if (!ended)
		vqpt_conn_wait(conn, conn->send_cq);
	return !ended;
}

int vqpt_flood_run(const struct vqpt_options *o, char **args)
{
	const enum ibv_wr_opcode opcode = strcmp(args[0], "read") ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, IBV_ACCESS_LOCAL_WRITE);
	const uint32_t rkey = (uint32_t)vqpt_number(args[3], UINT32_MAX);
	const uint64_t addr = vqpt_number(args[4], UINT64_MAX);
	uint64_t i;
	int err;

	signal(SIGTERM, on_term);
	vqpt_conn_to(&conn, args[1], args[2]);
	for (i = 0; i < o->depth; i++)
		vqpt_conn_post_transfer(&conn, opcode, conn.memory, o->bytes, addr, rkey);
	for (i = 0; flood_wait(&conn); i++) {
		vqpt_conn_post_transfer(&conn, opcode, conn.memory, o->bytes, addr, rkey);
		if (!i && o->background)
			vqpt_ready("pid=%d\n", getpid());
	}
	err = vqp_destroy_qp(conn.qp);
	if (err)
		vqpt_die(err, "vqp_destroy_qp");
	return 0;
}
