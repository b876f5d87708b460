// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The near side's end of the control connection: a command is a line, its answer a number. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "sockt.h"

/* The command that is under way, for the message of one that fails */
static char command[256];

static void begin_child(struct sockt *t)
{
	int fds[2];

	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
	t->far_fd = fds[0];
	if (check_fork())
		return (void)close(fds[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(fds[0]);
	if (t->netns) {
		int fd = NEED(open(t->netns, O_RDONLY | O_CLOEXEC));

		NEED(setns(fd, CLONE_NEWNET));
		close(fd);
	}
	agent_run(t, fds[1]);
	_exit(0);
}

void far_begin(struct sockt *t)
{
	if (!t->far_port)
		return begin_child(t);
	t->far_fd = NEED(socket(t->family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
	sock_set(t->far_fd, IPPROTO_TCP, TCP_NODELAY, 1);
	NEED(sock_connect(t->far_fd, sock_far(t, t->far_port)));
	far_do(t, "protocol %d", t->protocol);
}

static void begin(struct sockt *t, const char *format, va_list ap)
{
	size_t len;

	vsnprintf(command, sizeof(command) - 1, format, ap);
	len = strlen(command);
	command[len] = '\n';
	WANT_EQ(send(t->far_fd, command, len + 1, MSG_NOSIGNAL), (long long)len + 1);
	command[len] = 0;
}

static long answer(struct sockt *t)
{
	char text[32];
	size_t len = 0;

	do {
		WANT(len < sizeof(text));
		if (recv(t->far_fd, text + len, 1, 0) != 1)
			check_fail(__FILE__, __LINE__, "the far side has ended, at: %s", command);
	} while (text[len++] != '\n');
	text[len - 1] = 0;
	return atol(text);
}

static long well(long value)
{
	if (value < 0)
		check_fail(__FILE__, __LINE__, "%sthe far side's %s: %s",
			   value == -EBADMSG ? "WRONG: " : "", command, strerrorname_np((int)-value));
	return value;
}

long far_do(struct sockt *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	begin(t, format, ap);
	va_end(ap);
	return well(answer(t));
}

long far_try(struct sockt *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	begin(t, format, ap);
	va_end(ap);
	return answer(t);
}

void far_start(struct sockt *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	begin(t, format, ap);
	va_end(ap);
}

long far_end(struct sockt *t)
{
	return well(answer(t));
}
