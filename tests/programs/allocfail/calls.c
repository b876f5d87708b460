// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The calls on /dev/vqp, other than posts. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "admin.h"
#include "main.h"
#include "run.h"

#define FRESH_BYTES	(8 * 4096)	/* of memory that nobody has touched */
#define LARGE_BYTES	(4 << 20)
#define LARGE_CQE	1024

static void prepare_context(struct stage *s, const struct run_case *c)
{
	(void)c;
	stage_context(s);
}

static void prepare_queues(struct stage *s, const struct run_case *c)
{
	prepare_context(s, c);
	stage_queues(s);
}

static void prepare_memory(struct stage *s, const struct run_case *c)
{
	prepare_queues(s, c);
	stage_memory(s);
}

static void prepare_bound(struct stage *s, const struct run_case *c)
{
	prepare_memory(s, c);
	stage_bound(s);
}

static void prepare_link(struct stage *s, const struct run_case *c)
{
	prepare_bound(s, c);
	stage_link(s, c->far);
}

/* ---- Contexts ---- */

static int open_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	s->fd = open(VQP_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return s->fd < 0 ? errno : 0;
}

static void attach_prepare(struct stage *s, const struct run_case *c)
{
	if (open_call(s, c))
		die(errno, VQP_DEVICE_PATH);
}

static int attach_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	return stage_attach(s);
}

static int query_call(struct stage *s, const struct run_case *c)
{
	struct vqp_query query = { 0 };

	(void)c;
	return stage_ioctl(s, VQP_IOC_QUERY, &query);
}

static void query_verify(struct stage *s, const struct run_case *c)
{
	if (query_call(s, c))
		die(errno, "QUERY");
}

static int close_call(struct stage *s, const struct run_case *c)
{
	int fd = s->fd;

	(void)c;
	s->fd = -1;
	return close(fd) ? errno : 0;
}

/* ---- CQs ---- */

static int cq_call(struct stage *s, const struct run_case *c)
{
	struct vqp_create_cq arg = { .cqe = c->count };
	int err = stage_ioctl(s, VQP_IOC_CREATE_CQ, &arg);

	s->new_fd = err ? -1 : arg.fd;
	s->new_offset = (off_t)arg.ring_offset;
	s->new_bytes = arg.ring_bytes;
	return err;
}

static int map_call(struct stage *s, const struct run_case *c)
{
	void *map = mmap(NULL, s->new_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, s->new_offset);

	(void)c;
	if (map == MAP_FAILED)
		return errno;
	s->new_map = map;
	return 0;
}

static void ring_verify(struct stage *s, const struct run_case *c)
{
	const struct vqp_cq_ring *ring;

	if (!s->new_map && map_call(s, c))
		die(errno, "mmap of a CQ");
	ring = s->new_map;
	if (!ring)
		die(0, "a ring at address 0");
	if (ring->entries != c->count || ring->head || ring->tail)
		die(0, "a ring of %u entries with head %u, tail %u", ring->entries, ring->head, ring->tail);
}

static void ring_prepare(struct stage *s, const struct run_case *c)
{
	prepare_context(s, c);
	if (cq_call(s, c))
		die(errno, "CREATE_CQ");
}

/* ---- Memory ---- */

static void arena_prepare(struct stage *s, const struct run_case *c)
{
	prepare_context(s, c);
	s->new_bytes = c->bytes;
}

static void map_verify(struct stage *s, const struct run_case *c)
{
	size_t i;

	for (i = 0; i < c->bytes; i += 4096)
		if (((char *)s->new_map)[i]++)
			die(0, "arena memory is not zeroed");
}

static void mr_arena_prepare(struct stage *s, const struct run_case *c)
{
	arena_prepare(s, c);
	if (map_call(s, c))
		die(errno, "mmap of an arena");
}

static void mr_user_prepare(struct stage *s, const struct run_case *c)
{
	prepare_context(s, c);
	s->new_bytes = c->bytes;
	s->new_map = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (c->bytes == LARGE_BYTES ? MAP_POPULATE : 0), -1, 0);
	if (s->new_map == MAP_FAILED)
		die(errno, "memory");
}

static int mr_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	return stage_reg_mr(s, s->new_map, s->new_bytes, &s->new_number);
}

static int dereg_call(struct stage *s, const struct run_case *c)
{
	struct vqp_dereg_mr arg = { .key = s->key };

	(void)c;
	return stage_ioctl(s, VQP_IOC_DEREG_MR, &arg);
}

static void mr_verify(struct stage *s, const struct run_case *c)
{
	s->key = s->new_number;
	if (dereg_call(s, c))
		die(errno, "DEREG_MR");
}

/* ---- VQPs ---- */

static int qp_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	return stage_create_qp(s, &s->new_number);
}

static void qp_expect(struct stage *s, uint32_t qp_num, uint32_t state)
{
	struct vqp_query_qp query;
	int err = stage_query(s, qp_num, &query);

	if (err)
		die(err, "QUERY_QP");
	if (query.state != state)
		die(0, "a VQP in state %u, not %u", query.state, state);
}

static void qp_verify(struct stage *s, const struct run_case *c)
{
	(void)c;
	qp_expect(s, s->new_number, VQP_QP_INIT);
}

static int qp_query_call(struct stage *s, const struct run_case *c)
{
	struct vqp_query_qp query;

	(void)c;
	return stage_query(s, s->qp, &query);
}

static int destroy_call(struct stage *s, const struct run_case *c)
{
	struct vqp_destroy_qp arg = { .qp_num = s->qp };

	(void)c;
	return stage_ioctl(s, VQP_IOC_DESTROY_QP, &arg);
}

static int bind_call(struct stage *s, const struct run_case *c)
{
	struct vqp_bind arg = { .qp_num = s->qp, .port = c->count };

	return stage_ioctl(s, VQP_IOC_BIND, &arg);
}

static void bind_verify(struct stage *s, const struct run_case *c)
{
	(void)c;
	qp_expect(s, s->qp, VQP_QP_BOUND);
}

static int connect_call(struct stage *s, const struct run_case *c)
{
	return c->far ? stage_connect(s, far.gid, far.port) : stage_connect(s, s->gid, STAGE_PORT);
}

/* It is known where the address is: another VQP has gone there, once. */
static void connect_prepare(struct stage *s, const struct run_case *c)
{
	static bool known;

	prepare_bound(s, c);
	if (!c->far || known)
		return;
	stage_link(s, true);
	if (stage_create_qp(s, &s->qp))
		die(errno, "CREATE_QP");
	known = true;
}

/* It must be looked up. */
static void cold_prepare(struct stage *s, const struct run_case *c)
{
	connect_prepare(s, c);
	if (admin_do(VQP_CMD_CACHE_FLUSH, NULL, NULL))
		die(errno, "CACHE_FLUSH");
}

static void connect_verify(struct stage *s, const struct run_case *c)
{
	stage_try(s, c->far);
}

/* As if the VQP had sent a message to the bound one. */
static int accept_call(struct stage *s, const struct run_case *c)
{
	struct vqp_accept arg = { .qp_num = s->bound, .src_qp = s->qp };
	int err;

	memcpy(arg.src_gid, c->far ? far.gid : s->gid, VQP_GID_BYTES);
	err = stage_ioctl(s, VQP_IOC_ACCEPT, &arg);
	s->new_number = arg.new_qp_num;
	return err;
}

static void accept_verify(struct stage *s, const struct run_case *c)
{
	(void)c;
	qp_expect(s, s->new_number, VQP_QP_CONNECTED);
}

#define CASE(name_, prepare_, call_, verify_, ...) \
	{ .name = name_, .prepare = prepare_, .call = call_, .verify = verify_, __VA_ARGS__ }

const struct run_case calls[] = {
	CASE("open", run_nothing, open_call, query_verify),
	CASE("attach", attach_prepare, attach_call, query_verify),
	CASE("query", prepare_context, query_call, query_verify),
	CASE("close", prepare_link, close_call, run_nothing, .far = true),
	CASE("cq", prepare_context, cq_call, ring_verify, .count = 16),
	CASE("cq-large", prepare_context, cq_call, ring_verify, .count = LARGE_CQE),
	CASE("cq-mmap", ring_prepare, map_call, ring_verify, .count = LARGE_CQE),
	CASE("arena", arena_prepare, map_call, map_verify, .bytes = FRESH_BYTES),
	CASE("mr-arena", mr_arena_prepare, mr_call, mr_verify, .bytes = FRESH_BYTES),
	CASE("mr-user", mr_user_prepare, mr_call, mr_verify, .bytes = FRESH_BYTES,
	     /* pinned as far as there is memory, and then on from there */
	     .optional = "vqp_mr_reg:__folio_alloc "),
	CASE("mr-user-large", mr_user_prepare, mr_call, mr_verify, .bytes = LARGE_BYTES),
	CASE("mr-dereg", prepare_memory, dereg_call, run_nothing),
	CASE("qp", prepare_queues, qp_call, qp_verify),
	CASE("qp-query", prepare_queues, qp_query_call, run_nothing),
	CASE("qp-destroy", prepare_queues, destroy_call, run_nothing),
	CASE("qp-destroy-near", prepare_link, destroy_call, run_nothing),
	CASE("qp-destroy-far", prepare_link, destroy_call, run_nothing, .far = true),
	CASE("bind", prepare_queues, bind_call, bind_verify, .count = 700),
	CASE("bind-any", prepare_queues, bind_call, bind_verify),
	CASE("connect-near", connect_prepare, connect_call, connect_verify),
	/* one flow number in 64 needs memory to be remembered */
	CASE("connect-far", connect_prepare, connect_call, connect_verify, .far = true, .starve = 65),
	CASE("connect-far-cold", cold_prepare, connect_call, connect_verify, .far = true,
	     /* the cache's memory: the next connect looks up again */
	     .optional = "vqp_meta_route cache_put "),
	CASE("accept-near", prepare_link, accept_call, accept_verify),
	CASE("accept-far", prepare_link, accept_call, accept_verify, .far = true),
	{ 0 }
};
