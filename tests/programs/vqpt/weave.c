// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * WRITEs, READs and messages woven together, so that a VQP changes carriers again
 * and again, and a server that sees whether each was carried out once and in order.
 *
 * WRITE n puts n into word n of a ring. The server takes words in order, and a word
 * only when a later one is there (the copy of a word may be two stores); it empties
 * what it takes, so that a WRITE that is carried out twice is found when its word's
 * turn comes again. It counts, and the client READs the count, to know what is free. A
 * message, of --bytes, says how many WRITEs went before it: all of them must be there when it comes, once.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vqpt.h"

#define WEAVE_WORDS	4096U
#define WEAVE_ROUND	96U		/* WRITEs between two messages */
#define WEAVE_READ_EVERY 16U

struct weave_ring {
	volatile uint64_t taken;
	volatile uint64_t words[WEAVE_WORDS];
};

struct weave_message {
	uint64_t writes;		/* that went before */
	char pattern[];			/* of that seed */
};

static size_t message_bytes(const struct vqpt_options *o)
{
	return o->bytes < sizeof(struct weave_message) ? sizeof(struct weave_message) : o->bytes;
}

/* ---- The server ---- */

/*
 * Take what is there; with `all`, everything before `end` must be. More may have been taken before the
 * message that says so was seen.
 */
static void take(struct weave_ring *ring, uint64_t end, bool all)
{
	uint64_t n = ring->taken, word, next;

	for (;; n++) {
		/* In this order: a word that is there in part has none behind it. */
		next = ring->words[(n + 1) % WEAVE_WORDS];
		word = ring->words[n % WEAVE_WORDS];
		if (all ? n >= end : !word || !next)
			break;
		if (word != n + 1)
			vqpt_wrong("WRITE %llu in place of %llu", (unsigned long long)word, (unsigned long long)n + 1);
		ring->words[n % WEAVE_WORDS] = 0;
	}
	ring->taken = n;
}

static void take_message(struct weave_ring *ring, const struct weave_message *m, uint64_t bytes,
			 const struct vqpt_options *o)
{
	static uint64_t expected = WEAVE_ROUND;

	if (m->writes != expected || bytes != message_bytes(o))
		vqpt_wrong("a message of %llu bytes behind WRITE %llu in place of %llu", (unsigned long long)bytes,
			   (unsigned long long)m->writes, (unsigned long long)expected);
	bytes -= sizeof(*m);
	if (vqpt_pattern_check(m->pattern, bytes, m->writes) != bytes)
		vqpt_wrong("bytes of the message behind WRITE %llu", (unsigned long long)m->writes);
	take(ring, m->writes, true);
	expected += WEAVE_ROUND;
}

int vqpt_weave_server(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, sizeof(struct weave_ring),
					       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ);
	struct weave_ring *ring = (struct weave_ring *)conn.memory;
	const size_t bytes = message_bytes(o), stride = (bytes + 63) & ~(size_t)63;
	char *messages = malloc(o->depth * stride);
	struct ibv_mr *mr = messages ? vqp_reg_mr(vqp_pd(conn.context), messages, o->depth * stride,
						  IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct ibv_wc wc;
	uint32_t i;
	int port;

	if (!mr)
		vqpt_die(errno, "vqp_reg_mr");
	for (i = 0; i < o->depth; i++)
		vqpt_conn_post_recv(conn.qp, i, messages + i * stride, (uint32_t)bytes, mr->lkey);
	port = vqpt_conn_bind(&conn, args[0]);
	vqpt_ready("pid=%d port=%d key=%u addr=%llu\n", getpid(), port, conn.mr->rkey,
		   (unsigned long long)(uintptr_t)conn.memory);
	for (;;) {
		while (ibv_poll_cq(conn.recv_cq, 1, &wc) > 0) {
			struct weave_message *m = (struct weave_message *)(messages + wc.wr_id * stride);

			if (wc.status != IBV_WC_SUCCESS)
				vqpt_die(0, "a receive completed with status %d", wc.status);
			take_message(ring, m, wc.byte_len, o);
			vqpt_conn_post_recv(conn.qp, wc.wr_id, m, (uint32_t)bytes, mr->lkey);
		}
		take(ring, 0, false);
		vqp_cq_wait(conn.recv_cq, 1);
	}
}

/* ---- The client ---- */

/* Where what lies in the client's memory: what is written, in a ring; what is read; messages. */
struct weave_own {
	uint64_t written[WEAVE_WORDS];
	uint64_t taken;
	struct weave_message message;	/* last: ends in a flexible array */
};

struct weave {
	struct vqpt_conn conn;
	struct weave_own *own;
	uint64_t ring_addr;
	uint32_t rkey;
	uint64_t posted, completed;	/* requests */
	uint64_t writes;		/* posted; */
	uint64_t freed;			/* of them, taken by the server, as far as is known */
	uint32_t depth, message_bytes;
};

static volatile sig_atomic_t weave_stop;

static void on_term(int sig)
{
	(void)sig;
	weave_stop = 1;
}

/* Completions come once for each request, in order. */
static void reap(struct weave *w)
{
	struct ibv_wc wc = vqpt_conn_wait(&w->conn, w->conn.send_cq);

	if (wc.wr_id != w->completed)
		vqpt_wrong("request %llu completed in place of %llu", (unsigned long long)wc.wr_id,
			   (unsigned long long)w->completed);
	w->completed++;
	if (wc.opcode == IBV_WC_RDMA_READ) {
		if (w->own->taken < w->freed || w->own->taken > w->writes)
			vqpt_wrong("the server took %llu, after %llu, of %llu", (unsigned long long)w->own->taken,
				   (unsigned long long)w->freed, (unsigned long long)w->writes);
		w->freed = w->own->taken;
	}
}

static void post(struct weave *w, enum ibv_wr_opcode opcode, void *local, uint32_t bytes, uint64_t remote)
{
	struct ibv_sge sge = { .addr = (uintptr_t)local, .length = bytes, .lkey = w->conn.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = w->posted++,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = remote, .rkey = w->rkey },
	};

	while (w->posted - w->completed > w->depth)
		reap(w);
	vqpt_conn_post_send(w->conn.qp, &wr);
}

static void post_read(struct weave *w)
{
	post(w, IBV_WR_RDMA_READ, &w->own->taken, sizeof(uint64_t), w->ring_addr);
}

static void post_write(struct weave *w)
{
	const uint64_t index = w->writes % WEAVE_WORDS;

	while (w->writes - w->freed >= WEAVE_WORDS - 1) {
		post_read(w);
		while (w->completed < w->posted)
			reap(w);
	}
	w->own->written[index] = ++w->writes;
	post(w, IBV_WR_RDMA_WRITE, &w->own->written[index], sizeof(uint64_t),
	     w->ring_addr + offsetof(struct weave_ring, words) + index * sizeof(uint64_t));
	if (w->writes % WEAVE_READ_EVERY == 0)
		post_read(w);
}

static void post_message(struct weave *w)
{
	struct weave_message *m = &w->own->message;

	m->writes = w->writes;
	vqpt_pattern_fill(m->pattern, w->message_bytes - sizeof(*m), m->writes);
	post(w, IBV_WR_SEND, m, w->message_bytes, 0);
}

/* Rounds: --count of them, or (0) until SIGTERM. */
int vqpt_weave_run(const struct vqpt_options *o, char **args)
{
	struct weave w = {
		.conn = vqpt_conn_open(o, sizeof(struct weave_own) + message_bytes(o), IBV_ACCESS_LOCAL_WRITE),
		.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX),
		.ring_addr = vqpt_number(args[3], UINT64_MAX),
		.depth = o->depth,
		.message_bytes = (uint32_t)message_bytes(o),
	};
	uint64_t rounds, i;

	if (o->depth >= WEAVE_ROUND)
		vqpt_die(0, "--depth %u: a message must be over before the next", o->depth);
	w.own = (struct weave_own *)w.conn.memory;
	signal(SIGTERM, on_term);
	vqpt_conn_to(&w.conn, args[0], args[1]);
	for (rounds = 0; !weave_stop && (!o->count || rounds < o->count); rounds++) {
		for (i = 0; i < WEAVE_ROUND; i++)
			post_write(&w);
		post_message(&w);
	}
	while (w.completed < w.posted)
		reap(&w);
	vqpt_conn_close(&w.conn);
	printf("%llu rounds, %llu requests, %llu writes\n", (unsigned long long)rounds,
	       (unsigned long long)w.posted, (unsigned long long)w.writes);
	return 0;
}
