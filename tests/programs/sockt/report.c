// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What users of other replacements of TCP have reported, each by the name of the report: what a
 * program did that went wrong there.
 */
#define _GNU_SOURCE
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sockt.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

/* An HTTP server that hands out a connection when its request is there */
static void defer_accept(struct sockt *t)
{
	int fd = sock_new(t, 0), accepted;

	NEED(sock_bind(fd, sock_near(t, 0)));
	NEED(listen(fd, 5));
	sock_set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
	far_do(t, "connect 0 %d", sock_port(fd));
	far_do(t, "send 0 %llu 200 0 0", FAR_BASE);
	accepted = sock_accept(fd);
	sock_await(accepted, POLLIN);
	DONE(io_recv(accepted, FAR_BASE, 200, 0));
}

/* libpq sets all of these and gives up if one fails */
static void keepalive(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	sock_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	sock_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
	sock_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
	sock_set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_KEEPINTVL), 10);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
	DONE(io_send(fd, NEAR_BASE, 1, 0, 0));
	far_do(t, "recv 0 %llu 1 0", NEAR_BASE);
}

/* A Java client reads what it has not set */
static void keepalive_read(struct sockt *t)
{
	int fd = sock_new(t, 0);

	WANT(sock_get(fd, IPPROTO_TCP, TCP_KEEPIDLE) > 0);
	WANT(sock_get(fd, IPPROTO_TCP, TCP_KEEPINTVL) > 0);
	WANT(sock_get(fd, IPPROTO_TCP, TCP_KEEPCNT) > 0);
}

/* gRPC reads the option of a new socket, to see whether it may set it */
static void user_timeout(struct sockt *t)
{
	int probe = sock_new(t, 0), fd;

	WANT_EQ(sock_get(probe, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
	close(probe);
	fd = sock_pair(t, CLIENT, 0);
	sock_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 20000);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 20000);
	/* and goes without if this fails, but should not have to */
	sock_set(fd, IPPROTO_TCP, TCP_INQ, 1);
}

static void fastopen_listener(struct sockt *t)
{
	int fd = sock_listen(t, 5);

	sock_set(fd, IPPROTO_TCP, TCP_FASTOPEN, 256);
	far_do(t, "connect 0 %d", sock_port(fd));
	sock_accept(fd);
}

/* Go's listeners ask for MPTCP; clients of all protocols reach them */
static void mptcp_listener(struct sockt *t)
{
	long port;
	int fd;

	far_do(t, "protocol %d", IPPROTO_MPTCP);
	if (far_try(t, "socket 0") < 0)
		check_skip("the kernel has no MPTCP");
	port = far_do(t, "listen 0 5");
	fd = sock_reach(t, (int)port);
	far_do(t, "accept 0 1");
	DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
	WANT_EQ((close(fd), far_do(t, "drain 1 %llu", NEAR_BASE)), 5000);
}

static void v6only(struct sockt *t)
{
	int fd = NEED(socket(AF_INET6, SOCK_STREAM, t->protocol)), before;
	struct sockaddr_storage any = { .ss_family = AF_INET6 };

	before = sock_get(fd, IPPROTO_IPV6, IPV6_V6ONLY);
	sock_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, !before);
	WANT_EQ(sock_get(fd, IPPROTO_IPV6, IPV6_V6ONLY), !before);
	NEED(sock_bind(fd, any));
	NEED(listen(fd, 1));
	WANT_EQ(sock_get(fd, IPPROTO_IPV6, IPV6_V6ONLY), !before);
}

static void notsent_lowat(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	sock_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 131072);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 131072);
	far_start(t, "recv 0 %llu 2000000 0", NEAR_BASE);
	DONE(io_both(fd, NEAR_BASE, 2000000, 0, 0, 0));
	far_end(t);
}

/* A library tries kTLS, and goes on in user space when it is refused. */
static void ktls(struct sockt *t)
{
	struct tls12_crypto_info_aes_gcm_128 keys = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	int fd = sock_pair(t, CLIENT, 0);

	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 4)) {
		WANT(errno == ENOENT || errno == EOPNOTSUPP || errno == ENOPROTOOPT);
		WANT(setsockopt(fd, SOL_TLS, TLS_TX, &keys, sizeof(keys)) == -1);
		DONE(io_send(fd, NEAR_BASE, 1000, 0, 0));
		far_do(t, "recv 0 %llu 1000 0", NEAR_BASE);
		return;
	}
	NEED(setsockopt(fd, SOL_TLS, TLS_TX, &keys, sizeof(keys)));
	/* whatever it sends is a record now */
	WANT_EQ(send(fd, "x", 1, 0), 1);
	WANT(far_do(t, "recv-some 0") > 20);
}

static void iperf3(struct sockt *t)
{
	char name[16];
	struct tcp_info info;
	socklen_t len = sizeof(name);
	int fd = sock_new(t, 0);

	sock_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	sock_set(fd, IPPROTO_TCP, TCP_MAXSEG, 1400);
	NEED(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
	NEED(sock_connect(fd, sock_far(t, (int)far_do(t, "listen 0 1"))));
	far_do(t, "accept 0 1");
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	WANT(sock_get(fd, IPPROTO_TCP, TCP_MAXSEG) > 0);
	len = sizeof(info);
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	WANT(info.tcpi_snd_mss > 0 && info.tcpi_pmtu > 0);
	far_start(t, "recv 1 %llu 4000000 131072", NEAR_BASE);
	DONE(io_send(fd, NEAR_BASE, 4000000, 131072, 0));
	far_end(t);
}

static int epoll_with(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };
	int epoll = NEED(epoll_create1(EPOLL_CLOEXEC));

	NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	return epoll;
}

static int await(int epoll, int timeout_ms)
{
	struct epoll_event event = { 0 };

	return NEED(epoll_wait(epoll, &event, 1, timeout_ms)) ? (int)event.events : 0;
}

static void two_epolls(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), a = epoll_with(fd, EPOLLIN), b = epoll_with(fd, EPOLLIN | EPOLLET);

	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(a, check_limit_s() * 1000), EPOLLIN);
	WANT_EQ(await(b, check_limit_s() * 1000), EPOLLIN);
	WANT_EQ(await(a, 0), EPOLLIN);
	WANT_EQ(await(b, 0), 0);
	close(a);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(b, check_limit_s() * 1000), EPOLLIN);
}

static void nested_epoll(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), inner = epoll_with(fd, EPOLLIN), outer = epoll_with(inner, EPOLLIN);

	WANT_EQ(await(outer, 0), 0);
	WANT_EQ(sock_events(inner) & POLLIN, 0);
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(outer, check_limit_s() * 1000), EPOLLIN);
	WANT_EQ(await(inner, 0), EPOLLIN);
	sock_await_queued(fd, 10);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
	WANT_EQ(await(outer, 0), 0);
}

static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* An event loop with idle connections takes no processor. */
static void idle_epoll(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), listener = sock_listen(t, 5), epoll = epoll_with(fd, EPOLLIN | EPOLLRDHUP), i;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	double wall, cpu;

	NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event));
	far_do(t, "send 0 %llu 10 0 0", FAR_BASE);
	WANT_EQ(await(epoll, check_limit_s() * 1000), EPOLLIN);
	sock_await_queued(fd, 10);
	DONE(io_recv(fd, FAR_BASE, 10, 0));
	wall = check_seconds();
	cpu = processor_s();
	for (i = 0; i < 10; i++)
		WANT_EQ(await(epoll, 100), 0);
	wall = check_seconds() - wall;
	cpu = processor_s() - cpu;
	WANT(cpu < wall / 4);
}

/* Everything that comes from one side goes to the other, each end, too */
static void relay(int a, int b)
{
	struct pollfd fds[2] = { { .fd = a, .events = POLLIN }, { .fd = b, .events = POLLIN } };
	static char buffer[30000];
	int open = 2, i;

	while (open && NEED(poll(fds, 2, -1))) {
		for (i = 0; i < 2; i++) {
			int to = i ? a : b;
			ssize_t some, done = 0;

			if (!fds[i].revents)
				continue;
			some = NEED(recv(fds[i].fd, buffer, sizeof(buffer), 0));
			if (!some) {
				shutdown(to, SHUT_WR);
				fds[i].fd = -1;
				open--;
			}
			while (done < some)
				done += NEED(send(to, buffer + done, (size_t)(some - done), 0));
		}
	}
}

/* The far side asks the near one, which asks the far one: a proxy between two connections */
static void proxy(struct sockt *t)
{
	long upstream = far_do(t, "listen 0 5");
	int listener = sock_listen(t, 5), client;
	pid_t pid;

	far_do(t, "connect 1 %d", sock_port(listener));
	client = sock_accept(listener);
	pid = check_fork();
	if (!pid) {
		relay(client, sock_reach(t, (int)upstream));
		_exit(0);
	}
	close(client);
	far_do(t, "accept 0 2");
	far_do(t, "send 1 %llu 100000 0 0", FAR_BASE);
	far_do(t, "shutdown 1 %d", SHUT_WR);
	WANT_EQ(far_do(t, "drain 2 %llu", FAR_BASE), 100000);
	far_do(t, "send 2 %llu 50000 0 0", NEAR_BASE);
	far_do(t, "close 2");
	WANT_EQ(far_do(t, "drain 1 %llu", NEAR_BASE), 50000);
	check_child(pid);
}

/* Clients that end before the server has them, in any order, do not disturb those that stay. */
static void end_before_pairing(struct sockt *t)
{
	int listener = sock_listen(t, 32), i;

	for (i = 0; i < 10; i++) {
		far_do(t, "connect %d %d", i, sock_port(listener));
		far_do(t, "send %d %llu 10 0 0", i, FAR_BASE);
	}
	for (i = 0; i < 10; i += 2)
		far_do(t, "close %d", i);
	for (i = 0; i < 10; i++) {
		int fd = sock_accept(listener);

		DONE(io_recv(fd, FAR_BASE, 10, 0));
		DONE(io_send(fd, NEAR_BASE, 5, 0, 0));
		if (i % 2)
			far_do(t, "recv %d %llu 5 0", i, NEAR_BASE);
		close(fd);
	}
}

static void fork_shutdown(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;
	pid_t pid;

	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	pid = check_fork();
	if (!pid) {
		/* as a server's worker ends its answer, while its parent has the socket, too */
		DONE(io_send(fd, NEAR_BASE, 70000, 0, 0));
		NEED(shutdown(fd, SHUT_RDWR));
		close(fd);
		_exit(0);
	}
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), 70000);
	check_child(pid);
}

/* Clients that ask for plain TCP are served as well, and reach whoever listens by it. */
static void tcp_client(struct sockt *t)
{
	int listener = sock_listen(t, 5), fd;

	far_do(t, "protocol %d", IPPROTO_TCP);
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	far_start(t, "both 0 %llu 300000 %llu 300000 0", FAR_BASE, NEAR_BASE);
	DONE(io_both(fd, NEAR_BASE, 300000, FAR_BASE, 300000, 0));
	far_end(t);
	far_do(t, "close 0");
	WANT_EQ(io_drain(fd, 0), 0);
}

static void tcp_server(struct sockt *t)
{
	long port;
	int fd;

	far_do(t, "protocol %d", IPPROTO_TCP);
	port = far_do(t, "listen 0 5");
	fd = sock_reach(t, (int)port);
	far_do(t, "accept 0 1");
	far_start(t, "both 1 %llu 300000 %llu 300000 0", FAR_BASE, NEAR_BASE);
	DONE(io_both(fd, NEAR_BASE, 300000, FAR_BASE, 300000, 0));
	far_end(t);
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "recv-some 1"), 0);
}

/* One listener has clients of both kinds at once. */
static void tcp_beside(struct sockt *t)
{
	int listener = sock_listen(t, 32), i;

	for (i = 0; i < 8; i++) {
		far_do(t, "protocol %d", i % 2 ? IPPROTO_TCP : t->protocol);
		far_do(t, "connect %d %d", i, sock_port(listener));
		far_do(t, "send %d %llu 100 0 0", i, FAR_BASE);
	}
	for (i = 0; i < 8; i++) {
		int fd = sock_accept(listener);

		DONE(io_recv(fd, FAR_BASE, 100, 0));
		WANT_EQ(sock_events(fd) & (POLLERR | POLLHUP), 0);
	}
}

const struct sockt_case report_cases[] = {
	{ "report-mptcp-271-defer-accept", "TCP_DEFER_ACCEPT after listen()", defer_accept },
	{ "report-mptcp-383-keepalive", "SO_KEEPALIVE and TCP_KEEP*, as libpq sets them", keepalive },
	{ "report-gramine-902-keepalive-read", "TCP_KEEP* are read", keepalive_read },
	{ "report-grpc-23401-user-timeout", "TCP_USER_TIMEOUT is probed, then set; TCP_INQ", user_timeout },
	{ "report-golang-72879-fastopen-listener", "TCP_FASTOPEN after listen()", fastopen_listener },
	{ "report-golang-74643-mptcp-listener", "a server that listens by MPTCP", mptcp_listener },
	{ "report-mptcp-550-v6only", "IPV6_V6ONLY is read back, also when it listens", v6only },
	{ "report-mptcp-464-notsent-lowat", "TCP_NOTSENT_LOWAT of HTTP/2 servers", notsent_lowat },
	{ "report-mptcp-480-ktls", "TCP_ULP \"tls\" works, or is refused and all else works", ktls },
	{ "report-gvisor-7915-iperf3", "TCP_MAXSEG, TCP_CONGESTION, TCP_INFO as iperf3 wants them", iperf3 },
	{ "report-libvma-816-two-epolls", "one descriptor in two epolls", two_epolls },
	{ "report-libvma-219-nested-epoll", "an epoll in an epoll", nested_epoll },
	{ "report-libvma-948-idle", "an idle event loop takes no processor", idle_epoll },
	{ "report-mptcp-311-proxy", "a proxy between two connections, half-closes too", proxy },
	{ "report-tcp-splice-end-first", "clients end before they are accepted", end_before_pairing },
	{ "report-fork-shutdown", "a worker ends a socket that its parent has, too", fork_shutdown },
	{ "tcp-client", "a client of plain TCP", tcp_client },
	{ "tcp-server", "a server of plain TCP", tcp_server },
	{ "tcp-beside", "both kinds of client at one listener", tcp_beside },
	{ 0 }
};
