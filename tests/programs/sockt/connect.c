// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* connect(), and sockets that are not connected. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "sockt.h"

/* A port of the far side at which nobody listens, but somebody has until now */
static int closed_port(struct sockt *t)
{
	long port = far_do(t, "listen 0 1");

	far_do(t, "close 0");
	return (int)port;
}

/* Connect again and again without waiting, until one is not answered, since the listener's backlog is full. */
static int unanswered(struct sockt *t, long port, int *fds, int max)
{
	int i;

	for (i = 0; i < max; i++) {
		struct pollfd p = { .events = POLLOUT };

		fds[i] = p.fd = sock_new(t, SOCK_NONBLOCK);
		WANT_ERR(sock_connect(fds[i], sock_far(t, (int)port)), EINPROGRESS);
		if (!poll(&p, 1, 1000) && sock_connect(fds[i], sock_far(t, (int)port)) && errno == EALREADY)
			return i;
	}
	check_fail(__FILE__, __LINE__, "%d connections fit a backlog of none", max);
}

static void blocking(struct sockt *t)
{
	long port = far_do(t, "listen 0 5");
	int fd = sock_reach(t, (int)port);

	far_do(t, "accept 0 1");
	DONE(io_send(fd, NEAR_BASE, 10, 0, 0));
	far_do(t, "recv 1 %llu 10 0", NEAR_BASE);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EISCONN);
}

static void nonblocking(struct sockt *t)
{
	long port = far_do(t, "listen 0 5");
	int fd = sock_new(t, SOCK_NONBLOCK);

	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EINPROGRESS);
	far_do(t, "accept 0 1");
	WANT_EQ(sock_await(fd, POLLOUT) & (POLLOUT | POLLERR | POLLHUP), POLLOUT);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
	WANT_EQ(sock_connect(fd, sock_far(t, (int)port)), 0);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EISCONN);
	far_do(t, "send 1 %llu 1 0 0", FAR_BASE);
	sock_await(fd, POLLIN);
	DONE(io_recv(fd, FAR_BASE, 1, 0));
}

static void under_way(struct sockt *t)
{
	long port = far_do(t, "listen 0 0");
	int fds[16], last = unanswered(t, port, fds, 16), i;

	WANT_ERR(sock_connect(fds[last], sock_far(t, (int)port)), EALREADY);
	WANT_ERR(send(fds[last], "x", 1, MSG_NOSIGNAL), EAGAIN);
	WANT_ERR(recv(fds[last], &i, 1, 0), EAGAIN);
	WANT_EQ(sock_events(fds[last]), 0);
	WANT_EQ(sock_get(fds[last], SOL_SOCKET, SO_ERROR), 0);
	/* who has tried in vain does so again ever more rarely: they all come with the next try */
	far_do(t, "backlog 0 64");
	for (i = 0; i <= last; i++)
		far_do(t, "accept 0 %d", i + 1);
	for (i = 0; i <= last; i++) {
		sock_await(fds[i], POLLOUT);
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_ERROR), 0);
	}
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void interrupted(struct sockt *t)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value.tv_usec = 200000 }, never = { 0 };
	long port = far_do(t, "listen 0 0");
	int fds[16], last = unanswered(t, port, fds, 16), i;
	int fd = sock_new(t, 0);

	sigaction(SIGALRM, &action, NULL);
	soon.it_interval = soon.it_value;
	setitimer(ITIMER_REAL, &soon, NULL);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)check_limit_s());
	far_do(t, "backlog 0 64");
	for (i = 0; i <= last + 1; i++)
		far_do(t, "accept 0 %d", i + 1);
	WANT_EQ(sock_await(fd, POLLOUT) & (POLLOUT | POLLERR | POLLHUP), POLLOUT);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void time_out(struct sockt *t)
{
	struct timeval timeout = { .tv_usec = 200000 };
	long port = far_do(t, "listen 0 0");
	int fds[16], fd = sock_new(t, 0);

	unanswered(t, port, fds, 16);
	NEED(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)));
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EINPROGRESS);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)port)), EALREADY);
}

static void refused(struct sockt *t)
{
	int fd = sock_new(t, 0), port = closed_port(t);

	WANT_ERR(sock_connect(fd, sock_far(t, port)), ECONNREFUSED);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
	WANT_ERR(sock_connect(fd, sock_far(t, port)), ECONNREFUSED);
	/* the same socket, to somebody who is there */
	NEED(sock_connect(fd, sock_far(t, (int)far_do(t, "listen 1 5"))));
	far_do(t, "accept 1 2");
	DONE(io_send(fd, NEAR_BASE, 10, 0, 0));
	far_do(t, "recv 2 %llu 10 0", NEAR_BASE);
}

static void refused_nonblocking(struct sockt *t)
{
	int fd = sock_new(t, SOCK_NONBLOCK), port = closed_port(t);

	WANT_ERR(sock_connect(fd, sock_far(t, port)), EINPROGRESS);
	sock_await(fd, POLLERR);
	WANT_EQ(sock_events(fd) & (POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP),
		POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void refused_then_not(struct sockt *t)
{
	int fd = sock_new(t, SOCK_NONBLOCK), port = closed_port(t);

	WANT_ERR(sock_connect(fd, sock_far(t, port)), EINPROGRESS);
	sock_await(fd, POLLERR);
	WANT_ERR(sock_connect(fd, sock_far(t, port)), ECONNREFUSED);
	WANT_ERR(sock_connect(fd, sock_far(t, (int)far_do(t, "listen 1 5"))), EINPROGRESS);
	WANT_EQ(sock_await(fd, POLLOUT) & (POLLERR | POLLHUP), 0);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_ERROR), 0);
	far_do(t, "accept 1 2");
}

/* TCP's simultaneous open with oneself */
static void to_self(struct sockt *t)
{
	int fd = sock_new(t, 0);
	struct sockaddr_storage name, peer;

	NEED(sock_bind(fd, sock_near(t, 0)));
	NEED(sock_connect(fd, sock_name(fd)));
	name = sock_name(fd);
	peer = sock_peer(fd);
	WANT(sock_same(&name, &peer));
	DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
	DONE(io_recv(fd, NEAR_BASE, 1000, 0));
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(io_drain(fd, NEAR_BASE + 1000), 0);
}

/* To a listener of the same process, at the near side's own address */
static void to_own_listener(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd = sock_new(t, 0), other;

	NEED(sock_connect(fd, sock_near(t, sock_port(listener))));
	other = sock_accept(listener);
	DONE(io_send(fd, NEAR_BASE, 10000, 0, 0));
	DONE(io_recv(other, NEAR_BASE, 10000, 0));
	close(fd);
	WANT_EQ(io_drain(other, 0), 0);
}

static void to_loopback(struct sockt *t)
{
	struct sockaddr_storage address = { .ss_family = (sa_family_t)t->family };
	int listener = sock_new(t, 0), fd = sock_new(t, 0), other;

	if (t->family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	NEED(sock_bind(listener, address));
	NEED(listen(listener, 5));
	NEED(sock_connect(fd, sock_name(listener)));
	other = sock_accept(listener);
	DONE(io_both(fd, NEAR_BASE, 1, 0, 0, 0));
	DONE(io_recv(other, NEAR_BASE, 1, 0));
}

static void dissolved(struct sockt *t)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	long port = far_do(t, "listen 0 5");
	int fd = sock_reach(t, (int)port);

	far_do(t, "accept 0 1");
	NEED(connect(fd, &none, sizeof(none)));
	WANT_ERR(getpeername(fd, (struct sockaddr *)&peer, &len), ENOTCONN);
	WANT(far_try(t, "recv-some 1") <= 0);
	NEED(sock_connect(fd, sock_far(t, (int)port)));
	far_do(t, "accept 0 2");
	DONE(io_send(fd, NEAR_BASE, 1, 0, 0));
	far_do(t, "recv 2 %llu 1 0", NEAR_BASE);
}

static void listening(struct sockt *t)
{
	int listener = sock_listen(t, 5);
	char byte;

	WANT_ERR(sock_connect(listener, sock_far(t, (int)far_do(t, "listen 0 5"))), EISCONN);
	WANT_ERR(recv(listener, &byte, 1, 0), ENOTCONN);
	WANT_ERR(send(listener, "x", 1, MSG_NOSIGNAL), EPIPE);
}

static void bad_address(struct sockt *t)
{
	struct sockaddr_storage address = sock_far(t, 1);
	int fd = sock_new(t, 0);

	WANT_ERR(connect(fd, (struct sockaddr *)&address, 1), EINVAL);
	WANT_ERR(connect(fd, (struct sockaddr *)&address, sizeof(struct sockaddr_in) - 1), EINVAL);
	address.ss_family = AF_UNIX;
	WANT_ERR(connect(fd, (struct sockaddr *)&address, sizeof(address)), EAFNOSUPPORT);
	WANT_ERR(connect(fd, NULL, sizeof(address)), EFAULT);
	WANT_ERR(connect(fd, (struct sockaddr *)&address, sizeof(address) + 1), EINVAL);
}

static void unconnected(struct sockt *t)
{
	struct sockaddr_storage peer, name;
	socklen_t len = sizeof(peer);
	int fd = sock_new(t, 0);
	char byte;

	WANT_ERR(getpeername(fd, (struct sockaddr *)&peer, &len), ENOTCONN);
	WANT_ERR(recv(fd, &byte, 1, 0), ENOTCONN);
	WANT_ERR(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	WANT_ERR(shutdown(fd, SHUT_WR), ENOTCONN);
	WANT_ERR(accept(fd, NULL, NULL), EINVAL);
	WANT_EQ(sock_events(fd) & (POLLIN | POLLOUT | POLLHUP | POLLERR), POLLOUT | POLLHUP);
	name = sock_name(fd);
	WANT_EQ(sock_address_port(&name), 0);
	WANT_EQ(name.ss_family, t->family);
}

/* The data that a client sends at once, and its end, are there when it is accepted. */
static void then_gone(struct sockt *t)
{
	long port = far_do(t, "listen 0 5");
	int fd = sock_reach(t, (int)port);

	DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
	close(fd);
	far_do(t, "accept 0 1");
	WANT_EQ(far_do(t, "drain 1 %llu", NEAR_BASE), 5000);
}

static void *connect_one(void *arg)
{
	struct sockt *t = ((void **)arg)[0];
	int port = *(int *)((void **)arg)[1], i;

	for (i = 0; i < 20; i++) {
		int fd = sock_reach(t, port);

		DONE(io_send(fd, NEAR_BASE, 100, 0, 0));
		DONE(io_recv(fd, NEAR_BASE, 100, 0));
		close(fd);
	}
	return NULL;
}

static void at_once(struct sockt *t)
{
	int port = (int)far_do(t, "listen 0 64");
	void *args[] = { t, &port };
	pthread_t threads[8];
	size_t i;

	far_start(t, "echo 0 %zu", ARRAY_SIZE(threads) * 20);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		WANT_EQ(pthread_create(&threads[i], NULL, connect_one, args), 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	WANT_EQ(far_end(t), (long)ARRAY_SIZE(threads) * 20 * 100);
}

const struct sockt_case connect_cases[] = {
	{ "connect-blocking", "and once more: EISCONN", blocking },
	{ "connect-nonblocking", "EINPROGRESS, POLLOUT, SO_ERROR, 0, EISCONN", nonblocking },
	{ "connect-under-way", "EALREADY and EAGAIN while the backlog is full; all come through", under_way },
	{ "connect-interrupted", "EINTR, and it goes on", interrupted },
	{ "connect-timeout", "SO_SNDTIMEO: EINPROGRESS", time_out },
	{ "connect-refused", "ECONNREFUSED, then to a listener", refused },
	{ "connect-refused-nonblocking", "events and SO_ERROR", refused_nonblocking },
	{ "connect-refused-again", "the second connect() tells, the third connects", refused_then_not },
	{ "connect-self", "to its own port", to_self },
	{ "connect-own-listener", "in the same process", to_own_listener },
	{ "connect-loopback", "by the loopback address", to_loopback },
	{ "connect-unspec", "AF_UNSPEC dissolves it, and it connects again", dissolved },
	{ "connect-listening", "what is listening cannot connect, send or receive", listening },
	{ "connect-bad-address", "EINVAL, EAFNOSUPPORT, EFAULT", bad_address },
	{ "connect-not", "what a socket that is not connected says to all calls", unconnected },
	{ "connect-then-gone", "data and end before accept()", then_gone },
	{ "connect-threads", "eight threads, twenty connections each", at_once },
	{ 0 }
};
