// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An echo server, and a client that verifies: every message comes back once,
 * in order, with its bytes and its immediate data.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vqpt.h"

static char *slot(const struct vqpt_conn *conn, const struct vqpt_options *o, uint64_t index)
{
	return conn->memory + index * o->bytes;
}

static void post_slot(struct vqpt_conn *conn, const struct vqpt_options *o, uint64_t index)
{
	vqpt_conn_post_recv(conn->qp, index, slot(conn, o, index), (uint32_t)o->bytes, conn->mr->lkey);
}

/* Post all slots, in lists of --list receives. */
static void post_slots(struct vqpt_conn *conn, const struct vqpt_options *o)
{
	struct ibv_recv_wr *wrs = calloc(o->depth, sizeof(*wrs)), *bad;
	struct ibv_sge *sges = calloc(o->depth, sizeof(*sges));
	uint32_t i, first;
	int err;

	if (!o->list)
		vqpt_die(0, "--list 0");
	if (!wrs || !sges)
		vqpt_die(ENOMEM, "memory for %u receives", o->depth);
	for (i = 0; i < o->depth; i++) {
		sges[i] = (struct ibv_sge) { (uintptr_t)slot(conn, o, i), (uint32_t)o->bytes, conn->mr->lkey };
		wrs[i] = (struct ibv_recv_wr) {
			.wr_id = i,
			.next = i + 1 < o->depth && (i + 1) % o->list ? &wrs[i + 1] : NULL,
			.sg_list = &sges[i],
			.num_sge = o->bytes ? 1 : 0,
		};
	}
	for (first = 0; first < o->depth; first += o->list) {
		err = ibv_post_recv(conn->qp, &wrs[first], &bad);
		if (err)
			vqpt_die(err, "post_recv of slot %u", (uint32_t)(bad - wrs));
	}
	free(sges);
	free(wrs);
}

static bool echo_back(struct vqpt_conn *conn, const struct vqpt_options *o, struct ibv_qp *reply,
		      const struct ibv_wc *wc)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot(conn, o, wc->wr_id), .length = wc->byte_len, .lkey = conn->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = wc->wr_id,
		.sg_list = &sge,
		.num_sge = wc->byte_len ? 1 : 0,
		.opcode = wc->wc_flags & IBV_WC_WITH_IMM ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = wc->imm_data,
	}, *bad;

	return reply && !ibv_post_send(reply, &wr, &bad);
}

/* A slot's echo is over. A reply whose sender has died goes, and not the server with it. */
static void echo_done(struct vqpt_conn *conn, const struct vqpt_options *o, struct ibv_qp **replies,
		      uint64_t index, bool ok)
{
	struct ibv_qp *reply = replies[index];
	uint32_t i;
	int err;

	post_slot(conn, o, index);
	replies[index] = NULL;
	if (ok || !reply)
		return;
	for (i = 0; i < o->depth; i++) {
		if (replies[i] == reply)
			return;		/* more of its requests are to be flushed */
	}
	err = vqp_destroy_qp(reply);
	if (err)
		vqpt_die(err, "destroying a reply");
}

int vqpt_echo_server(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes * o->depth, IBV_ACCESS_LOCAL_WRITE);
	struct pollfd fds[2] = {
		{ .fd = vqp_cq_fd(conn.recv_cq), .events = POLLIN },
		{ .fd = vqp_cq_fd(conn.send_cq), .events = POLLIN },
	};
	struct ibv_qp *replies[o->depth];	/* of the echo under way in each slot */
	struct ibv_wc wc;
	int port, n;

	post_slots(&conn, o);
	port = vqpt_conn_bind(&conn, args[0]);
	memset(replies, 0, sizeof(replies));
	vqpt_ready("pid=%d port=%d\n", getpid(), port);
	for (;;) {
		struct ibv_qp *reply;

		while ((n = vqp_pop_msgs(conn.qp, 1, &reply, &wc)) > 0) {
			replies[wc.wr_id] = reply;
			if (!echo_back(&conn, o, reply, &wc))
				echo_done(&conn, o, replies, wc.wr_id, false);
		}
		if (n < 0)
			vqpt_die(n, "vqp_pop_msgs");
		while (ibv_poll_cq(conn.send_cq, 1, &wc) > 0)
			echo_done(&conn, o, replies, wc.wr_id, wc.status == IBV_WC_SUCCESS);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			vqpt_die(errno, "poll");
	}
}

/* Post messages [first, first + count); slots go round. */
static void send_messages(struct vqpt_conn *conn, const struct vqpt_options *o, uint32_t first, uint32_t count)
{
	struct ibv_send_wr wrs[count];
	struct ibv_sge sges[count][VQP_MAX_SGE];
	uint32_t i, index;
	char *at;

	for (i = 0; i < count; i++) {
		index = first + i;
		at = slot(conn, o, index % o->depth);
		vqpt_pattern_fill(at, o->bytes, index);
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = index,
			.next = i + 1 < count ? &wrs[i + 1] : NULL,
			.sg_list = sges[i],
			.num_sge = vqpt_sge_cut(sges[i], o->sges, at, o->bytes, conn->mr->lkey),
			.opcode = o->imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED | (o->inline_data ? IBV_SEND_INLINE : 0),
			.imm_data = o->imm ? index : 0,
		};
	}
	vqpt_conn_post_send(conn->qp, wrs);
}

static void check_echo(struct vqpt_conn *conn, const struct vqpt_options *o, const struct ibv_wc *wc, uint32_t index)
{
	char *at = slot(conn, o, o->depth + index % o->depth);
	uint64_t good;

	if (wc->opcode != IBV_WC_RECV || wc->qp_num != conn->qp->qp_num)
		vqpt_wrong("echo %u: opcode %d, VQP %u", index, wc->opcode, wc->qp_num);
	if (wc->byte_len != o->bytes)
		vqpt_wrong("echo %u: %u bytes, not %llu", index, wc->byte_len, (unsigned long long)o->bytes);
	if (o->imm != !!(wc->wc_flags & IBV_WC_WITH_IMM) || (o->imm && wc->imm_data != index))
		vqpt_wrong("echo %u: flags %#x, immediate data %#x", index, wc->wc_flags, wc->imm_data);
	good = vqpt_pattern_check(at, o->bytes, index);
	if (good != o->bytes)
		vqpt_wrong("echo %u: from byte %llu on", index, (unsigned long long)good);
}

/* A late second copy of a message would show now. */
static void check_nothing_more(const struct vqpt_conn *conn)
{
	struct ibv_wc wc;

	usleep(20000);
	if (ibv_poll_cq(conn->recv_cq, 1, &wc))
		vqpt_wrong("a message more than was sent: %u bytes", wc.byte_len);
}

int vqpt_echo_send(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes * o->depth * 2, IBV_ACCESS_LOCAL_WRITE);
	uint32_t sent = 0, echoed, list, i;
	struct ibv_wc wc;

	if (!o->list || o->depth < o->list)
		vqpt_die(0, "--depth %u is less than --list %u", o->depth, o->list);
	for (i = 0; i < o->depth; i++)
		vqpt_conn_post_recv(conn.qp, i, slot(&conn, o, o->depth + i), (uint32_t)o->bytes, conn.mr->lkey);
	vqpt_conn_to(&conn, args[0], args[1]);
	for (echoed = 0; echoed < o->count; echoed++) {
		/* A slot is free again when its message is acknowledged and echoed, both in order. */
		while (sent < o->count && sent - echoed + o->list <= o->depth) {
			list = o->count - sent < o->list ? o->count - sent : o->list;
			send_messages(&conn, o, sent, list);
			sent += list;
		}
		wc = vqpt_conn_wait(&conn, conn.recv_cq);
		check_echo(&conn, o, &wc, echoed);
		vqpt_conn_post_recv(conn.qp, echoed, slot(&conn, o, o->depth + echoed % o->depth), (uint32_t)o->bytes,
				    conn.mr->lkey);
		wc = vqpt_conn_wait(&conn, conn.send_cq);
		if (wc.wr_id != echoed || wc.opcode != IBV_WC_SEND)
			vqpt_wrong("send %llu completed in place of %u", (unsigned long long)wc.wr_id, echoed);
		if (!echoed && o->background)
			vqpt_ready("pid=%d\n", getpid());
	}
	check_nothing_more(&conn);
	vqpt_conn_close(&conn);
	printf("%u messages of %llu bytes\n", o->count, (unsigned long long)o->bytes);
	return 0;
}
