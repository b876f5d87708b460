// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Many lives in a row, and many VQPs at once. */
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vqpt.h"

static const char cycle_message[] = "12345678";

static void send_signaled(struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)cycle_message, .length = 8 };
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};

	vqpt_conn_post_send(qp, &wr);
}

int vqpt_cycle_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn;
	uint32_t i;

	for (i = 0; i < o->count; i++) {
		conn = vqpt_conn_open(o, 4096, IBV_ACCESS_LOCAL_WRITE);
		vqpt_conn_to(&conn, args[0], args[1]);
		send_signaled(conn.qp, i);
		vqpt_conn_wait(&conn, conn.send_cq);
		vqpt_conn_close(&conn);
	}
	printf("%u cycles\n", o->count);
	return 0;
}

int vqpt_storm_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_options own = *o;
	struct vqpt_conn conn;
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 64 }, .qp_type = VQP_QPT_VQP };
	struct ibv_qp **qps = calloc(o->count, sizeof(struct ibv_qp *));
	sigset_t signals;
	uint32_t i;
	int err, sig;

	if (!qps)
		vqpt_die(ENOMEM, "memory for %u VQPs", o->count);
	own.depth = o->count < VQP_MAX_WR ? o->count : VQP_MAX_WR;	/* sizes the CQs */
	conn = vqpt_conn_open(&own, 4096, IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = conn.send_cq;
	attr.recv_cq = conn.recv_cq;
	for (i = 0; i < o->count; i++) {
		qps[i] = vqp_create_qp(vqp_pd(conn.context), &attr);
		if (!qps[i])
			vqpt_die(errno, "VQP %u", i);
		err = vqp_connect_addr(qps[i], args[0], (uint16_t)vqpt_number(args[1], UINT16_MAX));
		if (err)
			vqpt_die(err, "connecting VQP %u", i);
	}
	for (i = 0; i < o->count; i++)
		send_signaled(qps[i], i);
	for (i = 0; i < o->count; i++)
		vqpt_conn_wait(&conn, conn.send_cq);
	printf("%u VQPs\n", o->count);
	if (o->background) {
		sigemptyset(&signals);
		sigaddset(&signals, SIGTERM);
		sigprocmask(SIG_BLOCK, &signals, NULL);
		vqpt_ready("pid=%d\n", getpid());
		sigwait(&signals, &sig);
	}
	vqpt_conn_close(&conn);
	free(qps);
	return 0;
}
