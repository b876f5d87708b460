// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Listeners, and what they hand out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include "sockt.h"

static void flags(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd, i;

	for (i = 0; i < 4; i++) {
		int want = (i & 1 ? SOCK_CLOEXEC : 0) | (i & 2 ? SOCK_NONBLOCK : 0);

		far_do(t, "connect 0 %d", sock_port(listener));
		sock_await(listener, POLLIN);
		fd = NEED(accept4(listener, NULL, NULL, want));
		WANT_EQ(!!(fcntl(fd, F_GETFD) & FD_CLOEXEC), i & 1);
		WANT_EQ(!!(fcntl(fd, F_GETFL) & O_NONBLOCK), !!(i & 2));
		close(fd);
		far_do(t, "close 0");
	}
	WANT_ERR(accept4(listener, NULL, NULL, 1), EINVAL);
}

static void nonblocking(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;

	sock_nonblocking(listener, true);
	WANT_ERR(accept(listener, NULL, NULL), EAGAIN);
	WANT_EQ(sock_events(listener), 0);
	far_do(t, "connect 0 %d", sock_port(listener));
	WANT_EQ(sock_await(listener, POLLIN), POLLIN);
	fd = NEED(accept(listener, NULL, NULL));
	/* that is the listener's alone */
	WANT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	WANT_ERR(accept(listener, NULL, NULL), EAGAIN);
	WANT_EQ(sock_events(listener), 0);
}

static void blocking(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;

	far_start(t, "connect 0 %d", sock_port(listener));
	fd = NEED(accept(listener, NULL, NULL));
	far_end(t);
	DONE(io_send(fd, NEAR_BASE, 3, 0, 0));
	far_do(t, "recv 0 %llu 3 0", NEAR_BASE);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void interrupted(struct sockt *t)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value.tv_usec = 100000, .it_interval.tv_usec = 100000 }, never = { 0 };
	int listener = sock_listen(t, 5);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	WANT_ERR(accept(listener, NULL, NULL), EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)check_limit_s());
	far_do(t, "connect 0 %d", sock_port(listener));
	sock_accept(listener);
}

static void time_out(struct sockt *t)
{
	struct timeval timeout = { .tv_usec = 100000 };
	int listener = sock_listen(t, 5);

	NEED(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)));
	WANT_ERR(accept(listener, NULL, NULL), EAGAIN);
}

static void address(struct sockt *t)
{
	struct sockaddr_storage peer = { 0 }, name;
	socklen_t len = sizeof(peer);
	int listener = sock_listen(t, 5), fd;

	far_do(t, "connect 0 %d", sock_port(listener));
	sock_await(listener, POLLIN);
	fd = NEED(accept(listener, (struct sockaddr *)&peer, &len));
	WANT_EQ(len, sock_len(&t->far));
	name = sock_peer(fd);
	WANT(sock_same(&peer, &name));
	sock_set_port(&peer, 0);
	WANT(sock_same(&peer, &t->far));
	WANT_EQ(sock_port(fd), sock_port(listener));
	/* a short buffer gets a part, and the length of all */
	far_do(t, "connect 1 %d", sock_port(listener));
	sock_await(listener, POLLIN);
	len = 2;
	NEED(accept(listener, (struct sockaddr *)&peer, &len));
	WANT_EQ(len, sock_len(&t->far));
}

/* More connect than the backlog takes; each is served in the end. */
static void overflow(struct sockt *t)
{
	enum { CONNECTIONS = 24 };
	int listener = sock_listen(t, 2);
	pid_t pid = check_fork();

	if (!pid) {
		DONE(io_echo(listener, CONNECTIONS));
		_exit(0);
	}
	far_do(t, "storm %d %d 1", sock_port(listener), CONNECTIONS);
	check_child(pid);
}

/* A listener goes with those that nobody has accepted. */
static void pending_reset(struct sockt *t)
{
	int listener = sock_listen(t, 5), i;

	for (i = 0; i < 3; i++)
		far_do(t, "connect %d %d", i, sock_port(listener));
	far_do(t, "send-some 1");
	sock_await(listener, POLLIN);
	/* so that all three have come, whoever reports first */
	close(sock_accept(listener));
	close(listener);
	for (i = 1; i < 3; i++)
		WANT_EQ(far_try(t, "recv-some %d", i), -ECONNRESET);
}

/* Whoever resets its connection before it is accepted leaves a socket that says so. */
static void aborted(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;
	char byte;

	far_do(t, "connect 0 %d", sock_port(listener));
	far_do(t, "linger 0 0");
	far_do(t, "close 0");
	fd = sock_accept(listener);
	sock_await(fd, POLLHUP);
	WANT_ERR(recv(fd, &byte, 1, 0), ECONNRESET);
	close(fd);
	/* and the listener goes on */
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
}

static void data_and_end(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;

	far_do(t, "connect 0 %d", sock_port(listener));
	far_do(t, "send 0 %llu 3000 0 0", FAR_BASE);
	far_do(t, "close 0");
	fd = sock_accept(listener);
	WANT_EQ(io_drain(fd, FAR_BASE), 3000);
}

static void processes(struct sockt *t)
{
	enum { WORKERS = 4, EACH = 8 };
	int listener = sock_listen(t, WORKERS * EACH), i;
	pid_t pids[WORKERS];

	for (i = 0; i < WORKERS; i++) {
		pids[i] = check_fork();
		if (!pids[i]) {
			int n, fd;

			for (n = 0; n < EACH; n++) {
				fd = NEED(accept(listener, NULL, NULL));
				WANT_EQ(io_echo_one(fd), 200);
				close(fd);
			}
			_exit(0);
		}
	}
	for (i = 0; i < EACH; i++)
		far_do(t, "storm %d %d 2", sock_port(listener), WORKERS);
	for (i = 0; i < WORKERS; i++)
		check_child(pids[i]);
}

static void shut(struct sockt *t)
{
	int listener = sock_listen(t, 5), port = sock_port(listener);

	NEED(shutdown(listener, SHUT_RDWR));
	WANT_ERR(accept(listener, NULL, NULL), EINVAL);
	WANT_EQ(far_try(t, "connect 0 %d", port), -ECONNREFUSED);
	/* at another port, since nobody has bound it to one */
	NEED(listen(listener, 5));
	far_do(t, "connect 1 %d", sock_port(listener));
	close(sock_accept(listener));
}

static void listen_again(struct sockt *t)
{
	int listener = sock_listen(t, 0), i;

	NEED(listen(listener, 16));
	for (i = 0; i < 8; i++)
		far_do(t, "connect %d %d", i, sock_port(listener));
	for (i = 0; i < 8; i++)
		close(sock_accept(listener));
	WANT_ERR(listen(sock_pair(t, CLIENT, 9), 1), EINVAL);
}

const struct sockt_case accept_cases[] = {
	{ "accept-flags", "SOCK_CLOEXEC, SOCK_NONBLOCK", flags },
	{ "accept-nonblocking", "EAGAIN; what is accepted blocks", nonblocking },
	{ "accept-blocking", "until somebody comes", blocking },
	{ "accept-interrupted", "EINTR", interrupted },
	{ "accept-timeout", "SO_RCVTIMEO: EAGAIN", time_out },
	{ "accept-address", "of the peer, also in part", address },
	{ "accept-overflow", "more than the backlog connect, and none is lost", overflow },
	{ "accept-pending-reset", "the listener is closed: ECONNRESET for those in its backlog", pending_reset },
	{ "accept-aborted", "a reset before accept()", aborted },
	{ "accept-data-and-end", "data and end before accept()", data_and_end },
	{ "accept-processes", "four at one listener", processes },
	{ "accept-shut", "shutdown() of a listener, and listen() again", shut },
	{ "accept-listen-again", "listen() changes the backlog", listen_again },
	{ 0 }
};
