// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Posts whose structs have another size than the kernel's. */
#include <errno.h>
#include <string.h>
#include "bad.h"

/* As a later version of the header might have it: more fields, which this kernel does not know. */
struct longer_request {
	struct vqp_send_wr wr;
	uint64_t more_of_wr[2];
	struct {
		struct vqp_sge sge;
		uint64_t more;
	} sges[2];
};

static struct longer_request longer_send(const struct bad *b)
{
	struct vqp_sge sge = { .addr = (uintptr_t)b->conn.memory, .length = 8, .lkey = b->conn.mr->lkey };
	struct longer_request r = {
		.wr = { .opcode = VQP_WR_SEND, .send_flags = VQP_SEND_SIGNALED, .num_sge = 2 },
		.sges[0].sge = sge, .sges[1].sge = sge,
	};

	r.sges[1].sge.addr += 8;
	return r;
}

static int post_longer(const struct bad *b, const struct longer_request *r, struct vqp_post post)
{
	post.qp_num = b->conn.qp->qp_num;
	post.wr_count = 1;
	post.wrs = (uintptr_t)r;
	post.wrs_bytes = sizeof(*r);
	post.wr_bytes = post.wr_bytes ? post.wr_bytes : sizeof(r->wr) + sizeof(r->more_of_wr);
	post.sge_bytes = post.sge_bytes ? post.sge_bytes : sizeof(r->sges[0]);
	return bad_ioctl(b->fd, VQP_IOC_POST_SEND, &post);
}

/* A READ of 16 bytes into two SGEs, before which the memory is full of `fill`. */
static int read_into_two(struct bad *b, char fill)
{
	struct longer_request r = longer_send(b);
	int err;

	r.wr.opcode = VQP_WR_RDMA_READ;
	r.wr.remote_addr = b->raddr;
	r.wr.rkey = b->rkey;
	memset(b->conn.memory, fill, 24);
	err = post_longer(b, &r, (struct vqp_post){ 0 });
	return err ? err : bad_completion(b, b->conn.send_cq);
}

/* Whatever was there before, both SGEs get their bytes, and nothing else does. */
static int stride_long(struct bad *b)
{
	char first[16];
	int err = read_into_two(b, 'a');

	memcpy(first, b->conn.memory, sizeof(first));
	if (!err)
		err = read_into_two(b, 'b');
	if (err)
		return err;
	return memcmp(first, b->conn.memory, sizeof(first)) || b->conn.memory[sizeof(first)] != 'b' ? EPROTO : 0;
}

static int stride_long_with_content(struct bad *b)
{
	struct longer_request r = longer_send(b);

	r.more_of_wr[1] = 1;
	return post_longer(b, &r, (struct vqp_post){ 0 });
}

static int stride_long_with_content_of_sge(struct bad *b)
{
	struct longer_request r = longer_send(b);

	r.sges[1].more = 1;
	return post_longer(b, &r, (struct vqp_post){ 0 });
}

static int stride_short(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .wr_bytes = sizeof(struct vqp_send_wr) - 8 });
}

static int stride_short_of_sge(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .sge_bytes = 8 });
}

static int stride_odd(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .wr_bytes = sizeof(struct vqp_send_wr) + 4 });
}

static int stride_huge(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .wr_bytes = 65528 });
}

static int post_flags(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .flags = 1 });
}

static int post_answered(struct bad *b)
{
	const struct longer_request r = longer_send(b);

	return post_longer(b, &r, (struct vqp_post){ .posted = 1 });
}

const struct bad_case bad_strides[] = {
	{ "stride-long", BAD_LINK, stride_long },
	{ "stride-long-with-content", BAD_LINK, stride_long_with_content },
	{ "stride-long-with-content-of-sge", BAD_LINK, stride_long_with_content_of_sge },
	{ "stride-short", BAD_LINK, stride_short },
	{ "stride-short-of-sge", BAD_LINK, stride_short_of_sge },
	{ "stride-odd", BAD_LINK, stride_odd },
	{ "stride-huge", BAD_LINK, stride_huge },
	{ "post-list-flags", BAD_LINK, post_flags },
	{ "post-answered", BAD_LINK, post_answered },
	{ 0 }
};
