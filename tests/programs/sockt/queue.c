// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What is queued, and what happens when there is no room, or nothing. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>
#include "sockt.h"

static int inquire(int fd, unsigned long what)
{
	int value = -1;

	NEED(ioctl(fd, what, &value));
	return value;
}

static void full(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);
		uint64_t sent = sock_fill(fd, NEAR_BASE), more;

		WANT_EQ(sock_events(fd) & POLLOUT, 0);
		WANT(inquire(fd, SIOCOUTQ) > 0);
		far_do(t, "recv 0 %llu %llu 0", NEAR_BASE, (unsigned long long)sent);
		sock_await(fd, POLLOUT);
		more = sock_fill(fd, NEAR_BASE + sent);
		NEED(shutdown(fd, SHUT_WR));
		WANT_EQ(far_do(t, "drain 0 %llu", (unsigned long long)(NEAR_BASE + sent)), (long)more);
		close(fd);
		far_do(t, "close 0");
	}
}

static void blocks(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	uint64_t sent = sock_fill(fd, NEAR_BASE);
	pid_t pid = check_fork();

	if (!pid) {
		DONE(io_send(fd, NEAR_BASE + sent, 1 << 20, 0, 0));
		_exit(0);
	}
	far_do(t, "recv 0 %llu %llu 0", NEAR_BASE, (unsigned long long)sent + (1 << 20));
	check_child(pid);
}

static void inq(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);

	WANT_EQ(inquire(fd, FIONREAD), 0);
	far_do(t, "send 0 %llu 5000 0 0", FAR_BASE);
	sock_await_queued(fd, 5000);
	DONE(io_recv(fd, FAR_BASE, 2000, 0));
	WANT_EQ(inquire(fd, SIOCINQ), 3000);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	DONE(io_recv(fd, FAR_BASE + 2000, 3000, 0));
	sock_await(fd, POLLRDHUP);
	WANT_EQ(inquire(fd, SIOCINQ), 0);
	WANT_ERR(ioctl(sock_listen(t, 1), SIOCINQ, &fd), EINVAL);
}

static void outq(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), left = -1;
	long tries;

	WANT_EQ(inquire(fd, SIOCOUTQ), 0);
	DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
	far_do(t, "recv 0 %llu 5000 0", NEAR_BASE);
	for (tries = 0; tries < check_limit_s() * 1000L && (left = inquire(fd, SIOCOUTQ)); tries++)
		usleep(1000);
	WANT_EQ(left, 0);
	WANT_EQ(inquire(fd, SIOCOUTQNSD), 0);
}

static void receive_timeout(struct sockt *t)
{
	struct timeval timeout = { .tv_usec = 250000 }, is = { 0 };
	int fd = sock_pair(t, CLIENT, 0);
	socklen_t len = sizeof(is);
	uint8_t buffer[100];
	double begin;

	NEED(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)));
	NEED(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &is, &len));
	WANT(is.tv_sec == 0 && is.tv_usec >= 250000 && is.tv_usec <= 260000);
	begin = check_seconds();
	WANT_ERR(recv(fd, buffer, 1, 0), EAGAIN);
	WANT(check_seconds() - begin > 0.2);
	/* it is what MSG_WAITALL gives when the time is over */
	far_do(t, "send 0 %llu 50 0 0", FAR_BASE);
	sock_await_queued(fd, 50);
	WANT_EQ(recv(fd, buffer, 100, MSG_WAITALL), 50);
	DONE(io_check(buffer, FAR_BASE, 50));
}

static void send_timeout(struct sockt *t)
{
	struct timeval timeout = { .tv_usec = 250000 };
	int fd = sock_pair(t, CLIENT, 0);
	static uint8_t buffer[24 << 20];
	ssize_t sent;

	NEED(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)));
	io_fill(buffer, NEAR_BASE, sizeof(buffer));
	sent = NEED(send(fd, buffer, sizeof(buffer), 0));
	WANT(sent > 0 && sent < (ssize_t)sizeof(buffer));
	sent += (ssize_t)sock_fill(fd, NEAR_BASE + (uint64_t)sent);
	/* a little may still fit */
	while (send(fd, buffer + sent, 1, 0) == 1)
		sent++;
	WANT_EQ(errno, EAGAIN);
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), sent);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void interrupted(struct sockt *t)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value.tv_usec = 200000, .it_interval.tv_usec = 200000 }, never = { 0 };
	int fd = sock_pair(t, CLIENT, 0);
	static uint8_t buffer[24 << 20];
	ssize_t sent;

	io_fill(buffer, NEAR_BASE, sizeof(buffer));
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	WANT_ERR(recv(fd, &soon, 1, 0), EINTR);
	sent = NEED(send(fd, buffer, sizeof(buffer), 0));
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)check_limit_s());
	WANT(sent > 0 && sent < (ssize_t)sizeof(buffer));
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), sent);
}

static void restarted(struct sockt *t)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval soon = { .it_value.tv_usec = 20000, .it_interval.tv_usec = 20000 }, never = { 0 };
	int fd = sock_pair(t, CLIENT, 0);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	far_start(t, "both 0 %llu 2000000 %llu 2000000 5000", FAR_BASE, NEAR_BASE);
	DONE(io_send(fd, NEAR_BASE, 1000000, 100000, 0));
	DONE(io_recv(fd, FAR_BASE, 2000000, 0));
	DONE(io_send(fd, NEAR_BASE + 1000000, 1000000, 100000, 0));
	far_end(t);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)check_limit_s());
}

static void low_water(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	char buffer[100];

	sock_set(fd, SOL_SOCKET, SO_RCVLOWAT, 100);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_RCVLOWAT), 100);
	far_do(t, "send 0 %llu 50 0 0", FAR_BASE);
	sock_await_queued(fd, 50);
	WANT_EQ(sock_events(fd) & POLLIN, 0);
	far_do(t, "send 0 %llu 50 0 0", FAR_BASE + 50);
	sock_await(fd, POLLIN);
	WANT_EQ(recv(fd, buffer, 100, 0), 100);
	DONE(io_check(buffer, FAR_BASE, 100));
	/* less is there, but the end, too */
	far_do(t, "send 0 %llu 50 0 0", FAR_BASE);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	sock_await(fd, POLLIN);
	WANT_EQ(io_drain(fd, FAR_BASE), 50);
}

static void low_water_blocks(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);
	uint8_t buffer[1000];

	sock_set(fd, SOL_SOCKET, SO_RCVLOWAT, 1000);
	/* at once: TCP does not wake who has taken a part, since the rest alone is below the mark */
	far_start(t, "send 0 %llu 1000 0 0", FAR_BASE);
	WANT_EQ(recv(fd, buffer, sizeof(buffer), 0), 1000);
	DONE(io_check(buffer, FAR_BASE, 1000));
	far_end(t);
}

static uint64_t room(struct sockt *t, int bytes)
{
	int fd = sock_new(t, 0);
	uint64_t sent;
	long port;

	if (bytes)
		sock_set(fd, SOL_SOCKET, SO_SNDBUF, bytes);
	far_do(t, "socket 0");
	if (bytes)
		far_do(t, "set 0 %d %d %d", SOL_SOCKET, SO_RCVBUF, bytes);
	port = far_do(t, "listen 0 1");
	NEED(sock_connect(fd, sock_far(t, (int)port)));
	far_do(t, "accept 0 1");
	sent = sock_fill(fd, NEAR_BASE);
	close(fd);
	WANT_EQ(far_do(t, "drain 1 %llu", NEAR_BASE), (long)sent);
	far_do(t, "close 0");
	return sent;
}

/* Small buffers take less. */
static void buffers(struct sockt *t)
{
	uint64_t small = room(t, 8192), usual = room(t, 0);

	WANT(small < 200000);
	WANT(small < usual);
}

static void in_cmsg(struct sockt *t)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd = sock_pair(t, CLIENT, 0), left = -1;
	struct cmsghdr *c;

	sock_set(fd, IPPROTO_TCP, TCP_INQ, 1);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_INQ), 1);
	far_do(t, "send 0 %llu 1000 0 0", FAR_BASE);
	sock_await_queued(fd, 1000);
	WANT_EQ(recvmsg(fd, &message, 0), 1);
	c = CMSG_FIRSTHDR(&message);
	WANT(c && c->cmsg_level == IPPROTO_TCP && c->cmsg_type == TCP_CM_INQ);
	memcpy(&left, CMSG_DATA(c), sizeof(left));
	WANT_EQ(left, 999);
	DONE(io_recv(fd, FAR_BASE + 1, 999, 0));
}

/* A sender that keeps little unsent still sends all. */
static void not_sent(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	uint64_t sent;

	sock_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16384);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 16384);
	sent = sock_fill(fd, NEAR_BASE);
	far_do(t, "recv 0 %llu %llu 0", NEAR_BASE, (unsigned long long)sent);
	sock_await(fd, POLLOUT);
	far_start(t, "recv 0 %llu 1000000 0", (unsigned long long)(NEAR_BASE + sent));
	DONE(io_both(fd, NEAR_BASE + sent, 1000000, 0, 0, 5000));
	far_end(t);
}

const struct sockt_case queue_cases[] = {
	{ "queue-full", "EAGAIN, no POLLOUT; and then again", full },
	{ "queue-blocks", "a blocking send waits for room", blocks },
	{ "queue-inq", "FIONREAD, SIOCINQ", inq },
	{ "queue-outq", "SIOCOUTQ is 0 when all has arrived", outq },
	{ "queue-receive-timeout", "SO_RCVTIMEO", receive_timeout },
	{ "queue-send-timeout", "SO_SNDTIMEO", send_timeout },
	{ "queue-interrupted", "EINTR, or a part", interrupted },
	{ "queue-restarted", "SA_RESTART: signals lose nothing", restarted },
	{ "queue-low-water", "SO_RCVLOWAT and poll()", low_water },
	{ "queue-low-water-blocks", "SO_RCVLOWAT and recv()", low_water_blocks },
	{ "queue-buffers", "SO_SNDBUF, SO_RCVBUF", buffers },
	{ "queue-inq-cmsg", "TCP_INQ", in_cmsg },
	{ "queue-not-sent", "TCP_NOTSENT_LOWAT", not_sent },
	{ 0 }
};
