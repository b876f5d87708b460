// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Flags of send() and recv(). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockt.h"

static void peek(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0), i;
		char buffer[100];

		far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
		sock_await_queued(fd, 100);
		for (i = 0; i < 3; i++) {
			WANT_EQ(recv(fd, buffer, 60, MSG_PEEK), 60);
			DONE(io_check(buffer, FAR_BASE, 60));
		}
		WANT_EQ(recv(fd, buffer, 100, MSG_PEEK | MSG_DONTWAIT), 100);
		DONE(io_recv(fd, FAR_BASE, 40, 0));
		WANT_EQ(recv(fd, buffer, 100, MSG_PEEK), 60);
		DONE(io_check(buffer, FAR_BASE + 40, 60));
		DONE(io_recv(fd, FAR_BASE + 40, 60, 0));
		WANT_ERR(recv(fd, buffer, 1, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
		far_do(t, "close 0");
		WANT_EQ(recv(fd, buffer, 1, MSG_PEEK), 0);
		WANT_EQ(recv(fd, buffer, 1, 0), 0);
		close(fd);
	}
}

/* Peeking waits, and what it waits for comes in two pieces. */
static void peek_large(struct sockt *t)
{
	static uint8_t buffer[200000];
	int fd = sock_pair(t, CLIENT, 0);

	far_start(t, "send 0 %llu 100000 1000 0", FAR_BASE);
	WANT_EQ(recv(fd, buffer, 30000, MSG_PEEK | MSG_WAITALL), 30000);
	DONE(io_check(buffer, FAR_BASE, 30000));
	DONE(io_recv(fd, FAR_BASE, 100000, 777));
	far_end(t);
}

static void peek_off(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), off = 0;
	char buffer[20];

	if (setsockopt(NEED(socket(t->family, SOCK_STREAM, IPPROTO_TCP)), SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off)))
		check_skip("SO_PEEK_OFF came to TCP with 6.9");
	NEED(setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off)));
	far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
	sock_await_queued(fd, 100);
	WANT_EQ(recv(fd, buffer, 20, MSG_PEEK), 20);
	DONE(io_check(buffer, FAR_BASE, 20));
	WANT_EQ(recv(fd, buffer, 20, MSG_PEEK), 20);
	DONE(io_check(buffer, FAR_BASE + 20, 20));
}

static void waitall(struct sockt *t)
{
	static uint8_t buffer[300000];
	int fd = sock_pair(t, CLIENT, 0);

	far_start(t, "send 0 %llu 300000 999 0", FAR_BASE);
	WANT_EQ(recv(fd, buffer, sizeof(buffer), MSG_WAITALL), sizeof(buffer));
	DONE(io_check(buffer, FAR_BASE, sizeof(buffer)));
	far_end(t);
}

static void waitall_end(struct sockt *t)
{
	uint8_t buffer[5000];
	int fd = sock_pair(t, SERVER, 0);

	far_do(t, "send 0 %llu 3000 0 0", FAR_BASE);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	WANT_EQ(recv(fd, buffer, sizeof(buffer), MSG_WAITALL), 3000);
	DONE(io_check(buffer, FAR_BASE, 3000));
	WANT_EQ(recv(fd, buffer, sizeof(buffer), MSG_WAITALL), 0);
}

static void dontwait(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	char byte;

	WANT_ERR(recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN);
	WANT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	sock_await(fd, POLLIN);
	WANT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), 1);
	/* MSG_WAITALL does not wait either */
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	sock_await(fd, POLLIN);
	WANT_EQ(recv(fd, (char[2]){ 0 }, 2, MSG_DONTWAIT | MSG_WAITALL), 1);
}

/* TCP throws away so many bytes, whatever the buffer. */
static void trunc_(struct sockt *t)
{
	char buffer[10] = "untouched";
	int fd = sock_pair(t, CLIENT, 0);

	far_do(t, "send 0 %llu 10000 0 0", FAR_BASE);
	sock_await_queued(fd, 10000);
	WANT_EQ(recv(fd, NULL, 4000, MSG_TRUNC), 4000);
	WANT_EQ(recv(fd, buffer, 5, MSG_TRUNC), 5);
	WANT_EQ(memcmp(buffer, "untouched", 10), 0);
	DONE(io_recv(fd, FAR_BASE + 4005, 5995, 0));
}

static void more(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	DONE(io_send(fd, NEAR_BASE, 100, 10, MSG_MORE));
	DONE(io_send(fd, NEAR_BASE + 100, 10, 0, 0));
	far_do(t, "recv 0 %llu 110 0", NEAR_BASE);
	/* what more never came for goes, too, and at the latest with the end */
	DONE(io_send(fd, NEAR_BASE, 50, 0, MSG_MORE));
	far_do(t, "recv 0 %llu 50 0", NEAR_BASE);
	DONE(io_send(fd, NEAR_BASE, 70, 0, MSG_MORE));
	close(fd);
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 70);
}

static void cork(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), content = io_file(NEAR_BASE + 200, 500000);
	uint64_t i;

	far_start(t, "recv 0 %llu %d 0", NEAR_BASE, 3 * 500200);
	for (i = 0; i < 3; i++) {
		sock_set(fd, IPPROTO_TCP, TCP_CORK, 1);
		WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_CORK), 1);
		DONE(io_send(fd, NEAR_BASE + i * 500200, 200, 0, 0));
		if (i)
			content = io_file(NEAR_BASE + i * 500200 + 200, 500000);
		WANT_EQ(sendfile(fd, content, NULL, 500000), 500000);
		close(content);
		sock_set(fd, IPPROTO_TCP, TCP_CORK, 0);
	}
	far_end(t);
}

/* What is corked is sent when it is uncorked, and nothing else follows. */
static void uncork(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);

	sock_set(fd, IPPROTO_TCP, TCP_CORK, 1);
	DONE(io_send(fd, NEAR_BASE, 5, 0, 0));
	sock_set(fd, IPPROTO_TCP, TCP_CORK, 0);
	far_do(t, "recv 0 %llu 5 0", NEAR_BASE);
	sock_set(fd, IPPROTO_TCP, TCP_CORK, 1);
	DONE(io_send(fd, NEAR_BASE, 5, 0, 0));
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 5);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int signal)
{
	(void)signal;
	pipes++;
}

static void sigpipe(struct sockt *t)
{
	struct iovec vector = { "x", 1 };
	int fd = sock_pair(t, CLIENT, 0);

	signal(SIGPIPE, on_pipe);
	NEED(shutdown(fd, SHUT_WR));
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	WANT_EQ(pipes, 0);
	WANT_ERR(send(fd, "x", 1, 0), EPIPE);
	WANT_EQ(pipes, 1);
	WANT_ERR(write(fd, "x", 1), EPIPE);
	WANT_EQ(pipes, 2);
	WANT_ERR(writev(fd, &vector, 1), EPIPE);
	WANT_EQ(pipes, 3);
}

static void sigpipe_kills(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), status;
	pid_t pid = check_fork();

	if (!pid) {
		NEED(shutdown(fd, SHUT_WR));
		signal(SIGPIPE, SIG_DFL);
		(void)!write(fd, "x", 1);
		_exit(0);
	}
	WANT_EQ(waitpid(pid, &status, 0), pid);
	WANT(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

/* Whether urgent data is supported is another matter; nothing else may suffer. */
static void oob(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), mark;
	char buffer[16];

	far_do(t, "send 0 %llu 5 0 0", FAR_BASE);
	far_try(t, "send 0 %llu 1 0 %d", FAR_BASE + 5, MSG_OOB);
	sock_await(fd, POLLIN);
	(void)!recv(fd, buffer, 1, MSG_OOB | MSG_DONTWAIT);
	NEED(ioctl(fd, SIOCATMARK, &mark));
	WANT(recv(fd, buffer, sizeof(buffer), 0) >= 5);
	DONE(io_check(buffer, FAR_BASE, 5));
	(void)!send(fd, "u", 1, MSG_OOB | MSG_NOSIGNAL);
	(void)!recv(fd, buffer, sizeof(buffer), MSG_OOB | MSG_DONTWAIT);
	NEED(shutdown(fd, SHUT_WR));
	WANT(far_do(t, "recv-some 0") >= 0);
}

static void oob_none(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	char byte;

	WANT_ERR(recv(fd, &byte, 1, MSG_OOB), EINVAL);
}

const struct sockt_case flags_cases[] = {
	{ "flags-peek", "MSG_PEEK takes nothing", peek },
	{ "flags-peek-large", "MSG_PEEK | MSG_WAITALL", peek_large },
	{ "flags-peek-off", "SO_PEEK_OFF", peek_off },
	{ "flags-waitall", "MSG_WAITALL until all is there", waitall },
	{ "flags-waitall-end", "or the end has come", waitall_end },
	{ "flags-dontwait", "MSG_DONTWAIT: EAGAIN", dontwait },
	{ "flags-trunc", "MSG_TRUNC throws away, as TCP has it", trunc_ },
	{ "flags-more", "MSG_MORE keeps nothing for ever", more },
	{ "flags-cork-sendfile", "TCP_CORK, a header, sendfile(), three times", cork },
	{ "flags-uncork", "what is corked goes when it is uncorked, or ends", uncork },
	{ "flags-sigpipe", "EPIPE, SIGPIPE and MSG_NOSIGNAL", sigpipe },
	{ "flags-sigpipe-kills", "by default", sigpipe_kills },
	{ "flags-oob", "MSG_OOB disturbs nothing else", oob },
	{ "flags-oob-none", "MSG_OOB where there is none: EINVAL", oob_none },
	{ 0 }
};
