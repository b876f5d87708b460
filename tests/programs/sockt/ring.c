// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* io_uring, by its system calls alone. */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockt.h"

/* The two queues, as the kernel lays them out; one request at a time is under way. */
struct ring {
	int fd;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static struct ring ring_new(void)
{
	struct io_uring_params p = { 0 };
	struct ring r = { .fd = (int)syscall(SYS_io_uring_setup, 8, &p) };
	uint8_t *base;

	if (r.fd < 0)
		check_skip("io_uring: %s", strerrorname_np(errno));
	WANT(p.features & IORING_FEAT_SINGLE_MMAP);
	base = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe) + 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQ_RING);
	r.sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQES);
	WANT(base != MAP_FAILED && (void *)r.sqes != MAP_FAILED);
	r.sq_tail = (uint32_t *)(base + p.sq_off.tail);
	r.sq_mask = (uint32_t *)(base + p.sq_off.ring_mask);
	r.sq_array = (uint32_t *)(base + p.sq_off.array);
	r.cq_head = (uint32_t *)(base + p.cq_off.head);
	r.cq_tail = (uint32_t *)(base + p.cq_off.tail);
	r.cq_mask = (uint32_t *)(base + p.cq_off.ring_mask);
	r.cqes = (struct io_uring_cqe *)(base + p.cq_off.cqes);
	return r;
}

static void ring_start(struct ring *r, struct io_uring_sqe sqe)
{
	uint32_t tail = *r->sq_tail, slot = tail & *r->sq_mask;

	r->sqes[slot] = sqe;
	r->sq_array[slot] = slot;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	WANT_EQ(syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0), 1);
}

static int ring_end(struct ring *r)
{
	uint32_t head = *r->cq_head;
	int result;

	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == head)
		NEED(syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	result = r->cqes[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

static bool ring_idle(const struct ring *r)
{
	return __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == *r->cq_head;
}

static struct io_uring_sqe request(int opcode, int fd, const void *buffer, size_t bytes)
{
	return (struct io_uring_sqe){ .opcode = (uint8_t)opcode, .fd = fd, .addr = (uintptr_t)buffer,
		.len = (uint32_t)bytes };
}

static void connected(struct sockt *t)
{
	struct sockaddr_storage to = sock_far(t, (int)far_do(t, "listen 0 1"));
	struct ring r = ring_new();
	struct io_uring_sqe sqe;
	char buffer[1000];
	int fd = sock_new(t, 0);

	sqe = request(IORING_OP_CONNECT, fd, &to, 0);
	sqe.off = sock_len(&to);
	ring_start(&r, sqe);
	WANT_EQ(ring_end(&r), 0);
	far_do(t, "accept 0 1");
	io_fill(buffer, NEAR_BASE, sizeof(buffer));
	ring_start(&r, request(IORING_OP_SEND, fd, buffer, sizeof(buffer)));
	WANT_EQ(ring_end(&r), sizeof(buffer));
	far_do(t, "recv 1 %llu %zu 0", NEAR_BASE, sizeof(buffer));
	/* it waits without a thread of ours */
	ring_start(&r, request(IORING_OP_RECV, fd, buffer, sizeof(buffer)));
	WANT(ring_idle(&r));
	far_do(t, "send 1 %llu 500 0 0", FAR_BASE);
	WANT_EQ(ring_end(&r), 500);
	DONE(io_check(buffer, FAR_BASE, 500));
	ring_start(&r, request(IORING_OP_RECV, fd, buffer, sizeof(buffer)));
	far_do(t, "close 1");
	WANT_EQ(ring_end(&r), 0);
}

static void accepted(struct sockt *t)
{
	int listener = sock_listen(t, 1), fd;
	struct ring r = ring_new();
	char buffer[100];

	ring_start(&r, request(IORING_OP_ACCEPT, listener, NULL, 0));
	WANT(ring_idle(&r));
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = NEED(ring_end(&r));
	ring_start(&r, request(IORING_OP_READ, fd, buffer, sizeof(buffer)));
	far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
	WANT_EQ(ring_end(&r), 100);
	DONE(io_check(buffer, FAR_BASE, 100));
	io_fill(buffer, NEAR_BASE, sizeof(buffer));
	ring_start(&r, request(IORING_OP_WRITE, fd, buffer, sizeof(buffer)));
	WANT_EQ(ring_end(&r), sizeof(buffer));
	far_do(t, "recv 0 %llu %zu 0", NEAR_BASE, sizeof(buffer));
}

static void refused(struct sockt *t)
{
	struct sockaddr_storage to = sock_far(t, (int)far_do(t, "listen 0 1"));
	struct ring r = ring_new();
	struct io_uring_sqe sqe;

	far_do(t, "close 0");
	sqe = request(IORING_OP_CONNECT, sock_new(t, 0), &to, 0);
	sqe.off = sock_len(&to);
	ring_start(&r, sqe);
	WANT_EQ(ring_end(&r), -ECONNREFUSED);
}

static void polled(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	struct ring r = ring_new();
	struct io_uring_sqe sqe = request(IORING_OP_POLL_ADD, fd, NULL, 0);

	sqe.poll32_events = POLLIN;
	ring_start(&r, sqe);
	WANT(ring_idle(&r));
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	WANT_EQ(ring_end(&r) & POLLIN, POLLIN);
}

static void made(struct sockt *t)
{
	struct io_uring_sqe sqe = { .opcode = IORING_OP_SOCKET, .fd = t->family, .off = SOCK_STREAM,
		.len = (uint32_t)t->protocol };
	struct ring r = ring_new();
	int fd;

	ring_start(&r, sqe);
	fd = ring_end(&r);
	WANT(fd >= 0);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_PROTOCOL), t->shown);
	NEED(sock_connect(fd, sock_far(t, (int)far_do(t, "listen 0 1"))));
}

/* A request that waits when the ring goes is given up, and nothing is left of it. */
static void given_up(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), status;
	static char buffer[10];
	pid_t pid = check_fork();

	if (!pid) {
		struct ring r = ring_new();

		ring_start(&r, request(IORING_OP_RECV, fd, buffer, sizeof(buffer)));
		WANT(ring_idle(&r));
		_exit(0);
	}
	NEED(waitpid(pid, &status, 0));
	if (WEXITSTATUS(status) == 77)
		check_skip("io_uring");
	close(fd);
	/* the end comes when the ring is gone for good */
	WANT(far_do(t, "poll 0 %d", POLLIN) & POLLIN);
}

const struct sockt_case ring_cases[] = {
	{ "ring-connect", "connect, send, receive, the end", connected },
	{ "ring-accept", "accept, read, write", accepted },
	{ "ring-refused", "ECONNREFUSED", refused },
	{ "ring-poll", "POLL_ADD", polled },
	{ "ring-socket", "SOCKET", made },
	{ "ring-given-up", "a receive that waits when its process ends", given_up },
	{ 0 }
};
