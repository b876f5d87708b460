// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What poll() and select() tell of, and SIGIO. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <unistd.h>
#include "sockt.h"

#define ALL (POLLIN | POLLPRI | POLLOUT | POLLERR | POLLHUP | POLLRDHUP | POLLRDNORM | POLLWRNORM)

static void states(struct sockt *t)
{
	int fd = sock_new(t, 0), listener = sock_listen(t, 5), other;

	WANT_EQ(sock_events(fd) & ALL, POLLOUT | POLLWRNORM | POLLHUP);
	WANT_EQ(sock_events(listener) & ALL, 0);
	far_do(t, "connect 0 %d", sock_port(listener));
	WANT_EQ(sock_await(listener, POLLIN | POLLOUT | POLLRDHUP), POLLIN);
	WANT_EQ(sock_events(listener) & ALL, POLLIN | POLLRDNORM);
	other = sock_accept(listener);
	WANT_EQ(sock_events(listener) & ALL, 0);
	WANT_EQ(sock_events(other) & ALL, POLLOUT | POLLWRNORM);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	sock_await(other, POLLIN);
	WANT_EQ(sock_events(other) & ALL, POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM);
	DONE(io_recv(other, FAR_BASE, 1, 0));
	WANT_EQ(sock_events(other) & ALL, POLLOUT | POLLWRNORM);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	sock_await(other, POLLRDHUP);
	WANT_EQ(sock_events(other) & ALL, POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM | POLLRDHUP);
	NEED(shutdown(other, SHUT_WR));
	WANT_EQ(sock_events(other) & ALL, POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM | POLLRDHUP | POLLHUP);
}

static void own_half(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(sock_events(fd) & ALL, POLLOUT | POLLWRNORM);
	WANT_EQ(far_do(t, "drain 0 0"), 0);
	WANT_EQ(far_do(t, "poll 0 %d", POLLRDHUP | POLLHUP), POLLRDHUP);
}

static void wakes_reader(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	pid_t pid = check_fork();

	if (!pid) {
		WANT_EQ(sock_await(fd, POLLIN), POLLIN);
		DONE(io_recv(fd, FAR_BASE, 10, 0));
		sock_await(fd, POLLRDHUP);
		_exit(0);
	}
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	check_child(pid);
}

static void wakes_writer(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);
	uint64_t sent = sock_fill(fd, NEAR_BASE);
	pid_t pid = check_fork();

	if (!pid) {
		WANT_EQ(sock_await(fd, POLLOUT), POLLOUT);
		_exit(0);
	}
	far_do(t, "recv 0 %llu %llu 0", NEAR_BASE, (unsigned long long)sent);
	check_child(pid);
}

static void selects(struct sockt *t)
{
	struct timeval now = { 0 };
	int fd = sock_pair(t, CLIENT, 0);
	fd_set in, out, special;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&special);
	FD_SET(fd, &in);
	FD_SET(fd, &out);
	FD_SET(fd, &special);
	WANT_EQ(select(fd + 1, &in, &out, &special, &now), 1);
	WANT(!FD_ISSET(fd, &in) && FD_ISSET(fd, &out) && !FD_ISSET(fd, &special));
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	FD_SET(fd, &in);
	WANT_EQ(select(fd + 1, &in, NULL, NULL, NULL), 1);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
	far_do(t, "close 0");
	FD_SET(fd, &in);
	WANT_EQ(select(fd + 1, &in, NULL, NULL, NULL), 1);
	WANT_EQ(io_drain(fd, 0), 0);
}

/* Several at once, of which one moves */
static void several(struct sockt *t)
{
	struct pollfd fds[8];
	size_t i, round;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = (struct pollfd){ .fd = sock_pair(t, (enum role)(i % ROLES), (int)i), .events = POLLIN };
	for (round = 0; round < ARRAY_SIZE(fds); round++) {
		far_do(t, "send %zu %llu 10 0 0", round, FAR_BASE);
		WANT_EQ(poll(fds, ARRAY_SIZE(fds), check_limit_s() * 1000), 1);
		for (i = 0; i < ARRAY_SIZE(fds); i++)
			WANT_EQ(fds[i].revents, i == round ? POLLIN : 0);
		sock_await_queued(fds[round].fd, 10);
		DONE(io_recv(fds[round].fd, FAR_BASE, 10, 0));
	}
}

static void sigio(struct sockt *t)
{
	struct timespec limit = { .tv_sec = check_limit_s() };
	int fd = sock_pair(t, CLIENT, 0);
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	NEED(sigprocmask(SIG_BLOCK, &set, NULL));
	NEED(fcntl(fd, F_SETOWN, getpid()));
	NEED(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(sigtimedwait(&set, &info, &limit), SIGIO);
}

const struct sockt_case poll_cases[] = {
	{ "poll-states", "all events of each state", states },
	{ "poll-own-half", "SHUT_WR of its own tells nothing", own_half },
	{ "poll-wakes-reader", "for data and for the end", wakes_reader },
	{ "poll-wakes-writer", "when there is room", wakes_writer },
	{ "poll-select", "select()", selects },
	{ "poll-several", "eight, of which one moves", several },
	{ "poll-sigio", "O_ASYNC", sigio },
	{ 0 }
};
