// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What only the target can refuse, and what follows from it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bad.h"

static int post(struct bad *b, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey,
		uint32_t bytes)
{
	struct ibv_sge sge = { .addr = (uintptr_t)b->conn.memory, .length = bytes, .lkey = b->conn.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 0;
		wr.wr.atomic.swap = 0;
	}
	return ibv_post_send(qp, &wr, &bad);
}

static int outcome(struct bad *b, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey, uint32_t bytes)
{
	int err = post(b, b->conn.qp, opcode, addr, rkey, bytes);

	return err ? err : bad_completion(b, b->conn.send_cq);
}

static int write_plain(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_WRITE, b->raddr, b->rkey, 8);
}

static int read_plain(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_READ, b->raddr, b->rkey, 8);
}

static int send_plain(struct bad *b)
{
	return outcome(b, IBV_WR_SEND, 0, 0, 8);
}

/* The server's receives are of some 40 bytes. */
static int send_long(struct bad *b)
{
	return outcome(b, IBV_WR_SEND, 0, 0, BAD_BYTES);
}

static int write_rkey(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_WRITE, b->raddr, b->rkey ^ 1, 8);
}

static int read_rkey(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_READ, b->raddr, b->rkey ^ 1, 8);
}

static int write_beyond(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_WRITE, b->raddr + BAD_BYTES - 7, b->rkey, 8);
}

static int read_beyond(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_READ, b->raddr + BAD_BYTES - 7, b->rkey, 8);
}

static int write_before(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_WRITE, b->raddr - 1, b->rkey, 8);
}

static int read_wraps(struct bad *b)
{
	return outcome(b, IBV_WR_RDMA_READ, UINT64_MAX - 3, b->rkey, 8);
}

/* A word that is none. */
static int atomic_unaligned(struct bad *b)
{
	return outcome(b, IBV_WR_ATOMIC_FETCH_AND_ADD, b->raddr + 4, b->rkey, 8);
}

static int atomic_plain(struct bad *b)
{
	return outcome(b, IBV_WR_ATOMIC_FETCH_AND_ADD, b->raddr, b->rkey, 8);
}

static int atomic_rkey(struct bad *b)
{
	return outcome(b, IBV_WR_ATOMIC_CMP_AND_SWP, b->raddr, b->rkey ^ 1, 8);
}

static int atomic_beyond(struct bad *b)
{
	return outcome(b, IBV_WR_ATOMIC_CMP_AND_SWP, b->raddr + BAD_BYTES, b->rkey, 8);
}

static void fail_once(struct bad *b)
{
	int result = write_rkey(b);

	if (result != BAD_WC(IBV_WC_REM_ACCESS_ERR))
		vqpt_die(0, "a bad rkey gave %d", result);
}

static int then_post(struct bad *b)
{
	fail_once(b);
	return post(b, b->conn.qp, IBV_WR_RDMA_WRITE, b->raddr, b->rkey, 8);
}

static int then_state(struct bad *b)
{
	struct vqp_query_qp query = { .qp_num = b->conn.qp->qp_num };

	fail_once(b);
	if (bad_ioctl(b->fd, VQP_IOC_QUERY_QP, &query))
		return errno;
	printf("state=%u ", query.state);
	return 0;
}

static int then_receives(struct bad *b)
{
	int first, second;

	vqpt_conn_post_recv(b->conn.qp, 1, NULL, 0, 0);
	vqpt_conn_post_recv(b->conn.qp, 2, NULL, 0, 0);
	fail_once(b);
	first = bad_completion(b, b->conn.recv_cq);
	second = bad_completion(b, b->conn.recv_cq);
	return first == second ? first : EPROTO;
}

/* Requests behind a bad one in the same list. */
static int then_list(struct bad *b)
{
	struct ibv_sge sge = { (uintptr_t)b->conn.memory, 8, b->conn.mr->lkey };
	struct ibv_send_wr wrs[3], *bad;
	int i, err, second;

	for (i = 0; i < 3; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.next = i < 2 ? &wrs[i + 1] : NULL, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE, .wr.rdma = { b->raddr, i ? b->rkey : b->rkey ^ 1 },
		};
	}
	err = ibv_post_send(b->conn.qp, wrs, &bad);
	if (err)
		return err;
	err = bad_completion(b, b->conn.send_cq);
	if (err != BAD_WC(IBV_WC_REM_ACCESS_ERR))
		return err;
	second = bad_completion(b, b->conn.send_cq);
	err = bad_completion(b, b->conn.send_cq);
	return second == err ? err : EPROTO;
}

/* Another VQP of the same context and CQs, connected; NULL with errno set if there can be none. */
static struct ibv_qp *neighbour(struct bad *b, const union ibv_gid *gid, uint16_t port)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = b->conn.send_cq, .recv_cq = b->conn.recv_cq,
		.cap = { 4, 4, 1, 1, 0 }, .qp_type = VQP_QPT_VQP,
	};
	struct ibv_qp *qp = vqp_create_qp(vqp_pd(b->conn.context), &attr);

	if (!qp)
		return NULL;
	errno = -vqp_connect(qp, gid, port);
	return errno ? NULL : qp;
}

static int then_neighbour(struct bad *b)
{
	struct vqp_query_qp query = { .qp_num = b->conn.qp->qp_num };
	struct ibv_qp *qp;
	int err;

	if (bad_ioctl(b->fd, VQP_IOC_QUERY_QP, &query))
		return errno;
	qp = neighbour(b, (const union ibv_gid *)query.remote_gid, (uint16_t)query.remote_port);
	if (!qp)
		return errno;
	fail_once(b);
	err = post(b, qp, IBV_WR_RDMA_WRITE, b->raddr, b->rkey, 8);
	return err ? err : bad_completion(b, b->conn.send_cq);
}

/* To a port of the context's own. */
static struct ibv_qp *sender_to(struct bad *b, uint16_t port)
{
	union ibv_gid gid;

	vqp_gid(b->conn.context, &gid);
	return neighbour(b, &gid, port);
}

/* Two VQPs wait for one receive, and the message of the first does not fit. */
static int then_next_sender(struct bad *b)
{
	const uint16_t port = (uint16_t)vqpt_conn_bind(&b->conn, "0");
	struct ibv_qp *first = sender_to(b, port), *second = sender_to(b, port);
	int err, other;

	if (!first || !second)
		return errno;
	err = post(b, first, IBV_WR_SEND, 0, 0, 64);
	if (!err)
		err = post(b, second, IBV_WR_SEND, 0, 0, 8);
	if (err)
		return err;
	vqpt_conn_post_recv(b->conn.qp, 1, b->conn.memory, 16, b->conn.mr->lkey);
	/* The completions of two VQPs have no order. */
	err = bad_completion(b, b->conn.send_cq);
	other = bad_completion(b, b->conn.send_cq);
	if (err == BAD_WC(IBV_WC_REM_INV_REQ_ERR))
		return other;
	return other == BAD_WC(IBV_WC_REM_INV_REQ_ERR) ? err : EPROTO;
}

#define DESTROYED_BYTES	(32U << 20)

struct delivery {
	struct bad *b;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	atomic_bool over;
};

static void *deliver(void *arg)
{
	struct delivery *d = arg;
	struct ibv_sge sge = { (uintptr_t)d->mr->addr, DESTROYED_BYTES, d->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	int err = ibv_post_send(d->qp, &wr, &bad);

	if (err)
		vqpt_die(err, "post_send");
	bad_completion(d->b, d->b->conn.send_cq);
	d->over = true;
	return NULL;
}

/* The memory of a receive is the program's own again when its VQP is destroyed. */
static int destroy_while_receiving(struct bad *b)
{
	const size_t bytes = 2UL * DESTROYED_BYTES;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = vqp_reg_mr(vqp_pd(b->conn.context), memory, bytes, IBV_ACCESS_LOCAL_WRITE);
	const uint16_t port = (uint16_t)vqpt_conn_bind(&b->conn, "0");
	volatile const char *received = memory + DESTROYED_BYTES;
	struct delivery d = { .b = b, .qp = sender_to(b, port), .mr = mr };
	pthread_t thread;
	int err;

	if (!mr || !d.qp)
		return errno;
	memset(memory, 1, DESTROYED_BYTES);
	vqpt_conn_post_recv(b->conn.qp, 1, memory + DESTROYED_BYTES, DESTROYED_BYTES, mr->lkey);
	err = pthread_create(&thread, NULL, deliver, &d);
	if (err)
		return err;
	while (!*received && !d.over)
		sched_yield();
	err = -vqp_destroy_qp(b->conn.qp);
	memset(memory + DESTROYED_BYTES, 0, DESTROYED_BYTES);
	pthread_join(thread, NULL);
	if (err)
		return err;
	return memchr(memory + DESTROYED_BYTES, 1, DESTROYED_BYTES) ? EBADMSG : 0;
}

/*
 * One entry, two completions that nobody polls. The first is no event of those that are waited for; the second is.
 */
static int cq_overflow(struct bad *b)
{
	struct ibv_cq *cq = vqp_create_cq(b->conn.context, 1, NULL);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 8, 8, 1, 1, 0 }, .qp_type = VQP_QPT_VQP,
	};
	struct vqp_query_qp query = { .qp_num = b->conn.qp->qp_num };
	struct ibv_qp *qp = cq ? vqp_create_qp(vqp_pd(b->conn.context), &attr) : NULL;
	struct epoll_event event = { .events = 0 };
	int err, epoll = epoll_create1(EPOLL_CLOEXEC);

	if (!qp || bad_ioctl(b->fd, VQP_IOC_QUERY_QP, &query) || epoll_ctl(epoll, EPOLL_CTL_ADD, vqp_cq_fd(cq), &event))
		return errno;
	err = -vqp_connect(qp, (const union ibv_gid *)query.remote_gid, (uint16_t)query.remote_port);
	if (!err)
		err = post(b, qp, IBV_WR_RDMA_WRITE, b->raddr, b->rkey, 8);
	if (!err)
		err = post(b, qp, IBV_WR_RDMA_WRITE, b->raddr, b->rkey, 8);
	if (err)
		return err;
	if (epoll_wait(epoll, &event, 1, b->options->timeout_ms) != 1)
		return ETIMEDOUT;
	close(epoll);
	query = (struct vqp_query_qp) { .qp_num = qp->qp_num };
	if (bad_ioctl(b->fd, VQP_IOC_QUERY_QP, &query))
		return errno;
	printf("%s state=%u ", event.events & EPOLLERR ? "POLLERR" : "", query.state);
	return 0;
}

const struct bad_case bad_wcs[] = {
	{ "wc-write", BAD_LINK, write_plain },
	{ "wc-read", BAD_LINK, read_plain },
	{ "wc-send", BAD_LINK, send_plain },
	{ "wc-send-long", BAD_LINK, send_long },
	{ "wc-write-rkey", BAD_LINK, write_rkey },
	{ "wc-read-rkey", BAD_LINK, read_rkey },
	{ "wc-write-beyond", BAD_LINK, write_beyond },
	{ "wc-read-beyond", BAD_LINK, read_beyond },
	{ "wc-write-before", BAD_LINK, write_before },
	{ "wc-read-wraps", BAD_LINK, read_wraps },
	{ "wc-atomic", BAD_LINK, atomic_plain },
	{ "wc-atomic-unaligned", BAD_LINK, atomic_unaligned },
	{ "wc-atomic-rkey", BAD_LINK, atomic_rkey },
	{ "wc-atomic-beyond", BAD_LINK, atomic_beyond },
	{ "then-post", BAD_LINK, then_post },
	{ "then-state", BAD_LINK, then_state },
	{ "then-receives", BAD_LINK, then_receives },
	{ "then-list", BAD_LINK, then_list },
	{ "then-neighbour", BAD_LINK, then_neighbour },
	{ "then-next-sender", BAD_CONTEXT, then_next_sender },
	{ "destroy-while-receiving", BAD_CONTEXT, destroy_while_receiving },
	{ "cq-overflow", BAD_LINK, cq_overflow },
	{ 0 }
};
