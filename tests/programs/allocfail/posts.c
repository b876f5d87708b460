// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Posts of each opcode, of one request and of lists that need memory of their own. */
#include <errno.h>
#include <string.h>
#include "main.h"
#include "run.h"

#define LIST		16	/* requests in a list */
#define SEND_BYTES	32		/* mem-servers take no more */
#define POST_BYTES	512

struct post_send {
	struct vqp_send_wr wr;
	union {
		struct vqp_sge sge;
		char data[POST_BYTES];
	};
};

static void link_prepare(struct stage *s, const struct run_case *c)
{
	stage_context(s);
	stage_queues(s);
	stage_memory(s);
	stage_bound(s);
	stage_link(s, c->far);
	/* The first packets are through: what the node sends now depends on the post alone. */
	stage_try(s, c->far);
}

static size_t fill_send(struct post_send *send, const struct stage *s, const struct run_case *c)
{
	*send = (struct post_send){
		.wr = {
			.opcode = c->opcode, .send_flags = VQP_SEND_SIGNALED | c->flags,
			.remote_addr = c->far ? far.addr : (uintptr_t)s->memory + STAGE_MEMORY / 2,
			.rkey = c->far ? far.key : s->key,
		},
	};
	if (c->flags & VQP_SEND_INLINE) {
		send->wr.inline_bytes = c->bytes;
		return sizeof(send->wr) + c->bytes;
	}
	send->wr.num_sge = 1;
	send->sge = (struct vqp_sge){ .addr = (uintptr_t)s->memory, .length = c->bytes, .lkey = s->key };
	return sizeof(send->wr) + sizeof(send->sge);
}

/* How many were posted is left in s->new_number. */
static int send_call(struct stage *s, const struct run_case *c)
{
	char list[LIST * sizeof(struct post_send)];
	struct vqp_post post = {
		.qp_num = s->qp, .wr_count = c->count, .wrs = (uintptr_t)list,
		.wr_bytes = sizeof(struct vqp_send_wr), .sge_bytes = sizeof(struct vqp_sge),
	};
	struct post_send send;
	size_t bytes;
	uint32_t i;
	int err;

	for (i = 0; i < c->count; i++) {
		bytes = fill_send(&send, s, c);
		memcpy(list + post.wrs_bytes, &send, bytes);
		post.wrs_bytes += bytes;
	}
	err = stage_ioctl(s, VQP_IOC_POST_SEND, &post);
	s->new_number = post.posted;
	return err;
}

static void send_verify(struct stage *s, const struct run_case *c)
{
	if (s->new_number != c->count)
		die(0, "%u requests of %u posted", s->new_number, c->count);
	stage_await(s, c->count);
}

/* What was before the request that found no memory is carried out. */
static void send_partly(struct stage *s, const struct run_case *c)
{
	if (s->new_number >= c->count)
		die(0, "a post fails with all its requests posted");
	stage_await(s, s->new_number);
}

static void recv_prepare(struct stage *s, const struct run_case *c)
{
	(void)c;
	stage_context(s);
	stage_queues(s);
	stage_memory(s);
}

static uint32_t recvs_pending(const struct stage *s)
{
	struct vqp_query_qp query;
	int err = stage_query(s, s->qp, &query);

	if (err)
		die(err, "QUERY_QP");
	return query.recvs_pending;
}

static int recv_call(struct stage *s, const struct run_case *c)
{
	struct {
		struct vqp_recv_wr wr;
		struct vqp_sge sge;
	} list[LIST] = { 0 };
	struct vqp_post post = {
		.qp_num = s->qp, .wr_count = c->count, .wrs = (uintptr_t)list, .wrs_bytes = c->count * sizeof(*list),
		.wr_bytes = sizeof(struct vqp_recv_wr), .sge_bytes = sizeof(struct vqp_sge),
	};
	uint32_t i;
	int err;

	for (i = 0; i < c->count; i++) {
		list[i].wr.num_sge = 1;
		list[i].sge = (struct vqp_sge){ .addr = (uintptr_t)s->memory, .length = POST_BYTES, .lkey = s->key };
	}
	err = stage_ioctl(s, VQP_IOC_POST_RECV, &post);
	s->new_number += post.posted;
	return err;
}

static void recv_partly(struct stage *s, const struct run_case *c)
{
	if (s->new_number >= c->count || recvs_pending(s) != s->new_number)
		die(0, "%u receives of %u posted, %u there", s->new_number, c->count, recvs_pending(s));
}

static void recv_verify(struct stage *s, const struct run_case *c)
{
	if (s->new_number < c->count || recvs_pending(s) != s->new_number)
		die(0, "%u receives of %u posted, %u there", s->new_number, c->count, recvs_pending(s));
}

#define SEND_TO(name_, far_, opcode_, count_, bytes_, flags_)					\
	{ .name = (name_), .prepare = link_prepare, .call = send_call, .verify = send_verify,	\
	  .partly = send_partly, .far = (far_), .opcode = (opcode_), .count = (count_),		\
	  .bytes = (bytes_), .flags = (flags_) }
#define SEND(name, ...) SEND_TO(name "-near", false, __VA_ARGS__), SEND_TO(name "-far", true, __VA_ARGS__)
#define RECV(name_, count_)									\
	{ .name = (name_), .prepare = recv_prepare, .call = recv_call, .verify = recv_verify,	\
	  .partly = recv_partly, .count = (count_) }

const struct run_case posts[] = {
	SEND("send", VQP_WR_SEND, 1, SEND_BYTES, 0),
	SEND("send-imm", VQP_WR_SEND_WITH_IMM, 1, SEND_BYTES, 0),
	SEND("send-inline", VQP_WR_SEND, 1, SEND_BYTES, VQP_SEND_INLINE),
	SEND("send-list", VQP_WR_SEND, LIST, SEND_BYTES, VQP_SEND_INLINE),
	SEND("write", VQP_WR_RDMA_WRITE, 1, POST_BYTES, 0),
	SEND("write-imm", VQP_WR_RDMA_WRITE_WITH_IMM, 1, POST_BYTES, 0),
	SEND("write-inline", VQP_WR_RDMA_WRITE, 1, POST_BYTES, VQP_SEND_INLINE),
	SEND("write-list", VQP_WR_RDMA_WRITE, LIST, POST_BYTES, 0),
	SEND("read", VQP_WR_RDMA_READ, 1, POST_BYTES, 0),
	SEND("atomic", VQP_WR_ATOMIC_FETCH_AND_ADD, 1, sizeof(uint64_t), 0),
	RECV("recv", 1),
	RECV("recv-list", LIST),
	{ 0 }
};
