// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include <sys/mman.h>
#include "vqpt.h"

static uint32_t at_least(uint32_t value, uint32_t least)
{
	return value < least ? least : value;
}

static struct ibv_context *open_context(const char *address)
{
	struct ibv_context *context;
	union ibv_gid gid;
	int err = address ? vqp_parse_gid(address, &gid) : 0;

	if (err)
		vqpt_die(-err, "--address %s", address);
	context = vqp_open_gid(address ? &gid : NULL);
	if (!context)
		vqpt_die(errno, "vqp_open_gid");
	return context;
}

struct vqpt_conn vqpt_conn_open(const struct vqpt_options *options, size_t memory_bytes, uint32_t access)
{
	struct vqpt_conn conn = { .bytes = memory_bytes ? memory_bytes : 1, .timeout_ms = options->timeout_ms };
	uint32_t wrs = at_least(options->depth, options->list) + 16;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = wrs,
			.max_recv_wr = wrs,
			.max_send_sge = at_least(options->sges, 1),
			.max_recv_sge = 1,
			.max_inline_data = VQP_MAX_INLINE_BYTES,
		},
		.qp_type = VQP_QPT_VQP,
	};

	conn.context = open_context(options->address);
	conn.send_cq = attr.send_cq = vqp_create_cq(conn.context, (int)wrs * 4, NULL);
	conn.recv_cq = attr.recv_cq = vqp_create_cq(conn.context, (int)wrs * 4, NULL);
	if (!conn.send_cq || !conn.recv_cq)
		vqpt_die(errno, "vqp_create_cq");
	conn.qp = vqp_create_qp(vqp_pd(conn.context), &attr);
	if (!conn.qp)
		vqpt_die(errno, "vqp_create_qp");
	if (options->arena)
		conn.memory = vqp_alloc(conn.context, conn.bytes);
	else
		conn.memory = mmap(NULL, conn.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!conn.memory || conn.memory == MAP_FAILED)
		vqpt_die(errno, "memory for %zu bytes", conn.bytes);
	conn.mr = vqp_reg_mr(vqp_pd(conn.context), conn.memory, conn.bytes, (int)access);
	if (!conn.mr)
		vqpt_die(errno, "vqp_reg_mr of %zu bytes", conn.bytes);
	return conn;
}

void vqpt_conn_to(struct vqpt_conn *conn, const char *address, const char *port)
{
	int err = vqp_connect_addr(conn->qp, address, (uint16_t)vqpt_number(port, UINT16_MAX));

	if (err)
		vqpt_die(err, "connect to %s port %s", address, port);
}

int vqpt_conn_bind(struct vqpt_conn *conn, const char *port)
{
	int bound = vqp_bind(conn->qp, (uint16_t)vqpt_number(port, UINT16_MAX));

	if (bound < 0)
		vqpt_die(bound, "bind to port %s", port);
	return bound;
}

void vqpt_conn_close(struct vqpt_conn *conn)
{
	int err = vqp_close(conn->context);

	if (err)
		vqpt_die(err, "vqp_close");
	munmap(conn->memory, conn->bytes);
}

/* A receive that was flushed only says that a send has failed: tell of that. */
static void die_of(const struct vqpt_conn *conn, struct ibv_wc wc)
{
	struct ibv_wc cause;

	while (wc.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(conn->send_cq, 1, &cause)) {
		if (cause.status != IBV_WC_SUCCESS)
			wc = cause;
	}
	vqpt_die(0, "request %llu completed with status %d", (unsigned long long)wc.wr_id, wc.status);
}

struct ibv_wc vqpt_conn_wait(const struct vqpt_conn *conn, struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		n = vqp_cq_wait(cq, conn->timeout_ms);
		if (n < 0 && n != -EINTR)
			vqpt_die(n, "vqp_cq_wait");
		if (!n)
			vqpt_die(ETIMEDOUT, "no completion in %d ms", conn->timeout_ms);
	}
	if (wc.status != IBV_WC_SUCCESS)
		die_of(conn, wc);
	return wc;
}

/* A VQP that refuses requests has failed one before: tell of that. */
static void die_of_post(struct ibv_qp *qp, int err, const char *call, uint64_t wr_id)
{
	struct ibv_wc wc;

	while (err == EIO && ibv_poll_cq(qp->send_cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			vqpt_die(0, "request %llu completed with status %d", (unsigned long long)wc.wr_id, wc.status);
	}
	vqpt_die(err, "%s of request %llu", call, (unsigned long long)wr_id);
}

void vqpt_conn_post_send(struct ibv_qp *qp, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(qp, list, &bad);

	if (err)
		die_of_post(qp, err, "post_send", bad->wr_id);
}

void vqpt_conn_post_transfer(struct vqpt_conn *conn, enum ibv_wr_opcode opcode, void *memory, uint64_t bytes,
			     uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = (uint32_t)bytes, .lkey = conn->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = remote_addr, .rkey = rkey },
	};

	vqpt_conn_post_send(conn->qp, &wr);
}

void vqpt_conn_transfer(struct vqpt_conn *conn, enum ibv_wr_opcode opcode, void *memory, uint64_t bytes,
			uint64_t remote_addr, uint32_t rkey)
{
	vqpt_conn_post_transfer(conn, opcode, memory, bytes, remote_addr, rkey);
	vqpt_conn_wait(conn, conn->send_cq);
}

void vqpt_conn_post_recv(struct ibv_qp *qp, uint64_t wr_id, void *addr, uint32_t bytes, uint32_t lkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)addr, .length = bytes, .lkey = lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = bytes ? 1 : 0 }, *bad;
	int err = ibv_post_recv(qp, &wr, &bad);

	if (err)
		die_of_post(qp, err, "post_recv", wr_id);
}

void vqpt_conn_send_small(struct ibv_qp *qp, const void *data, uint32_t bytes)
{
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = bytes };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	};

	vqpt_conn_post_send(qp, &wr);
}
