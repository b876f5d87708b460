// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A server that offers memory, and clients that write and read it. The server
 * looks at its own memory on request, so a WRITE is not verified by a READ.
 */
#include <stdio.h>
#include <unistd.h>
#include "vqpt.h"

#define MEM_SEED	1		/* of the memory as first offered */
#define MEM_WRITE_SEED	1000

enum mem_op { MEM_PING, MEM_CHECK, MEM_IMM };

/* Request MEM_CHECK, answers MEM_CHECK and MEM_IMM (for a write with immediate data). */
struct mem_message {
	uint64_t op;
	uint64_t seed;
	uint64_t addr;
	uint64_t bytes;
	uint64_t result;		/* MEM_CHECK: good bytes; MEM_IMM: the data */
};

static void mem_serve(struct vqpt_conn *conn, struct ibv_qp *reply, const struct ibv_wc *wc,
		      const struct mem_message *request)
{
	struct mem_message answer = *request;

	if (wc->status != IBV_WC_SUCCESS || !reply)
		return;
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		answer = (struct mem_message) { .op = MEM_IMM, .bytes = wc->byte_len, .result = wc->imm_data };
	else if (wc->byte_len != sizeof(*request) || request->op != MEM_CHECK)
		return;
	else if (request->addr < (uintptr_t)conn->memory ||
		 request->addr + request->bytes > (uintptr_t)conn->memory + conn->bytes)
		return;
	else
		answer.result = vqpt_pattern_check((void *)(uintptr_t)request->addr, request->bytes, request->seed);
	vqpt_conn_send_small(reply, &answer, sizeof(answer));
}

int vqpt_mem_server(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, o->access);
	struct mem_message requests[o->depth];
	struct ibv_mr *mr = vqp_reg_mr(vqp_pd(conn.context), requests, sizeof(requests), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *reply;
	struct ibv_wc wc;
	uint32_t i;
	int port;

	if (!mr)
		vqpt_die(errno, "vqp_reg_mr");
	vqpt_pattern_fill(conn.memory, o->bytes, MEM_SEED);
	for (i = 0; i < o->depth; i++)
		vqpt_conn_post_recv(conn.qp, i, &requests[i], sizeof(requests[i]), mr->lkey);
	port = vqpt_conn_bind(&conn, args[0]);
	vqpt_ready("pid=%d port=%d key=%u addr=%llu\n", getpid(), port, conn.mr->rkey,
		   (unsigned long long)(uintptr_t)conn.memory);
	for (;;) {
		while (vqp_pop_msgs(conn.qp, 1, &reply, &wc) > 0) {
			mem_serve(&conn, reply, &wc, &requests[wc.wr_id]);
			vqpt_conn_post_recv(conn.qp, wc.wr_id, &requests[wc.wr_id], sizeof(requests[0]), mr->lkey);
		}
		/* Answers to clients that have died: nothing to do, but the queue must not fill up. */
		while (ibv_poll_cq(conn.send_cq, 1, &wc) > 0)
			;
		vqp_cq_wait(conn.recv_cq, -1);
	}
}

static struct mem_message mem_await(struct vqpt_conn *conn, struct ibv_mr *mr, enum mem_op op)
{
	struct mem_message *answer = mr->addr;

	vqpt_conn_wait(conn, conn->recv_cq);
	if (answer->op != op)
		vqpt_die(0, "answer %llu in place of %d", (unsigned long long)answer->op, op);
	return *answer;
}

static struct ibv_mr *mem_post_answer(struct vqpt_conn *conn, struct mem_message *answer)
{
	struct ibv_mr *mr = vqp_reg_mr(vqp_pd(conn->context), answer, sizeof(*answer), IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		vqpt_die(errno, "vqp_reg_mr");
	vqpt_conn_post_recv(conn->qp, 0, answer, sizeof(*answer), mr->lkey);
	return mr;
}

/* Transfer all of conn's memory by one request, and wait for it. */
static void mem_transfer(struct vqpt_conn *conn, const struct vqpt_options *o, enum ibv_wr_opcode opcode,
			 uint64_t remote_addr, uint32_t rkey, uint32_t imm)
{
	struct ibv_sge sges[VQP_MAX_SGE];
	struct ibv_send_wr wr = {
		.wr_id = imm,
		.sg_list = sges,
		.num_sge = vqpt_sge_cut(sges, o->sges, conn->memory, o->bytes, conn->mr->lkey),
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED | (o->inline_data ? IBV_SEND_INLINE : 0),
		.imm_data = imm,
		.wr.rdma = { .remote_addr = remote_addr, .rkey = rkey },
	};
	struct ibv_wc wc;

	vqpt_conn_post_send(conn->qp, &wr);
	wc = vqpt_conn_wait(conn, conn->send_cq);
	if (wc.wr_id != imm || wc.opcode != (opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE))
		vqpt_die(0, "completion of request %llu with opcode %d", (unsigned long long)wc.wr_id, wc.opcode);
}

int vqpt_mem_write(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, 0);
	uint32_t rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX), i;
	uint64_t addr = vqpt_number(args[3], UINT64_MAX);
	struct mem_message message, answer;
	struct ibv_mr *mr = mem_post_answer(&conn, &answer);

	vqpt_conn_to(&conn, args[0], args[1]);
	for (i = 0; i < o->count; i++) {
		vqpt_pattern_fill(conn.memory, o->bytes, MEM_WRITE_SEED + i);
		mem_transfer(&conn, o, o->imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE, addr, rkey, i);
		if (o->imm) {
			message = mem_await(&conn, mr, MEM_IMM);
			if (message.bytes != o->bytes || message.result != i)
				vqpt_wrong("the server was told of %llu bytes, immediate data %llu",
					   (unsigned long long)message.bytes, (unsigned long long)message.result);
			vqpt_conn_post_recv(conn.qp, 0, &answer, sizeof(answer), mr->lkey);
		}
		message = (struct mem_message) {
			.op = MEM_CHECK, .seed = MEM_WRITE_SEED + i, .addr = addr, .bytes = o->bytes,
		};
		vqpt_conn_send_small(conn.qp, &message, sizeof(message));
		message = mem_await(&conn, mr, MEM_CHECK);
		if (message.result != o->bytes)
			vqpt_wrong("write %u: from byte %llu on", i, (unsigned long long)message.result);
		vqpt_conn_post_recv(conn.qp, 0, &answer, sizeof(answer), mr->lkey);
		if (!i && o->background)
			vqpt_ready("pid=%d\n", getpid());
	}
	vqpt_conn_close(&conn);
	printf("%u writes of %llu bytes\n", o->count, (unsigned long long)o->bytes);
	return 0;
}

int vqpt_mem_read(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, IBV_ACCESS_LOCAL_WRITE);
	uint32_t rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX), i;
	uint64_t addr = vqpt_number(args[3], UINT64_MAX), good;

	vqpt_conn_to(&conn, args[0], args[1]);
	for (i = 0; i < o->count; i++) {
		vqpt_pattern_fill(conn.memory, o->bytes, ~MEM_SEED);
		mem_transfer(&conn, o, IBV_WR_RDMA_READ, addr, rkey, i);
		good = vqpt_pattern_check(conn.memory, o->bytes, MEM_SEED);
		if (good != o->bytes)
			vqpt_wrong("read %u: from byte %llu on", i, (unsigned long long)good);
		if (!i && o->background)
			vqpt_ready("pid=%d\n", getpid());
	}
	vqpt_conn_close(&conn);
	printf("%u reads of %llu bytes\n", o->count, (unsigned long long)o->bytes);
	return 0;
}
