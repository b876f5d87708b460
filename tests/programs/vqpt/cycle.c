// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Many lives in a row, and many VQPs at once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* Transfer for ever; a byte to `told` with the first that completed. */
static void transfer_on(const struct vqpt_options *o, char **args, int told)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = { .addr = (uintptr_t)conn.memory, .length = (uint32_t)o->bytes, .lkey = conn.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX),
			.remote_addr = vqpt_number(args[3], UINT64_MAX),
		},
	};

	vqpt_conn_to(&conn, args[0], args[1]);
	for (;; wr.wr_id++) {
		wr.opcode = wr.wr_id % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		vqpt_conn_post_send(conn.qp, &wr);
		send_signaled(conn.qp, wr.wr_id);
		vqpt_conn_wait(&conn, conn.send_cq);
		vqpt_conn_wait(&conn, conn.send_cq);
		if (!wr.wr_id && write(told, "", 1) != 1)
			exit(1);
	}
}

/* A life from its beginning to a sudden end, at another moment each time. */
static void live_and_die(const struct vqpt_options *o, char **args, uint32_t i)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		vqpt_die(errno, "pipe");
	pid = fork();
	if (pid < 0)
		vqpt_die(errno, "fork");
	if (!pid)
		transfer_on(o, args, fds[1]);
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 1)
		vqpt_die(0, "cycle %u: nothing was transferred", i);
	close(fds[0]);
	usleep(i * 37 % 1000);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		vqpt_die(0, "cycle %u: ended by itself", i);
}

int vqpt_cycle_kill(const struct vqpt_options *o, char **args)
{
	uint32_t i;

	for (i = 0; i < o->count; i++)
		live_and_die(o, args, i);
	printf("%u processes killed\n", o->count);
	return 0;
}

/* From memory, so that it may be fetched. */
static void send_bytes(const struct vqpt_conn *conn, struct ibv_qp *qp, uint64_t bytes, uint64_t wr_id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)conn->memory, .length = (uint32_t)bytes, .lkey = conn->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	vqpt_conn_post_send(qp, &wr);
}

int vqpt_storm_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp_init_attr attr = {
		.send_cq = conn.send_cq, .recv_cq = conn.recv_cq, .cap = { 4, 4, 1, 1, 64 }, .qp_type = VQP_QPT_VQP,
	};
	struct ibv_qp **qps = calloc(o->count, sizeof(struct ibv_qp *));
	sigset_t signals;
	uint32_t i;
	int err, sig;

	if (!qps)
		vqpt_die(ENOMEM, "memory for %u VQPs", o->count);
	for (i = 0; i < o->count; i++) {
		qps[i] = vqp_create_qp(vqp_pd(conn.context), &attr);
		if (!qps[i])
			vqpt_die(errno, "VQP %u", i);
		err = vqp_connect_addr(qps[i], args[0], (uint16_t)vqpt_number(args[1], UINT16_MAX));
		if (err)
			vqpt_die(err, "connecting VQP %u", i);
	}
	for (i = 0; i < o->count; i++) {
		if (i >= o->depth)
			vqpt_conn_wait(&conn, conn.send_cq);
		send_bytes(&conn, qps[i], o->bytes, i);
	}
	for (i = 0; i < o->count && i < o->depth; i++)
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
