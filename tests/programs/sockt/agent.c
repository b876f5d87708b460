// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The far side. Commands are words and numbers, S and L are slots:
 *
 *   protocol N               of sockets that are made from now on
 *   socket S                 a new one, closing the one before
 *   listen L BACKLOG         bind there to an ephemeral port and listen; answers the port
 *   listen-any L BACKLOG     the same at any address
 *   backlog L BACKLOG        it listens already
 *   accept L S
 *   connect S PORT           to the near side; makes the socket unless there is one
 *   send S FROM BYTES CHUNK FLAGS; recv S FROM BYTES CHUNK; drain S FROM
 *   both S SEND-FROM SEND RECV-FROM RECV CHUNK
 *   recv-some S, send-some S one recv() or send(): what it returned
 *   poll S EVENTS            until there is one; answers what poll() tells of
 *   echo L N, echo-one S     until N connections, or that one, have ended
 *   storm PORT N MESSAGES    so many connections to the near side at once, echoed
 *   shutdown S HOW; linger S SECONDS; close S; set S LEVEL NAME VALUE; get S LEVEL NAME
 *   peer-port S              where its peer is
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "sockt.h"

#define MAX_WORDS 8

struct agent {
	const struct sockt *t;
	int protocol;
	int fds[FAR_SLOTS];	/* -1: none */
	uint64_t args[MAX_WORDS];
};

/* The socket that an argument names */
static int *slot(struct agent *a, int arg)
{
	return &a->fds[a->args[arg] % FAR_SLOTS];
}

static long none_or(long result)
{
	return result < 0 ? -errno : result;
}

static void forget(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static long do_socket(struct agent *a)
{
	int *fd = slot(a, 0);

	forget(fd);
	*fd = socket(a->t->family, SOCK_STREAM | SOCK_CLOEXEC, a->protocol);
	return *fd < 0 ? -errno : 0;
}

static long do_protocol(struct agent *a)
{
	a->protocol = (int)a->args[0];
	return 0;
}

static long listen_at(struct agent *a, struct sockaddr_storage address)
{
	int *fd = slot(a, 0);
	long err = *fd < 0 ? do_socket(a) : 0;

	if (err)
		return err;
	if (sock_bind(*fd, address) || listen(*fd, (int)a->args[1]))
		return -errno;
	return sock_port(*fd);
}

static long do_listen(struct agent *a)
{
	return listen_at(a, sock_far(a->t, 0));
}

static long do_listen_any(struct agent *a)
{
	return listen_at(a, (struct sockaddr_storage){ .ss_family = (sa_family_t)a->t->family });
}

static long do_backlog(struct agent *a)
{
	return none_or(listen(*slot(a, 0), (int)a->args[1]));
}

static long do_accept(struct agent *a)
{
	int *fd = slot(a, 1);

	forget(fd);
	*fd = accept4(*slot(a, 0), NULL, NULL, SOCK_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static long do_connect(struct agent *a)
{
	int *fd = slot(a, 0);
	long err = *fd < 0 ? do_socket(a) : 0;

	return err ? err : none_or(sock_connect(*fd, sock_near(a->t, (int)a->args[1])));
}

static long do_send(struct agent *a)
{
	return io_send(*slot(a, 0), a->args[1], a->args[2], a->args[3], (int)a->args[4]);
}

static long do_recv(struct agent *a)
{
	return io_recv(*slot(a, 0), a->args[1], a->args[2], a->args[3]);
}

static long do_drain(struct agent *a)
{
	return io_drain(*slot(a, 0), a->args[1]);
}

static long do_both(struct agent *a)
{
	return io_both(*slot(a, 0), a->args[1], a->args[2], a->args[3], a->args[4], a->args[5]);
}

static long do_recv_some(struct agent *a)
{
	char buffer[4096];

	return none_or(recv(*slot(a, 0), buffer, sizeof(buffer), 0));
}

static long do_send_some(struct agent *a)
{
	return none_or(send(*slot(a, 0), "x", 1, MSG_NOSIGNAL));
}

static long do_poll(struct agent *a)
{
	struct pollfd p = { .fd = *slot(a, 0), .events = (short)a->args[1] };
	int n = poll(&p, 1, check_limit_s() * 1000);

	return n < 0 ? -errno : n ? p.revents : -ETIMEDOUT;
}

static long do_echo(struct agent *a)
{
	return io_echo(*slot(a, 0), (int)a->args[1]);
}

static long do_echo_one(struct agent *a)
{
	return io_echo_one(*slot(a, 0));
}

static long storm(struct agent *a, int *fds, int count)
{
	int messages = (int)a->args[2], i, round, err = 0;

	for (i = 0; i < count; i++) {
		fds[i] = socket(a->t->family, SOCK_STREAM | SOCK_CLOEXEC, a->protocol);
		if (fds[i] < 0 || sock_connect(fds[i], sock_near(a->t, (int)a->args[0])))
			return -errno;
	}
	for (round = 0; round < messages; round++) {
		for (i = 0; i < count && !err; i++)
			err = io_send(fds[i], (uint64_t)(i + round) * 100, 100, 0, 0);
		for (i = 0; i < count && !err; i++)
			err = io_recv(fds[i], (uint64_t)(i + round) * 100, 100, 0);
	}
	return err;
}

static long do_storm(struct agent *a)
{
	int count = (int)a->args[1], i;
	int *fds = io_buffer((size_t)count * sizeof(*fds));
	long err;

	memset(fds, -1, (size_t)count * sizeof(*fds));
	err = storm(a, fds, count);
	for (i = 0; i < count; i++)
		forget(&fds[i]);
	free(fds);
	return err;
}

static long do_shutdown(struct agent *a)
{
	return none_or(shutdown(*slot(a, 0), (int)a->args[1]));
}

static long do_linger(struct agent *a)
{
	struct linger linger = { .l_onoff = 1, .l_linger = (int)a->args[1] };

	return none_or(setsockopt(*slot(a, 0), SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

static long do_close(struct agent *a)
{
	int *fd = slot(a, 0);
	int result = close(*fd);

	*fd = -1;
	return none_or(result);
}

static long do_set(struct agent *a)
{
	int value = (int)a->args[3];

	return none_or(setsockopt(*slot(a, 0), (int)a->args[1], (int)a->args[2], &value, sizeof(value)));
}

static long do_get(struct agent *a)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(*slot(a, 0), (int)a->args[1], (int)a->args[2], &value, &len) ? -errno : value;
}

static long do_peer_port(struct agent *a)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);

	if (getpeername(*slot(a, 0), (struct sockaddr *)&peer, &len))
		return -errno;
	return sock_address_port(&peer);
}

static const struct {
	const char *verb;
	int args;
	long (*run)(struct agent *a);
} commands[] = {
	{ "protocol", 1, do_protocol }, { "socket", 1, do_socket }, { "listen", 2, do_listen },
	{ "listen-any", 2, do_listen_any }, { "backlog", 2, do_backlog },
	{ "accept", 2, do_accept }, { "connect", 2, do_connect },
	{ "send", 5, do_send }, { "recv", 4, do_recv }, { "drain", 2, do_drain }, { "both", 6, do_both },
	{ "recv-some", 1, do_recv_some }, { "send-some", 1, do_send_some }, { "poll", 2, do_poll },
	{ "echo", 2, do_echo }, { "echo-one", 1, do_echo_one }, { "storm", 3, do_storm },
	{ "shutdown", 2, do_shutdown }, { "linger", 2, do_linger }, { "close", 1, do_close },
	{ "set", 4, do_set }, { "get", 3, do_get }, { "peer-port", 1, do_peer_port },
};

static long obey(struct agent *a, char *line)
{
	char *save, *verb = strtok_r(line, " \n", &save), *word;
	size_t i;
	int args = 0;

	while ((word = strtok_r(NULL, " \n", &save)) && args < MAX_WORDS)
		a->args[args++] = strtoull(word, NULL, 10);
	for (i = 0; verb && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(verb, commands[i].verb) && args == commands[i].args)
			return commands[i].run(a);
	return -ENOSYS;
}

void agent_run(const struct sockt *t, int control)
{
	struct agent a = { .t = t, .protocol = t->protocol };
	struct rlimit files = { 8192, 8192 };
	FILE *in = fdopen(control, "r");
	char line[256];

	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	memset(a.fds, -1, sizeof(a.fds));
	while (in && fgets(line, sizeof(line), in)) {
		/* a command may wait for the near side, which has the limit of a case */
		alarm((unsigned int)check_limit_s() * 2);
		if (dprintf(control, "%ld\n", obey(&a, line)) < 0)
			break;
		alarm(0);
	}
	_exit(0);
}

void agent_serve(const struct sockt *t, int port)
{
	int listener = NEED(socket(t->family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));

	signal(SIGCHLD, SIG_IGN);
	sock_set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	NEED(sock_bind(listener, sock_far(t, port)));
	NEED(listen(listener, 16));
	for (;;) {
		int control = NEED(accept4(listener, NULL, NULL, SOCK_CLOEXEC));

		sock_set(control, IPPROTO_TCP, TCP_NODELAY, 1);
		if (!check_fork()) {
			struct sockt own = *t;

			close(listener);
			own.near = sock_peer(control);
			agent_run(&own, control);
		}
		close(control);
	}
}
