// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* epoll: exact events, level and edge. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "sockt.h"

static int new(void)
{
	return NEED(epoll_create1(EPOLL_CLOEXEC));
}

static void add(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

static void change(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	NEED(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event));
}

/* What it tells of one descriptor, for which it waits */
static uint32_t await(int epoll, int fd)
{
	struct epoll_event event = { 0 };

	WANT_EQ(epoll_wait(epoll, &event, 1, check_limit_s() * 1000), 1);
	WANT_EQ(event.data.fd, fd);
	return event.events;
}

static void none(int epoll)
{
	struct epoll_event event;

	WANT_EQ(epoll_wait(epoll, &event, 1, 0), 0);
}

static void level(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0), epoll = new(), i;

		add(epoll, fd, EPOLLIN | EPOLLRDHUP);
		none(epoll);
		far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
		for (i = 0; i < 3; i++)
			WANT_EQ(await(epoll, fd), EPOLLIN);
		sock_await_queued(fd, 100);
		DONE(io_recv(fd, FAR_BASE, 50, 0));
		WANT_EQ(await(epoll, fd), EPOLLIN);
		DONE(io_recv(fd, FAR_BASE + 50, 50, 0));
		none(epoll);
		change(epoll, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
		WANT_EQ(await(epoll, fd), EPOLLOUT);
		change(epoll, fd, EPOLLIN | EPOLLRDHUP);
		far_do(t, "shutdown 0 %d", SHUT_WR);
		WANT_EQ(await(epoll, fd), EPOLLIN | EPOLLRDHUP);
		NEED(shutdown(fd, SHUT_WR));
		WANT_EQ(await(epoll, fd), EPOLLIN | EPOLLRDHUP | EPOLLHUP);
		close(epoll);
		close(fd);
		far_do(t, "close 0");
	}
}

static void edge(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), epoll = new();

	add(epoll, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
	none(epoll);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(epoll, fd), EPOLLIN);
	none(epoll);
	/* more has come, although nobody has read */
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE + 10);
	WANT_EQ(await(epoll, fd), EPOLLIN);
	none(epoll);
	DONE(io_recv(fd, FAR_BASE, 20, 0));
	none(epoll);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	WANT_EQ(await(epoll, fd), EPOLLIN | EPOLLRDHUP);
	none(epoll);
}

static void edge_writer(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0), epoll = new();
	uint64_t sent;

	add(epoll, fd, EPOLLOUT | EPOLLET);
	WANT_EQ(await(epoll, fd), EPOLLOUT);
	none(epoll);
	sent = sock_fill(fd, NEAR_BASE);
	none(epoll);
	far_do(t, "recv 0 %llu %llu 0", NEAR_BASE, (unsigned long long)sent);
	WANT_EQ(await(epoll, fd), EPOLLOUT);
	DONE(io_send(fd, NEAR_BASE, 1, 0, 0));
}

/* As an event loop has it: all edges at once, everything by them, and 8 MiB both ways */
static void edge_loop(struct sockt *t)
{
	enum { BYTES = 4 << 20 };
	static uint8_t buffer[50000];
	int fd = sock_pair(t, CLIENT, 0), epoll = new();
	uint64_t sent = 0, got = 0;

	sock_nonblocking(fd, true);
	add(epoll, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	far_start(t, "both 0 %llu %d %llu %d 0", FAR_BASE, BYTES, NEAR_BASE, BYTES);
	while (sent < BYTES || got < BYTES) {
		uint32_t events = await(epoll, fd);
		ssize_t some;

		WANT_EQ(events & (EPOLLERR | EPOLLHUP), 0);
		while (got < BYTES && (some = recv(fd, buffer, sizeof(buffer), 0)) != -1) {
			WANT(some > 0);
			DONE(io_check(buffer, FAR_BASE + got, (size_t)some));
			got += (uint64_t)some;
		}
		while (sent < BYTES) {
			size_t want = BYTES - sent < sizeof(buffer) ? BYTES - sent : sizeof(buffer);

			io_fill(buffer, NEAR_BASE + sent, want);
			some = send(fd, buffer, want, MSG_NOSIGNAL);
			if (some < 0)
				break;
			sent += (uint64_t)some;
		}
	}
	far_end(t);
}

static void one_shot(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), epoll = new();

	add(epoll, fd, EPOLLIN | EPOLLONESHOT);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(epoll, fd), EPOLLIN);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE + 10);
	sock_await_queued(fd, 20);
	none(epoll);
	change(epoll, fd, EPOLLIN | EPOLLONESHOT);
	WANT_EQ(await(epoll, fd), EPOLLIN);
}

static void listener(struct sockt *t)
{
	int fd = sock_listen(t, 5), epoll = new();

	add(epoll, fd, EPOLLIN | EPOLLET);
	none(epoll);
	far_do(t, "connect 0 %d", sock_port(fd));
	WANT_EQ(await(epoll, fd), EPOLLIN);
	none(epoll);
	far_do(t, "connect 1 %d", sock_port(fd));
	WANT_EQ(await(epoll, fd), EPOLLIN);
	sock_accept(fd);
	sock_accept(fd);
}

static void exclusive(struct sockt *t)
{
	int fd = sock_listen(t, 5), a = new(), b = new();
	struct epoll_event event;

	add(a, fd, EPOLLIN | EPOLLEXCLUSIVE);
	add(b, fd, EPOLLIN | EPOLLEXCLUSIVE);
	far_do(t, "connect 0 %d", sock_port(fd));
	sock_await(fd, POLLIN);
	WANT(epoll_wait(a, &event, 1, 0) + epoll_wait(b, &event, 1, 0) >= 1);
	close(sock_accept(fd));
	none(a);
	none(b);
}

static void connecting(struct sockt *t)
{
	int fd = sock_new(t, SOCK_NONBLOCK), epoll = new();
	long port = far_do(t, "listen 0 1");

	add(epoll, fd, EPOLLIN | EPOLLOUT | EPOLLET);
	WANT_EQ(await(epoll, fd), EPOLLOUT | EPOLLHUP);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EINPROGRESS);
	WANT_EQ(await(epoll, fd) & ~(uint32_t)EPOLLIN, EPOLLOUT);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
	far_do(t, "accept 0 1");
	far_do(t, "send 1 %llu 1 0 0", FAR_BASE);
	WANT_EQ(await(epoll, fd) & EPOLLIN, EPOLLIN);
}

static void reset(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), epoll = new();

	add(epoll, fd, 0);
	none(epoll);
	far_do(t, "linger 0 0");
	far_do(t, "close 0");
	WANT_EQ(await(epoll, fd), EPOLLERR | EPOLLHUP);
}

/* A descriptor that is closed is gone from the set; a copy of it keeps it there. */
static void closed(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), epoll = new(), copy = NEED(dup(fd));

	add(epoll, fd, EPOLLIN);
	close(fd);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	WANT_EQ(await(epoll, fd), EPOLLIN);
	close(copy);
	none(epoll);
}

const struct sockt_case epoll_cases[] = {
	{ "epoll-level", "and all events of an end", level },
	{ "epoll-edge", "an event for each arrival, and no more", edge },
	{ "epoll-edge-writer", "when there is room again, once", edge_writer },
	{ "epoll-edge-loop", "4 MiB both ways by edges alone", edge_loop },
	{ "epoll-oneshot", "until it is armed again", one_shot },
	{ "epoll-listener", "an edge for each connection", listener },
	{ "epoll-exclusive", "EPOLLEXCLUSIVE", exclusive },
	{ "epoll-connecting", "before, while and after connecting, by edges", connecting },
	{ "epoll-reset", "EPOLLERR and EPOLLHUP, unasked", reset },
	{ "epoll-closed", "a closed descriptor, and its copy", closed },
	{ 0 }
};
