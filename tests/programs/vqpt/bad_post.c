// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Wrong posts: refused before anything is queued. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "bad.h"

/* A request of up to 16 SGEs, as it lies in memory. */
struct send_request {
	struct vqp_send_wr wr;
	struct vqp_sge sge[VQP_MAX_SGE];
};

static struct send_request good_send(const struct bad *b)
{
	return (struct send_request) {
		.wr = { .opcode = VQP_WR_SEND, .send_flags = VQP_SEND_SIGNALED, .num_sge = 1 },
		.sge[0] = { .addr = (uintptr_t)b->conn.memory, .length = 8, .lkey = b->conn.mr->lkey },
	};
}

static uint32_t send_bytes(const struct send_request *r)
{
	return (uint32_t)(sizeof(r->wr) + r->wr.num_sge * sizeof(r->sge[0]));
}

static int post_send(int fd, uint32_t qp_num, const void *wrs, uint32_t count, uint32_t bytes)
{
	struct vqp_post post = {
		.qp_num = qp_num,
		.wr_count = count,
		.wr_bytes = sizeof(struct vqp_send_wr),
		.sge_bytes = sizeof(struct vqp_sge),
		.wrs = (uintptr_t)wrs,
		.wrs_bytes = bytes,
	};

	return bad_ioctl(fd, VQP_IOC_POST_SEND, &post);
}

static int post_one(struct bad *b, const struct send_request *r)
{
	return post_send(b->fd, b->conn.qp->qp_num, r, 1, send_bytes(r));
}

/* ---- The VQP ---- */

static int unconnected(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_one(b, &r);
}

static int bound(struct bad *b)
{
	struct send_request r = good_send(b);

	if (vqp_bind(b->conn.qp, 0) <= 0)
		vqpt_die(0, "bind");
	return post_one(b, &r);
}

static int unknown_vqp(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, 0xfffffff, &r, 1, send_bytes(&r));
}

static int foreign_vqp(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, bad_stranger(b).qp->qp_num, &r, 1, send_bytes(&r));
}

/* ---- The layout ---- */

static int no_requests(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, b->conn.qp->qp_num, &r, 0, send_bytes(&r));
}

static int truncated(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, send_bytes(&r) - 8);
}

static int trailing(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, send_bytes(&r) + 8);
}

static int unmapped(struct bad *b)
{
	return post_send(b->fd, b->conn.qp->qp_num, (void *)4096, 1, 64);
}

static int too_many_bytes(struct bad *b)
{
	struct send_request r = good_send(b);

	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, VQP_MAX_POST_BYTES + 8);
}

/* ---- The request ---- */

static int opcode(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.opcode = 99;
	return post_one(b, &r);
}

static int flags(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.send_flags |= 1U << 7;
	return post_one(b, &r);
}

static int reserved(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.reserved = 1;
	return post_one(b, &r);
}

static int many_sges(struct bad *b)
{
	struct send_request r = good_send(b);
	uint32_t i;

	r.wr.num_sge = 5;		/* the VQP was made for 4 */
	for (i = 1; i < 5; i++)
		r.sge[i] = r.sge[0];
	return post_one(b, &r);
}

static int absurd_sges(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.num_sge = UINT32_MAX;
	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, sizeof(r.wr) + sizeof(r.sge[0]));
}

/* What fetches has no data to send. */
static int inline_of(struct bad *b, uint32_t opcode, uint32_t bytes)
{
	struct send_request r = good_send(b);

	r.wr.opcode = opcode;
	r.wr.send_flags |= VQP_SEND_INLINE;
	r.wr.num_sge = 0;
	r.wr.inline_bytes = bytes;
	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, (uint32_t)sizeof(r.wr) + bytes);
}

static int inline_read(struct bad *b)
{
	return inline_of(b, VQP_WR_RDMA_READ, 16);
}

static int inline_atomic(struct bad *b)
{
	return inline_of(b, VQP_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* An atomic brings 8 bytes, no more and no fewer. */
static int atomic_of(struct bad *b, uint32_t bytes)
{
	struct send_request r = good_send(b);

	r.wr.opcode = VQP_WR_ATOMIC_CMP_AND_SWP;
	r.sge[0].length = bytes;
	return post_one(b, &r);
}

static int atomic_short(struct bad *b)
{
	return atomic_of(b, 4);
}

static int atomic_long(struct bad *b)
{
	return atomic_of(b, 16);
}

static int atomic_into_nothing(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.opcode = VQP_WR_ATOMIC_FETCH_AND_ADD;
	r.wr.num_sge = 0;
	return post_one(b, &r);
}

static int inline_long(struct bad *b)
{
	struct {
		struct vqp_send_wr wr;
		char data[VQP_MAX_INLINE_BYTES + 8];
	} r = { .wr = good_send(b).wr };

	r.wr.send_flags |= VQP_SEND_INLINE;
	r.wr.num_sge = 0;
	r.wr.inline_bytes = sizeof(r.data);
	return post_send(b->fd, b->conn.qp->qp_num, &r, 1, sizeof(r));
}

static int inline_and_sges(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.send_flags |= VQP_SEND_INLINE;
	return post_one(b, &r);
}

/* The library's own check: more than the VQP was made for. */
static int inline_beyond_attr(struct bad *b)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = b->conn.send_cq, .recv_cq = b->conn.recv_cq,
		.cap = { 4, 4, 1, 1, 32 }, .qp_type = VQP_QPT_VQP,
	};
	struct ibv_qp *qp = vqp_create_qp(vqp_pd(b->conn.context), &attr);
	struct ibv_sge sge = { .addr = (uintptr_t)b->conn.memory, .length = 33 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	}, *bad;

	if (!qp)
		return errno;
	return ibv_post_send(qp, &wr, &bad);
}

/* ---- Its memory ---- */

static int lkey(struct bad *b)
{
	struct send_request r = good_send(b);

	r.sge[0].lkey ^= 1;
	return post_one(b, &r);
}

static int foreign_lkey(struct bad *b)
{
	struct vqpt_conn other = bad_stranger(b);
	struct send_request r = good_send(b);

	r.sge[0].addr = (uintptr_t)other.memory;
	r.sge[0].lkey = other.mr->lkey;
	return post_one(b, &r);
}

static int deregistered(struct bad *b)
{
	struct vqp_dereg_mr arg = { .key = b->conn.mr->lkey };
	struct send_request r = good_send(b);

	if (bad_ioctl(b->fd, VQP_IOC_DEREG_MR, &arg))
		vqpt_die(errno, "DEREG_MR");
	return post_one(b, &r);
}

static int range_beyond(struct bad *b)
{
	struct send_request r = good_send(b);

	r.sge[0].addr += BAD_BYTES - 7;
	return post_one(b, &r);
}

static int range_before(struct bad *b)
{
	struct send_request r = good_send(b);

	r.sge[0].addr -= 1;
	return post_one(b, &r);
}

static int range_wraps(struct bad *b)
{
	struct send_request r = good_send(b);

	r.sge[0].addr = UINT64_MAX - 3;
	return post_one(b, &r);
}

static uint32_t readonly_lkey(struct bad *b)
{
	struct vqp_reg_mr reg = { .addr = (uintptr_t)b->conn.memory, .length = BAD_BYTES };

	if (bad_ioctl(b->fd, VQP_IOC_REG_MR, &reg))
		vqpt_die(errno, "REG_MR");
	return reg.key;
}

static int read_into_readonly(struct bad *b)
{
	struct send_request r = good_send(b);

	r.wr.opcode = VQP_WR_RDMA_READ;
	r.wr.remote_addr = b->raddr;
	r.wr.rkey = b->rkey;
	r.sge[0].lkey = readonly_lkey(b);
	return post_one(b, &r);
}

/* 16 times 65 MiB, as one message of more than 1 GiB. */
static int huge_message(struct bad *b)
{
	size_t bytes = 65 << 20;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vqp_create_qp create = {
		.send_cq_fd = vqp_cq_fd(b->conn.send_cq), .recv_cq_fd = vqp_cq_fd(b->conn.recv_cq),
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = VQP_MAX_SGE, .max_recv_sge = VQP_MAX_SGE,
	};
	struct vqp_reg_mr reg = { .addr = (uintptr_t)memory, .length = bytes, .access = VQP_ACCESS_LOCAL_WRITE };
	struct send_request r = good_send(b);
	uint32_t i;

	if (memory == MAP_FAILED || bad_ioctl(b->fd, VQP_IOC_REG_MR, &reg) ||
	    bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create))
		vqpt_die(errno, "preparing 65 MiB");
	r.wr.num_sge = VQP_MAX_SGE;
	for (i = 0; i < VQP_MAX_SGE; i++)
		r.sge[i] = (struct vqp_sge) { .addr = reg.addr, .length = (uint32_t)bytes, .lkey = reg.key };
	return post_send(b->fd, create.qp_num, &r, 1, send_bytes(&r));
}

/* Two good requests, a bad one, a good one. */
static int third_of_four(struct bad *b)
{
	struct ibv_sge good = { (uintptr_t)b->conn.memory, 8, b->conn.mr->lkey }, bad_sge = good;
	struct ibv_send_wr wrs[4], *bad = NULL;
	int i, err;

	bad_sge.lkey ^= 1;
	for (i = 0; i < 4; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.next = i < 3 ? &wrs[i + 1] : NULL,
			.sg_list = i == 2 ? &bad_sge : &good,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { b->raddr, b->rkey },
		};
	}
	err = ibv_post_send(b->conn.qp, wrs, &bad);
	for (i = 0; i < 2; i++)
		vqpt_conn_wait(&b->conn, b->conn.send_cq);
	printf("bad_wr=%td ", bad - wrs);
	return err;
}

/* ---- Queues ---- */

/* To oneself, where nobody receives: the queue fills up. */
static int send_queue_full(struct bad *b)
{
	struct vqpt_conn other = bad_stranger(b);
	struct send_request r = good_send(b);
	union ibv_gid gid;
	int port = vqp_bind(other.qp, 0), posted = 0, err;

	vqp_gid(b->conn.context, &gid);
	err = vqp_connect(b->conn.qp, &gid, (uint16_t)port);
	if (port <= 0 || err)
		vqpt_die(err, "connecting to port %d of oneself", port);
	while (!(err = post_one(b, &r)) && posted <= BAD_WRS)
		posted++;
	printf("posted=%d ", posted);
	return err;
}

static int recv_queue_full(struct bad *b)
{
	struct ibv_recv_wr wrs[BAD_WRS + 1], *bad = NULL;
	int i, err;

	for (i = 0; i <= BAD_WRS; i++)
		wrs[i] = (struct ibv_recv_wr) { .next = i < BAD_WRS ? &wrs[i + 1] : NULL };
	err = ibv_post_recv(b->conn.qp, wrs, &bad);
	printf("bad_wr=%td ", bad - wrs);
	return err;
}

static int post_recv(struct bad *b, const struct vqp_recv_wr *wr, const struct vqp_sge *sge)
{
	struct { struct vqp_recv_wr wr; struct vqp_sge sge; } request = { .wr = *wr, .sge = *sge };
	struct vqp_post post = {
		.qp_num = b->conn.qp->qp_num,
		.wr_count = 1,
		.wr_bytes = sizeof(request.wr),
		.sge_bytes = sizeof(request.sge),
		.wrs = (uintptr_t)&request,
		.wrs_bytes = sizeof(request),
	};

	return bad_ioctl(b->fd, VQP_IOC_POST_RECV, &post);
}

static int recv_reserved(struct bad *b)
{
	struct vqp_sge sge = good_send(b).sge[0];

	return post_recv(b, &(struct vqp_recv_wr) { .num_sge = 1, .reserved = 1 }, &sge);
}

static int recv_lkey(struct bad *b)
{
	struct vqp_sge sge = good_send(b).sge[0];

	sge.lkey ^= 1;
	return post_recv(b, &(struct vqp_recv_wr) { .num_sge = 1 }, &sge);
}

static int recv_into_readonly(struct bad *b)
{
	struct vqp_sge sge = good_send(b).sge[0];

	sge.lkey = readonly_lkey(b);
	return post_recv(b, &(struct vqp_recv_wr) { .num_sge = 1 }, &sge);
}

const struct bad_case bad_posts[] = {
	{ "post-unconnected", BAD_CONTEXT, unconnected },
	{ "post-bound", BAD_CONTEXT, bound },
	{ "post-unknown-vqp", BAD_CONTEXT, unknown_vqp },
	{ "post-foreign-vqp", BAD_CONTEXT, foreign_vqp },
	{ "post-no-requests", BAD_LINK, no_requests },
	{ "post-truncated", BAD_LINK, truncated },
	{ "post-trailing", BAD_LINK, trailing },
	{ "post-unmapped", BAD_LINK, unmapped },
	{ "post-too-many-bytes", BAD_LINK, too_many_bytes },
	{ "post-opcode", BAD_LINK, opcode },
	{ "post-flags", BAD_LINK, flags },
	{ "post-reserved", BAD_LINK, reserved },
	{ "post-many-sges", BAD_LINK, many_sges },
	{ "post-absurd-sges", BAD_LINK, absurd_sges },
	{ "post-inline-read", BAD_LINK, inline_read },
	{ "post-inline-atomic", BAD_LINK, inline_atomic },
	{ "post-atomic-short", BAD_LINK, atomic_short },
	{ "post-atomic-long", BAD_LINK, atomic_long },
	{ "post-atomic-into-nothing", BAD_LINK, atomic_into_nothing },
	{ "post-inline-long", BAD_LINK, inline_long },
	{ "post-inline-and-sges", BAD_LINK, inline_and_sges },
	{ "post-inline-beyond-attr", BAD_CONTEXT, inline_beyond_attr },
	{ "post-lkey", BAD_LINK, lkey },
	{ "post-foreign-lkey", BAD_LINK, foreign_lkey },
	{ "post-deregistered", BAD_LINK, deregistered },
	{ "post-range-beyond", BAD_LINK, range_beyond },
	{ "post-range-before", BAD_LINK, range_before },
	{ "post-range-wraps", BAD_LINK, range_wraps },
	{ "post-read-into-readonly", BAD_LINK, read_into_readonly },
	{ "post-huge-message", BAD_CONTEXT, huge_message },
	{ "post-third-of-four", BAD_LINK, third_of_four },
	{ "post-send-queue-full", BAD_CONTEXT, send_queue_full },
	{ "post-recv-queue-full", BAD_CONTEXT, recv_queue_full },
	{ "post-recv-reserved", BAD_CONTEXT, recv_reserved },
	{ "post-recv-lkey", BAD_CONTEXT, recv_lkey },
	{ "post-recv-into-readonly", BAD_CONTEXT, recv_into_readonly },
	{ 0 }
};
