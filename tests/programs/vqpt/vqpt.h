/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The test tool's shared parts: options, a connection, patterns. */
#ifndef VQPT_H
#define VQPT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/vqp.h>
#include <vqp/vqp.h>

struct vqpt_options {
	uint64_t bytes;			/* of a message or a region */
	uint32_t count;			/* messages or rounds */
	uint32_t depth;			/* messages under way, receives posted */
	uint32_t list;			/* requests per ibv_post_send() */
	uint32_t sges;			/* per request */
	uint32_t access;		/* IBV_ACCESS_* of a server's region */
	int timeout_ms;			/* for one completion */
	const char *address;		/* whose VQP namespace; NULL: the oldest's */
	bool imm;
	bool inline_data;
	bool arena;			/* memory from vqp_alloc() */
	bool background;
};

typedef int vqpt_command(const struct vqpt_options *options, char **args);

vqpt_command vqpt_echo_server, vqpt_echo_send;
vqpt_command vqpt_mem_server, vqpt_mem_write, vqpt_mem_read;
vqpt_command vqpt_atomic_add, vqpt_atomic_swap;
vqpt_command vqpt_weave_server, vqpt_weave_run;
vqpt_command vqpt_lat_measure, vqpt_tail_measure;
vqpt_command vqpt_cycle_run, vqpt_cycle_kill, vqpt_storm_run;
vqpt_command vqpt_share_fork, vqpt_share_scm, vqpt_share_epoll;
vqpt_command vqpt_signals_run;
vqpt_command vqpt_hold_run;
vqpt_command vqpt_flood_run;
vqpt_command vqpt_stray_run;
vqpt_command vqpt_regions_server, vqpt_regions_run;
vqpt_command vqpt_words_server, vqpt_words_run;
vqpt_command vqpt_hand_run, vqpt_strew_run;
vqpt_command vqpt_raas_server, vqpt_raas_talk;
vqpt_command vqpt_bad_run;

/* main.c */

/* Print to stderr, exit 1. With an errno value that is not 0, its name comes last. */
void vqpt_die(int err, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* The same where no slow machine is to blame: bytes, their order, what is there twice. */
void vqpt_wrong(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A server is ready: print a line, then let go of the caller that started it with --background. */
void vqpt_ready(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t vqpt_number(const char *text, uint64_t max);
uint64_t vqpt_now_ns(void);

/* conn.c: one VQP with its queues and its memory; every function exits on failure. */

struct vqpt_conn {
	struct ibv_context *context;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;			/* zeroed */
	size_t bytes;
	int timeout_ms;
};

struct vqpt_conn vqpt_conn_open(const struct vqpt_options *options, size_t memory_bytes, uint32_t access);
void vqpt_conn_to(struct vqpt_conn *conn, const char *address, const char *port);
/* The port: `port`, or with "0" a free one. */
int vqpt_conn_bind(struct vqpt_conn *conn, const char *port);
void vqpt_conn_close(struct vqpt_conn *conn);

/* The next completion of a CQ, which must be a success. */
struct ibv_wc vqpt_conn_wait(const struct vqpt_conn *conn, struct ibv_cq *cq);

void vqpt_conn_post_send(struct ibv_qp *qp, struct ibv_send_wr *list);
void vqpt_conn_post_recv(struct ibv_qp *qp, uint64_t wr_id, void *addr, uint32_t bytes, uint32_t lkey);

/* Post a READ or a WRITE, signaled, of so many bytes of conn's memory. */
void vqpt_conn_post_transfer(struct vqpt_conn *conn, enum ibv_wr_opcode opcode, void *memory, uint64_t bytes,
			     uint64_t remote_addr, uint32_t rkey);
/* The same, and wait for it. */
void vqpt_conn_transfer(struct vqpt_conn *conn, enum ibv_wr_opcode opcode, void *memory, uint64_t bytes,
			uint64_t remote_addr, uint32_t rkey);

/* Send a small message at once (inline, unsignaled). */
void vqpt_conn_send_small(struct ibv_qp *qp, const void *data, uint32_t bytes);

/* sge.c */

/* Cut [addr, addr + bytes) into at most `count` SGEs; returns how many (0 for 0 bytes). */
int vqpt_sge_cut(struct ibv_sge *sges, uint32_t count, void *addr, uint64_t bytes, uint32_t lkey);

/* pattern.c: bytes that tell where they belong. */

void vqpt_pattern_fill(void *memory, uint64_t bytes, uint64_t seed);

/* Offset of the first byte that is not the pattern's, or `bytes`. */
uint64_t vqpt_pattern_check(const void *memory, uint64_t bytes, uint64_t seed);

#endif
