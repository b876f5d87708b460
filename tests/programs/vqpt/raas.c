// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Connections by the calls of RDMAvisor: an echo, whose both ends receive into registered memory. */
#include <stdio.h>
#include <unistd.h>
#include <vqp/raas.h>
#include "vqpt.h"

#define PIECE	(256 << 10)

static struct vqp_raas_target target_of(char **args)
{
	struct vqp_raas_target target = { .port = (uint16_t)vqpt_number(args[1], UINT16_MAX) };
	int err = vqp_parse_gid(args[0], &target.gid);

	if (err)
		vqpt_die(err, "address %s", args[0]);
	return target;
}

static int flags_of(const char *text)
{
	return (int)vqpt_number(text, INT32_MAX);
}

static void send_all(int fd, const char *from, uint64_t bytes, int flags)
{
	int sent;

	for (; bytes; from += sent, bytes -= (uint64_t)sent) {
		sent = vqp_raas_send(fd, from, (int)bytes, flags);
		if (sent < 0)
			vqpt_die(sent, "send");
	}
}

/* Receive what there is, and that far into the memory; 0: the end. */
static uint64_t receive_some(int fd, const struct vqpt_conn *conn, uint64_t at, uint64_t bytes)
{
	void *to = conn->memory + at;
	int got = vqp_raas_recv_zero_copy(fd, &to, (int)bytes, 0);

	if (got < 0)
		vqpt_die(got, "recv_zero_copy");
	if (to != conn->memory + at)
		vqpt_wrong("the bytes are elsewhere");
	return (uint64_t)got;
}

/* Receive so many at the beginning of the memory. */
static void receive_all(int fd, const struct vqpt_conn *conn, uint64_t bytes)
{
	uint64_t at, got;

	for (at = 0; at < bytes; at += got) {
		got = receive_some(fd, conn, at, bytes - at);
		if (!got)
			vqpt_wrong("the end came %llu bytes early", (unsigned long long)(bytes - at));
	}
}

int vqpt_raas_server(const struct vqpt_options *options, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(options, PIECE, IBV_ACCESS_LOCAL_WRITE);
	struct vqp_raas_target target = target_of(args);
	int flags = flags_of(args[2]), listener, fd;
	uint64_t got;

	listener = vqp_raas_listen(&target, flags);
	if (listener < 0)
		vqpt_die(listener, "listen");
	vqpt_ready("pid=%d\n", (int)getpid());
	for (;;) {
		fd = vqp_raas_accept(listener, flags);
		if (fd < 0)
			vqpt_die(fd, "accept");
		while ((got = receive_some(fd, &conn, 0, PIECE)))
			send_all(fd, conn.memory, got, 0);
		close(fd);
	}
}

/* Send --bytes of a pattern, a piece of the window's size at a time, and see it come back. */
int vqpt_raas_talk(const struct vqpt_options *options, char **args)
{
	static char pattern[PIECE];
	struct vqpt_conn conn = vqpt_conn_open(options, PIECE, IBV_ACCESS_LOCAL_WRITE);
	struct vqp_raas_target target = target_of(args);
	const int flags = flags_of(args[2]);
	int fd = vqp_raas_connect(&target, flags & VQP_RAAS_RC);
	uint64_t left, bytes;

	if (fd < 0)
		vqpt_die(fd, "connect");
	for (left = options->bytes; left; left -= bytes) {
		bytes = left < PIECE ? left : PIECE;
		vqpt_pattern_fill(pattern, bytes, left);
		send_all(fd, pattern, bytes, flags);
		receive_all(fd, &conn, bytes);
		if (vqpt_pattern_check(conn.memory, bytes, left) != bytes)
			vqpt_wrong("the echo is not what was sent");
	}
	close(fd);
	vqpt_conn_close(&conn);
	return 0;
}
