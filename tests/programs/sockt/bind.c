// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* bind(), ports and who shares them. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "sockt.h"

static void ephemeral(struct sockt *t)
{
	int a = sock_new(t, 0), b = sock_new(t, 0);

	NEED(sock_bind(a, sock_near(t, 0)));
	NEED(sock_bind(b, sock_near(t, 0)));
	WANT(sock_port(a) && sock_port(b) && sock_port(a) != sock_port(b));
	WANT_ERR(sock_bind(a, sock_near(t, 0)), EINVAL);
}

static void implicit(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), listener = sock_new(t, 0);
	struct sockaddr_storage name = sock_name(fd);

	WANT(sock_port(fd));
	sock_set_port(&name, 0);
	WANT(sock_same(&name, &t->near));
	WANT_EQ(far_do(t, "peer-port 0"), sock_port(fd));
	NEED(listen(listener, 1));
	WANT(sock_port(listener));
	far_do(t, "connect 1 %d", sock_port(listener));
	sock_accept(listener);
}

static void client(struct sockt *t)
{
	long port = far_do(t, "listen 0 1");
	int fd = sock_new(t, 0), own;

	NEED(sock_bind(fd, sock_near(t, 0)));
	own = sock_port(fd);
	NEED(sock_connect(fd, sock_far(t, (int)port)));
	WANT_EQ(sock_port(fd), own);
	far_do(t, "accept 0 1");
	WANT_EQ(far_do(t, "peer-port 1"), own);
}

/* The port that connect() has chosen is nobody else's. */
static void of_client(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	WANT_ERR(sock_bind(sock_new(t, 0), sock_near(t, sock_port(fd))), EADDRINUSE);
}

static void conflict(struct sockt *t)
{
	int listener = sock_listen(t, 1), other = sock_new(t, 0);

	WANT_ERR(sock_bind(other, sock_near(t, sock_port(listener))), EADDRINUSE);
	close(listener);
	NEED(sock_bind(other, sock_near(t, 0)));
}

static void wildcard_conflict(struct sockt *t)
{
	struct sockaddr_storage any = { .ss_family = (sa_family_t)t->family };
	int listener = sock_listen(t, 1), other = sock_new(t, 0);

	sock_set_port(&any, sock_port(listener));
	WANT_ERR(sock_bind(other, any), EADDRINUSE);
	close(listener);
	NEED(sock_bind(other, any));
}

static void reuse(struct sockt *t)
{
	int a = sock_new(t, 0), b = sock_new(t, 0), c = sock_new(t, 0);

	sock_set(a, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_set(b, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_set(c, SOL_SOCKET, SO_REUSEADDR, 1);
	NEED(sock_bind(a, sock_near(t, 0)));
	NEED(sock_bind(b, sock_near(t, sock_port(a))));
	NEED(listen(a, 1));
	WANT_ERR(listen(b, 1), EADDRINUSE);
	WANT_ERR(sock_bind(c, sock_near(t, sock_port(a))), EADDRINUSE);
}

/* A server is started anew while connections of the old one live. */
static void restart(struct sockt *t)
{
	int listener = sock_listen(t, 5), again = sock_new(t, 0), port = sock_port(listener), old, new;

	sock_set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
	far_do(t, "connect 0 %d", port);
	old = sock_accept(listener);
	close(listener);
	WANT_ERR(sock_bind(again, sock_near(t, port)), EADDRINUSE);
	sock_set(again, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_set(old, SOL_SOCKET, SO_REUSEADDR, 1);
	NEED(sock_bind(again, sock_near(t, port)));
	NEED(listen(again, 5));
	far_do(t, "connect 1 %d", port);
	new = sock_accept(again);
	DONE(io_send(old, NEAR_BASE, 10, 0, 0));
	DONE(io_send(new, NEAR_BASE + 10, 10, 0, 0));
	far_do(t, "recv 0 %llu 10 0", NEAR_BASE);
	far_do(t, "recv 1 %llu 10 0", NEAR_BASE + 10);
	/* and what has ended from this side keeps nobody from the port */
	close(old);
	far_do(t, "close 0");
	close(again);
	again = sock_new(t, 0);
	sock_set(again, SOL_SOCKET, SO_REUSEADDR, 1);
	NEED(sock_bind(again, sock_near(t, port)));
	NEED(listen(again, 5));
}

static void reuseport(struct sockt *t)
{
	enum { LISTENERS = 4, CONNECTIONS = 96 };
	struct pollfd fds[LISTENERS] = { 0 };
	int got[LISTENERS] = { 0 }, port = 0, sum = 0, i;

	for (i = 0; i < LISTENERS; i++) {
		int fd = sock_new(t, 0);

		sock_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		NEED(sock_bind(fd, sock_near(t, port)));
		NEED(listen(fd, CONNECTIONS));
		port = sock_port(fd);
		fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	far_do(t, "storm %d %d 0", port, CONNECTIONS);
	while (sum < CONNECTIONS) {
		WANT(poll(fds, LISTENERS, check_limit_s() * 1000) > 0);
		for (i = 0; i < LISTENERS; i++) {
			if (!(fds[i].revents & POLLIN))
				continue;
			close(NEED(accept(fds[i].fd, NULL, NULL)));
			got[i]++;
			sum++;
		}
	}
	for (i = 0; i < LISTENERS; i++)
		WANT(got[i] > 0);
}

/* One of several listeners goes; whoever connects then reaches the others. */
static void reuseport_less(struct sockt *t)
{
	int a = sock_new(t, 0), b = sock_new(t, 0), other = sock_new(t, 0), i;

	sock_set(a, SOL_SOCKET, SO_REUSEPORT, 1);
	sock_set(b, SOL_SOCKET, SO_REUSEPORT, 1);
	NEED(sock_bind(a, sock_near(t, 0)));
	NEED(sock_bind(b, sock_near(t, sock_port(a))));
	WANT_ERR(sock_bind(other, sock_near(t, sock_port(a))), EADDRINUSE);
	NEED(listen(a, 32));
	NEED(listen(b, 32));
	close(a);
	for (i = 0; i < 16; i++) {
		far_do(t, "connect 0 %d", sock_port(b));
		close(sock_accept(b));
		far_do(t, "close 0");
	}
}

static void all_addresses(struct sockt *t)
{
	struct sockaddr_storage address = { .ss_family = (sa_family_t)t->family }, name;
	int listener = sock_new(t, 0), fd;

	NEED(sock_bind(listener, address));
	NEED(listen(listener, 1));
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	name = sock_name(fd);
	sock_set_port(&name, 0);
	WANT(sock_same(&name, &t->near));
	/* and at the loopback address */
	if (t->family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	sock_set_port(&address, sock_port(listener));
	NEED(sock_connect(sock_new(t, 0), address));
	sock_accept(listener);
}

static void far_any(struct sockt *t)
{
	int fd = sock_reach(t, (int)far_do(t, "listen-any 0 1"));

	far_do(t, "accept 0 1");
	far_do(t, "send 1 %llu 5 0 0", FAR_BASE);
	DONE(io_recv(fd, FAR_BASE, 5, 0));
}

/* Who listens at the loopback address alone is not reached from elsewhere. */
static void loopback_only(struct sockt *t)
{
	struct sockaddr_storage address = { .ss_family = (sa_family_t)t->family };
	int listener = sock_new(t, 0);

	if (!t->apart)
		check_skip("both sides have one address");
	if (t->family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	NEED(sock_bind(listener, address));
	NEED(listen(listener, 1));
	WANT_EQ(far_try(t, "connect 0 %d", sock_port(listener)), -ECONNREFUSED);
}

static void foreign(struct sockt *t)
{
	struct sockaddr_storage address = sock_near(t, 0);
	int fd = sock_new(t, 0);

	/* of TEST-NET-3 and of the documentation's prefix */
	if (t->family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(0xcb007101);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr.s6_addr[1] = 0x99;
	WANT_ERR(sock_bind(fd, address), EADDRNOTAVAIL);
	address.ss_family = AF_UNIX;
	WANT_ERR(sock_bind(fd, (struct sockaddr_storage){ .ss_family = AF_UNIX }), t->family == AF_INET6 ? EINVAL :
		 EAFNOSUPPORT);
	WANT_ERR(bind(fd, (struct sockaddr *)&address, 1), EINVAL);
}

static int first_unprivileged(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
	int port = 1024;

	if (file && fscanf(file, "%d", &port) != 1)
		port = 1024;
	if (file)
		fclose(file);
	return port;
}

static void privileged(struct sockt *t)
{
	pid_t pid;

	if (geteuid() || first_unprivileged() < 100)
		check_skip("every user may have every port");
	pid = check_fork();
	if (!pid) {
		int fd = sock_new(t, 0);

		NEED(setuid(65534));
		WANT_ERR(sock_bind(fd, sock_near(t, 99)), EACCES);
		NEED(sock_bind(fd, sock_near(t, 0)));
		_exit(0);
	}
	check_child(pid);
}

static void given_back(struct sockt *t)
{
	int fd = sock_new(t, 0), port, other, i;

	NEED(sock_bind(fd, sock_near(t, 0)));
	port = sock_port(fd);
	for (i = 0; i < 100; i++) {
		close(fd);
		fd = sock_new(t, 0);
		NEED(sock_bind(fd, sock_near(t, port)));
		if (i & 1)
			NEED(listen(fd, 1));
	}
	other = sock_new(t, 0);
	WANT_ERR(sock_bind(other, sock_near(t, port)), EADDRINUSE);
}

const struct sockt_case bind_cases[] = {
	{ "bind-ephemeral", "each gets a port of its own, once", ephemeral },
	{ "bind-implicit", "by connect() and by listen()", implicit },
	{ "bind-client", "a client's own port", client },
	{ "bind-of-client", "EADDRINUSE beside a client", of_client },
	{ "bind-conflict", "EADDRINUSE beside a listener", conflict },
	{ "bind-wildcard-conflict", "EADDRINUSE between an address and all of them", wildcard_conflict },
	{ "bind-reuseaddr", "SO_REUSEADDR shares a port, but for listening", reuse },
	{ "bind-restart", "SO_REUSEADDR beside connections of an old server", restart },
	{ "bind-reuseport", "SO_REUSEPORT: four listeners all get some", reuseport },
	{ "bind-reuseport-less", "SO_REUSEPORT: one of two listeners goes", reuseport_less },
	{ "bind-any", "at all addresses", all_addresses },
	{ "bind-far-any", "the same, from the other side", far_any },
	{ "bind-loopback-only", "is not reached from elsewhere", loopback_only },
	{ "bind-foreign", "EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL", foreign },
	{ "bind-privileged", "EACCES", privileged },
	{ "bind-given-back", "a port is free when its socket is closed", given_back },
	{ 0 }
};
