// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* One socket in several processes and descriptors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockt.h"

static void forked(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);
		pid_t pid;

		far_start(t, "both 0 %llu 1000000 %llu 1000000 0", FAR_BASE, NEAR_BASE);
		pid = check_fork();
		if (!pid) {
			DONE(io_send(fd, NEAR_BASE, 1000000, 0, 0));
			_exit(0);
		}
		DONE(io_recv(fd, FAR_BASE, 1000000, 0));
		check_child(pid);
		far_end(t);
		close(fd);
		WANT_EQ(far_do(t, "recv-some 0"), 0);
		far_do(t, "close 0");
	}
}

/* One process closes it: nothing ends. One shuts it down: it is shut down for all. */
static void forked_ends(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	pid_t pid = check_fork();

	if (!pid) {
		close(fd);
		_exit(0);
	}
	check_child(pid);
	DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
	far_do(t, "recv 0 %llu 1000 0", NEAR_BASE);
	pid = check_fork();
	if (!pid) {
		NEED(shutdown(fd, SHUT_WR));
		_exit(0);
	}
	check_child(pid);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	WANT_EQ(far_do(t, "recv-some 0"), 0);
	far_do(t, "send 0 %llu 1000 0 0", FAR_BASE);
	DONE(io_recv(fd, FAR_BASE, 1000, 0));
}

/* A server that forks for each connection, whose parent closes it at once */
static void forking_server(struct sockt *t)
{
	int listener = sock_listen(t, 16), i;

	for (i = 0; i < 10; i++) {
		int fd;
		pid_t pid;

		far_start(t, "storm %d 1 3", sock_port(listener));
		fd = sock_accept(listener);
		pid = check_fork();
		if (!pid) {
			close(listener);
			WANT_EQ(io_echo_one(fd), 300);
			_exit(0);
		}
		close(fd);
		far_end(t);
		check_child(pid);
	}
}

static void dupped(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), copy = NEED(dup(fd)), third = NEED(fcntl(fd, F_DUPFD_CLOEXEC, 100));

	close(fd);
	DONE(io_send(copy, NEAR_BASE, 10, 0, 0));
	DONE(io_send(third, NEAR_BASE + 10, 10, 0, 0));
	far_do(t, "recv 0 %llu 20 0", NEAR_BASE);
	sock_nonblocking(copy, true);
	WANT(fcntl(third, F_GETFL) & O_NONBLOCK);
	close(copy);
	close(third);
	WANT_EQ(far_do(t, "recv-some 0"), 0);
}

static void hand(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec vector = { "x", 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	WANT_EQ(sendmsg(to, &message, 0), 1);
}

static int take(int from)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd;

	WANT_EQ(recvmsg(from, &message, 0), 1);
	WANT(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Some bytes are under way, and its first owner is gone, when another process gets it. */
static void handed(struct sockt *t)
{
	int pair[2], fd;
	pid_t pid;

	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = check_fork();
	if (!pid) {
		fd = take(pair[1]);
		DONE(io_recv(fd, FAR_BASE, 5000, 0));
		DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
		NEED(shutdown(fd, SHUT_WR));
		_exit(0);
	}
	fd = sock_pair(t, SERVER, 0);
	far_do(t, "send 0 %llu 5000 0 0", FAR_BASE);
	hand(pair[0], fd);
	close(fd);
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 5000);
	check_child(pid);
}

static void handed_listener(struct sockt *t)
{
	int pair[2], listener;
	pid_t pid;

	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = check_fork();
	if (!pid) {
		listener = take(pair[1]);
		DONE(io_echo(listener, 3));
		_exit(0);
	}
	listener = sock_listen(t, 5);
	far_start(t, "storm %d 3 1", sock_port(listener));
	hand(pair[0], listener);
	close(listener);
	far_end(t);
	check_child(pid);
}

/* In a Unix socket's queue when that is closed: nobody has it any more. */
static void strewn(struct sockt *t)
{
	int pair[2], fd = sock_pair(t, CLIENT, 0);

	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	hand(pair[0], fd);
	close(fd);
	DONE(io_send(take(pair[1]), NEAR_BASE, 10, 0, 0));
	far_do(t, "recv 0 %llu 10 0", NEAR_BASE);
	close(pair[0]);
	close(pair[1]);
	fd = sock_pair(t, CLIENT, 1);
	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	hand(pair[0], fd);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	WANT_EQ(far_do(t, "recv-some 1"), 0);
}

const struct sockt_case share_cases[] = {
	{ "share-fork", "the child sends, the parent receives", forked },
	{ "share-fork-ends", "close() of a child ends nothing, its shutdown() does", forked_ends },
	{ "share-forking-server", "a process for each connection", forking_server },
	{ "share-dup", "it ends with the last descriptor", dupped },
	{ "share-handed", "SCM_RIGHTS, with bytes under way", handed },
	{ "share-handed-listener", "SCM_RIGHTS of a listener", handed_listener },
	{ "share-strewn", "SCM_RIGHTS that nobody receives", strewn },
	{ 0 }
};
