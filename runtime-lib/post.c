// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_post_send() and ibv_post_recv(): a list of work requests becomes one stream for the kernel and
 * one system call, or several if it has more than VQP_MAX_WR requests or VQP_MAX_POST_BYTES.
 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define VQP_POST_STACK_BYTES	4096	/* has room for 51 requests of one SGE */

_Static_assert(sizeof(struct vqp_send_wr) + VQP_MAX_INLINE_BYTES <= VQP_POST_STACK_BYTES &&
	       sizeof(struct vqp_send_wr) + VQP_MAX_SGE * sizeof(struct vqp_sge) <= VQP_POST_STACK_BYTES,
	       "any request fits into any buffer");
_Static_assert((int)VQP_WR_RDMA_WRITE == (int)IBV_WR_RDMA_WRITE &&
	       (int)VQP_WR_RDMA_WRITE_WITH_IMM == (int)IBV_WR_RDMA_WRITE_WITH_IMM &&
	       (int)VQP_WR_SEND == (int)IBV_WR_SEND &&
	       (int)VQP_WR_SEND_WITH_IMM == (int)IBV_WR_SEND_WITH_IMM &&
	       (int)VQP_WR_RDMA_READ == (int)IBV_WR_RDMA_READ &&
	       (int)VQP_WR_ATOMIC_CMP_AND_SWP == (int)IBV_WR_ATOMIC_CMP_AND_SWP &&
	       (int)VQP_WR_ATOMIC_FETCH_AND_ADD == (int)IBV_WR_ATOMIC_FETCH_AND_ADD, "opcodes are the verbs' own");
_Static_assert((int)VQP_SEND_FENCE == (int)IBV_SEND_FENCE &&
	       (int)VQP_SEND_SIGNALED == (int)IBV_SEND_SIGNALED &&
	       (int)VQP_SEND_SOLICITED == (int)IBV_SEND_SOLICITED &&
	       (int)VQP_SEND_INLINE == (int)IBV_SEND_INLINE, "flags are the verbs' own");

/* A stream that is being built. */
struct post_stream {
	uint8_t *buf;
	size_t capacity;
	size_t bytes;
	uint32_t count;
	alignas(8) uint8_t small[VQP_POST_STACK_BYTES];
};

/* Makes room for `bytes` bytes, or for the most that one system call takes. */
static int stream_init(struct post_stream *s, size_t bytes)
{
	s->bytes = 0;
	s->count = 0;
	s->buf = s->small;
	s->capacity = sizeof(s->small);
	if (bytes <= s->capacity)
		return 0;
	s->capacity = bytes < VQP_MAX_POST_BYTES ? bytes : VQP_MAX_POST_BYTES;
	s->buf = malloc(s->capacity);
	return s->buf ? 0 : ENOMEM;
}

static void stream_free(struct post_stream *s)
{
	if (s->buf != s->small)
		free(s->buf);
}

/* Passes the stream to the kernel. 0 or an errno value; *taken requests have been posted. */
static int stream_flush(struct post_stream *s, const struct ibv_qp *qp, unsigned long request, uint32_t *taken)
{
	struct vqp_post post = {
		.qp_num = qp->qp_num,
		.wr_count = s->count,
		.wr_bytes = request == VQP_IOC_POST_SEND ? sizeof(struct vqp_send_wr) : sizeof(struct vqp_recv_wr),
		.sge_bytes = sizeof(struct vqp_sge),
		.wrs = (uintptr_t)s->buf,
		.wrs_bytes = (uint32_t)s->bytes,
	};
	int err;

	*taken = 0;
	if (!s->count)
		return 0;
	err = -vqp_ioctl(qp->context, request, &post);
	*taken = err ? post.posted : s->count;
	s->bytes = 0;
	s->count = 0;
	return err;
}

static int stream_has_room(const struct post_stream *s, size_t bytes)
{
	return s->bytes + bytes <= s->capacity && s->count < VQP_MAX_WR;
}

static void stream_put_sges(struct post_stream *s, const struct ibv_sge *list, int count)
{
	struct vqp_sge *sge = (struct vqp_sge *)(s->buf + s->bytes);
	int i;

	for (i = 0; i < count; i++)
		sge[i] = (struct vqp_sge) { .addr = list[i].addr, .length = list[i].length, .lkey = list[i].lkey };
	s->bytes += (size_t)count * sizeof(*sge);
}

/* Copies the payload, pads it to a multiple of 8 bytes, and returns its length. */
static uint32_t stream_put_inline(struct post_stream *s, const struct ibv_sge *list, int count)
{
	uint8_t *start = s->buf + s->bytes, *at = start;
	size_t padding;
	int i;

	for (i = 0; i < count; i++) {
		if (!list[i].length)
			continue;
		memcpy(at, (const void *)(uintptr_t)list[i].addr, list[i].length);
		at += list[i].length;
	}
	padding = -(size_t)(at - start) & 7;
	memset(at, 0, padding);
	s->bytes += (size_t)(at - start) + padding;
	return (uint32_t)(at - start);
}

/* Returns the length of a request in the stream, or 0 if the request is bad. */
static size_t send_bytes(const struct vqp_qp *qp, const struct ibv_send_wr *wr)
{
	uint64_t payload = 0;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > VQP_MAX_SGE)
		return 0;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return sizeof(struct vqp_send_wr) + (size_t)wr->num_sge * sizeof(struct vqp_sge);
	for (i = 0; i < wr->num_sge; i++)
		payload += wr->sg_list[i].length;
	return payload > qp->max_inline ? 0 : sizeof(struct vqp_send_wr) + ((payload + 7) & ~7ULL);
}

static void send_put(struct post_stream *s, const struct ibv_send_wr *wr)
{
	struct vqp_send_wr *out = (struct vqp_send_wr *)(s->buf + s->bytes);

	*out = (struct vqp_send_wr) {
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.send_flags = wr->send_flags,
	};
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		out->remote_addr = wr->wr.atomic.remote_addr;
		out->rkey = wr->wr.atomic.rkey;
		out->compare_add = wr->wr.atomic.compare_add;
		out->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		out->imm_data = wr->imm_data;
		/* fall through */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		out->remote_addr = wr->wr.rdma.remote_addr;
		out->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_SEND_WITH_IMM:
		out->imm_data = wr->imm_data;
		break;
	default:
		break;
	}
	s->bytes += sizeof(*out);
	if (wr->send_flags & IBV_SEND_INLINE) {
		out->inline_bytes = stream_put_inline(s, wr->sg_list, wr->num_sge);
	} else {
		out->num_sge = (uint32_t)wr->num_sge;
		stream_put_sges(s, wr->sg_list, wr->num_sge);
	}
	s->count++;
}

/* Posts the part of the list before `end`. On failure *wr is the request that failed. */
static int send_list(struct vqp_qp *qp, struct post_stream *s, struct ibv_send_wr **wr, const struct ibv_send_wr *end)
{
	struct ibv_send_wr *next = *wr;
	uint32_t taken;
	int err;

	while (*wr != end) {
		while (next != end && stream_has_room(s, send_bytes(qp, next))) {
			send_put(s, next);
			next = next->next;
		}
		err = stream_flush(s, &qp->verbs, VQP_IOC_POST_SEND, &taken);
		while (taken-- && *wr != next)
			*wr = (*wr)->next;
		if (err)
			return err;
	}
	return 0;
}

int vqp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct vqp_qp *qp = vqp_container(ibqp, struct vqp_qp, verbs);
	struct ibv_send_wr *end;
	struct post_stream s;
	size_t bytes, all = 0;
	int err;

	for (end = wr; end && (bytes = send_bytes(qp, end)); end = end->next)
		all += bytes;
	err = stream_init(&s, all);
	if (!err) {
		err = send_list(qp, &s, &wr, end);
		stream_free(&s);
	}
	if (!err && end)
		err = EINVAL;
	if (err)
		*bad_wr = wr;
	return err;
}

static size_t recv_bytes(const struct ibv_recv_wr *wr)
{
	if (wr->num_sge < 0 || wr->num_sge > VQP_MAX_SGE)
		return 0;
	return sizeof(struct vqp_recv_wr) + (size_t)wr->num_sge * sizeof(struct vqp_sge);
}

static void recv_put(struct post_stream *s, const struct ibv_recv_wr *wr)
{
	struct vqp_recv_wr *out = (struct vqp_recv_wr *)(s->buf + s->bytes);

	*out = (struct vqp_recv_wr) { .wr_id = wr->wr_id, .num_sge = (uint32_t)wr->num_sge };
	s->bytes += sizeof(*out);
	stream_put_sges(s, wr->sg_list, wr->num_sge);
	s->count++;
}

/* Posts a part of a list as send_list() does. */
static int recv_list(struct ibv_qp *qp, struct post_stream *s, struct ibv_recv_wr **wr, const struct ibv_recv_wr *end)
{
	struct ibv_recv_wr *next = *wr;
	uint32_t taken;
	int err;

	while (*wr != end) {
		while (next != end && stream_has_room(s, recv_bytes(next))) {
			recv_put(s, next);
			next = next->next;
		}
		err = stream_flush(s, qp, VQP_IOC_POST_RECV, &taken);
		while (taken-- && *wr != next)
			*wr = (*wr)->next;
		if (err)
			return err;
	}
	return 0;
}

int vqp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *end;
	struct post_stream s;
	size_t bytes, all = 0;
	int err;

	for (end = wr; end && (bytes = recv_bytes(end)); end = end->next)
		all += bytes;
	err = stream_init(&s, all);
	if (!err) {
		err = recv_list(qp, &s, &wr, end);
		stream_free(&s);
	}
	if (!err && end)
		err = EINVAL;
	if (err)
		*bad_wr = wr;
	return err;
}
