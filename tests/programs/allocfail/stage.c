// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "main.h"
#include "stage.h"

#define AWAIT_MS	30000

int stage_ioctl(const struct stage *s, unsigned long request, void *arg)
{
	return ioctl(s->fd, request, arg) ? errno : 0;
}

int stage_create_qp(const struct stage *s, uint32_t *qp_num)
{
	struct vqp_create_qp arg = {
		.send_cq_fd = s->cqs[0], .recv_cq_fd = s->cqs[1], .max_send_wr = 64, .max_recv_wr = STAGE_RECVS,
		.max_send_sge = 2, .max_recv_sge = 2,
	};
	int err = stage_ioctl(s, VQP_IOC_CREATE_QP, &arg);

	*qp_num = arg.qp_num;
	return err;
}

int stage_connect(const struct stage *s, const uint8_t *gid, uint32_t port)
{
	struct vqp_connect arg = { .qp_num = s->qp, .port = port };

	memcpy(arg.gid, gid, VQP_GID_BYTES);
	return stage_ioctl(s, VQP_IOC_CONNECT, &arg);
}

int stage_reg_mr(const struct stage *s, void *addr, size_t bytes, uint32_t *key)
{
	struct vqp_reg_mr arg = {
		.addr = (uintptr_t)addr, .length = bytes,
		.access = VQP_ACCESS_LOCAL_WRITE | VQP_ACCESS_REMOTE_WRITE | VQP_ACCESS_REMOTE_READ |
			  VQP_ACCESS_REMOTE_ATOMIC,
	};
	int err = stage_ioctl(s, VQP_IOC_REG_MR, &arg);

	*key = arg.key;
	return err;
}

int stage_query(const struct stage *s, uint32_t qp_num, struct vqp_query_qp *query)
{
	*query = (struct vqp_query_qp){ .qp_num = qp_num };
	return stage_ioctl(s, VQP_IOC_QUERY_QP, query);
}

static void must(int err, const char *what)
{
	if (err)
		die(err, "%s", what);
}

void stage_init(struct stage *s)
{
	*s = (struct stage){ .fd = -1, .cqs = { -1, -1 }, .new_fd = -1, .listener = -1, .client = -1, .server = -1 };
}

int stage_attach(struct stage *s)
{
	struct vqp_attach arg = { 0 };
	int err = stage_ioctl(s, VQP_IOC_ATTACH, &arg);

	memcpy(s->gid, arg.gid, VQP_GID_BYTES);
	return err;
}

void stage_context(struct stage *s)
{
	s->fd = open(VQP_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		die(errno, VQP_DEVICE_PATH);
	must(stage_attach(s), "ATTACH");
}

void stage_queues(struct stage *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct vqp_create_cq arg = { .cqe = STAGE_CQE };

		must(stage_ioctl(s, VQP_IOC_CREATE_CQ, &arg), "CREATE_CQ");
		s->cqs[i] = arg.fd;
		if (i)
			continue;
		s->ring = mmap(NULL, arg.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
			       (off_t)arg.ring_offset);
		if (s->ring == MAP_FAILED)
			die(errno, "mmap of a CQ");
	}
	must(stage_create_qp(s, &s->qp), "CREATE_QP");
}

void stage_memory(struct stage *s)
{
	s->memory = mmap(NULL, STAGE_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (s->memory == MAP_FAILED)
		die(errno, "memory");
	must(stage_reg_mr(s, s->memory, STAGE_MEMORY, &s->key), "REG_MR");
}

void stage_bound(struct stage *s)
{
	struct {
		struct vqp_recv_wr wr;
		struct vqp_sge sge;
	} recvs[STAGE_RECVS];
	struct vqp_bind bind = { .port = STAGE_PORT };
	struct vqp_post post = {
		.wr_count = STAGE_RECVS, .wrs = (uintptr_t)recvs, .wrs_bytes = sizeof(recvs),
		.wr_bytes = sizeof(recvs[0].wr), .sge_bytes = sizeof(recvs[0].sge),
	};
	int i;

	must(stage_create_qp(s, &s->bound), "CREATE_QP");
	bind.qp_num = post.qp_num = s->bound;
	must(stage_ioctl(s, VQP_IOC_BIND, &bind), "BIND");
	memset(recvs, 0, sizeof(recvs));
	for (i = 0; i < STAGE_RECVS; i++) {
		recvs[i].wr.num_sge = 1;
		recvs[i].sge = (struct vqp_sge){ .addr = (uintptr_t)s->memory, .length = STAGE_MEMORY, .lkey = s->key };
	}
	must(stage_ioctl(s, VQP_IOC_POST_RECV, &post), "POST_RECV");
}

void stage_link(struct stage *s, bool far_away)
{
	must(far_away ? stage_connect(s, far.gid, far.port) : stage_connect(s, s->gid, STAGE_PORT), "CONNECT");
}

void stage_await(struct stage *s, uint32_t count)
{
	struct vqp_cqe *cqes = (void *)((char *)s->ring + VQP_CQ_CQE_OFFSET), *cqe;
	struct pollfd pfd = { .fd = s->cqs[0], .events = POLLIN };
	int n;

	for (; count; count--) {
		n = poll(&pfd, 1, AWAIT_MS);
		if (n != 1)
			die(n ? errno : ETIMEDOUT, "a send does not complete");
		cqe = &cqes[s->ring->head % s->ring->entries];
		if (cqe->status)
			die(0, "a send completes with status %u", cqe->status);
		__atomic_store_n(&s->ring->head, s->ring->head + 1, __ATOMIC_RELEASE);
	}
}

/* A WRITE, which arrives somewhere else than it came from, and a READ that brings it back. */
void stage_try(struct stage *s, bool far_away)
{
	const uint32_t bytes = 64;
	struct {
		struct vqp_send_wr wr;
		struct vqp_sge sge;
	} req = {
		.wr = {
			.opcode = VQP_WR_RDMA_WRITE, .send_flags = VQP_SEND_SIGNALED, .num_sge = 1,
			.remote_addr = far_away ? far.addr : (uintptr_t)s->memory + 4096,
			.rkey = far_away ? far.key : s->key,
		},
		.sge = { .addr = (uintptr_t)s->memory, .length = bytes, .lkey = s->key },
	};
	struct vqp_post post = {
		.qp_num = s->qp, .wr_count = 1, .wrs = (uintptr_t)&req, .wrs_bytes = sizeof(req),
		.wr_bytes = sizeof(req.wr), .sge_bytes = sizeof(req.sge),
	};

	memset(s->memory, 0x5a, bytes);
	must(stage_ioctl(s, VQP_IOC_POST_SEND, &post), "POST_SEND");
	stage_await(s, 1);
	post.posted = 0;
	req.wr.opcode = VQP_WR_RDMA_READ;
	req.sge.addr += 8192;
	memset(s->memory + 8192, 0, bytes);
	must(stage_ioctl(s, VQP_IOC_POST_SEND, &post), "POST_SEND");
	stage_await(s, 1);
	if (memcmp(s->memory, s->memory + 8192, bytes))
		die(0, "WRONG: other bytes come back than were sent");
}

void stage_end(struct stage *s)
{
	const int fds[] = { s->new_fd, s->cqs[0], s->cqs[1], s->listener, s->client, s->server, s->fd };
	size_t i;

	if (s->new_map)
		munmap(s->new_map, s->new_bytes);
	if (s->memory)
		munmap(s->memory, STAGE_MEMORY);
	if (s->ring)
		munmap(s->ring, (VQP_CQ_CQE_OFFSET + STAGE_CQE * sizeof(struct vqp_cqe) + 4095) & ~4095UL);
	for (i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
