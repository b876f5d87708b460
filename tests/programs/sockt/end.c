// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* shutdown(), close(), the end of a stream, resets. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sockt.h"

static void half(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);

		DONE(io_send(fd, NEAR_BASE, 100000, 0, 0));
		NEED(shutdown(fd, SHUT_WR));
		NEED(shutdown(fd, SHUT_WR));
		WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 100000);
		/* the other direction goes on */
		far_start(t, "send 0 %llu 1000000 0 0", FAR_BASE);
		DONE(io_recv(fd, FAR_BASE, 1000000, 0));
		far_end(t);
		far_do(t, "shutdown 0 %d", SHUT_WR);
		WANT_EQ(io_drain(fd, 0), 0);
		WANT_EQ(io_drain(fd, 0), 0);
		close(fd);
		far_do(t, "close 0");
	}
}

/* TCP goes on receiving: what comes is read before the end is. */
static void read_half(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	char byte;

	NEED(shutdown(fd, SHUT_RD));
	WANT_EQ(recv(fd, &byte, 1, 0), 0);
	WANT_EQ(sock_events(fd) & (POLLIN | POLLRDHUP | POLLOUT | POLLHUP), POLLIN | POLLRDHUP | POLLOUT);
	DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
	far_do(t, "recv 0 %llu 1000 0", NEAR_BASE);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	sock_await_queued(fd, 10);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
	WANT_EQ(recv(fd, &byte, 1, 0), 0);
}

static void both_halves(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);
	char byte;

	DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
	NEED(shutdown(fd, SHUT_RDWR));
	WANT_EQ(recv(fd, &byte, 1, 0), 0);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 1000);
	far_do(t, "close 0");
	sock_await(fd, POLLHUP);
	/* The other side's end comes in its time, of which no event tells: both halves have ended here. */
	while (!shutdown(fd, SHUT_RDWR))
		usleep(1000);
	WANT_EQ(errno, ENOTCONN);
}

static void bad_how(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	WANT_ERR(shutdown(fd, 3), EINVAL);
	WANT_ERR(shutdown(fd, -1), EINVAL);
	DONE(io_send(fd, NEAR_BASE, 1, 0, 0));
	far_do(t, "recv 0 %llu 1 0", NEAR_BASE);
}

static void write_and_close(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);
		uint64_t sent = sock_fill(fd, NEAR_BASE);

		NEED(close(fd));
		WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), (long)sent);
		WANT_EQ(far_do(t, "recv-some 0"), 0);
		far_do(t, "close 0");
	}
}

/* The same by a process that ends, of itself or not. */
static void write_and_die(struct sockt *t)
{
	int way;

	for (way = 0; way < 2; way++) {
		int told[2], status;
		uint64_t sent;
		pid_t pid;

		NEED(pipe(told));
		pid = check_fork();
		if (!pid) {
			sent = sock_fill(sock_pair(t, CLIENT, 0), NEAR_BASE);
			WANT_EQ(write(told[1], &sent, sizeof(sent)), sizeof(sent));
			if (way)
				raise(SIGKILL);
			_exit(0);
		}
		WANT_EQ(read(told[0], &sent, sizeof(sent)), sizeof(sent));
		NEED(waitpid(pid, &status, 0));
		WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), (long)sent);
		far_do(t, "close 0");
	}
}

/* Many short connections whose last message must not be lost */
static void last_message(struct sockt *t)
{
	long port = far_do(t, "listen 0 16");
	int i;

	for (i = 0; i < 200; i++) {
		int fd = sock_reach(t, (int)port);

		DONE(io_send(fd, NEAR_BASE, (unsigned int)(1 + i * 97), 0, 0));
		NEED(close(fd));
		far_do(t, "accept 0 1");
		WANT_EQ(far_do(t, "drain 1 %llu", NEAR_BASE), 1 + i * 97);
		far_do(t, "close 1");
	}
}

static void close_unread(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);
		char byte;

		DONE(io_send(fd, NEAR_BASE, 100, 0, 0));
		far_do(t, "poll 0 %d", POLLIN);
		far_do(t, "close 0");
		sock_await(fd, POLLERR);
		WANT_EQ(sock_events(fd) & (POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP),
			POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP);
		WANT_ERR(recv(fd, &byte, 1, 0), ECONNRESET);
		WANT_EQ(recv(fd, &byte, 1, 0), 0);
		WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
		close(fd);
	}
}

static void reset(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);

		far_do(t, "linger 0 0");
		far_do(t, "close 0");
		sock_await(fd, POLLERR);
		WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), ECONNRESET);
		WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
		WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
		close(fd);
		fd = sock_pair(t, role, 0);
		sock_linger(fd, 0);
		close(fd);
		far_do(t, "poll 0 %d", POLLERR);
		WANT_EQ(far_try(t, "recv-some 0"), -ECONNRESET);
		far_do(t, "close 0");
	}
}

static void reset_of_send(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	far_do(t, "linger 0 0");
	far_do(t, "close 0");
	sock_await(fd, POLLERR);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), ECONNRESET);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
}

/* What is sent to a peer that has closed is answered by a reset, after which nothing more can be sent. */
static void send_after_close(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	char byte;

	far_do(t, "close 0");
	sock_await(fd, POLLRDHUP);
	WANT_EQ(recv(fd, &byte, 1, 0), 0);
	WANT_EQ(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	sock_await(fd, POLLHUP);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	WANT_EQ(recv(fd, &byte, 1, 0), 0);
}

/* Nor is so much sent at once that no window has room for it. */
static void send_much_after_close(struct sockt *t)
{
	const size_t much = 64 << 20;
	void *data = mmap(NULL, much, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = sock_pair(t, CLIENT, 0);

	WANT(data != MAP_FAILED);
	far_do(t, "close 0");
	sock_await(fd, POLLRDHUP);
	WANT(send(fd, data, much, MSG_NOSIGNAL) < (ssize_t)much);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	munmap(data, much);
}

static void linger(struct sockt *t)
{
	struct linger is;
	socklen_t len = sizeof(is);
	int fd = sock_pair(t, CLIENT, 0);
	uint64_t sent;
	double begin;

	sock_linger(fd, 3600);
	NEED(getsockopt(fd, SOL_SOCKET, SO_LINGER, &is, &len));
	WANT(is.l_onoff && is.l_linger == 3600);
	DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
	NEED(close(fd));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 1000);
	far_do(t, "close 0");
	/* a reader that does not read: it waits for as long as it was told to, and still loses nothing */
	fd = sock_pair(t, CLIENT, 0);
	sent = sock_fill(fd, NEAR_BASE);
	sock_linger(fd, 1);
	begin = check_seconds();
	NEED(close(fd));
	WANT(check_seconds() - begin > 0.9);
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), (long)sent);
}

/* It waits for a reader that comes. */
static void linger_until_read(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);
	uint64_t sent = sock_fill(fd, NEAR_BASE);

	sock_linger(fd, 3600);
	far_start(t, "recv 0 %llu %llu 1000", NEAR_BASE, (unsigned long long)sent);
	NEED(close(fd));
	far_end(t);
	WANT_EQ(far_do(t, "recv-some 0"), 0);
}

static void at_once(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	DONE(io_send(fd, NEAR_BASE, 10, 0, 0));
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(io_drain(fd, FAR_BASE), 10);
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 10);
	sock_await(fd, POLLHUP);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
}

/* The other side ends while this one is blocked. */
static void wakes(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	pid_t pid = check_fork();
	char byte;

	if (!pid) {
		WANT_EQ(recv(fd, &byte, 1, 0), 0);
		_exit(0);
	}
	far_do(t, "close 0");
	check_child(pid);
	fd = sock_pair(t, CLIENT, 0);
	sock_fill(fd, NEAR_BASE);
	pid = check_fork();
	if (!pid) {
		WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), ECONNRESET);
		_exit(0);
	}
	/* unread: a reset */
	far_do(t, "close 0");
	check_child(pid);
}

const struct sockt_case end_cases[] = {
	{ "end-half", "SHUT_WR: the end after all data, and the other direction goes on", half },
	{ "end-read-half", "SHUT_RD, as TCP has it", read_half },
	{ "end-both-halves", "SHUT_RDWR", both_halves },
	{ "end-bad-how", "EINVAL", bad_how },
	{ "end-write-and-close", "nothing is lost", write_and_close },
	{ "end-write-and-die", "nor when the process exits or is killed", write_and_die },
	{ "end-last-message", "200 connections: write, close", last_message },
	{ "end-close-unread", "ECONNRESET for the peer", close_unread },
	{ "end-reset", "SO_LINGER 0: ECONNRESET, once", reset },
	{ "end-reset-of-send", "the same, told to a sender", reset_of_send },
	{ "end-send-after-close", "a reset, then EPIPE", send_after_close },
	{ "end-send-much-after-close", "the same, of more than a window has room for", send_much_after_close },
	{ "end-linger", "SO_LINGER waits for so long, and loses nothing", linger },
	{ "end-linger-until-read", "SO_LINGER waits until all is there", linger_until_read },
	{ "end-at-once", "both sides", at_once },
	{ "end-wakes", "who is blocked in recv() or send()", wakes },
	{ 0 }
};
