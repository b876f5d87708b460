// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Names of both families; addresses of IPv4 by sockets of IPv6. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "sockt.h"

static void names(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);
		struct sockaddr_storage name = sock_name(fd), peer = sock_peer(fd);
		socklen_t len = 4;

		WANT_EQ(far_do(t, "peer-port 0"), sock_address_port(&name));
		WANT(sock_address_port(&peer));
		sock_set_port(&name, 0);
		sock_set_port(&peer, 0);
		WANT(sock_same(&name, &t->near));
		WANT(sock_same(&peer, &t->far));
		NEED(getsockname(fd, (struct sockaddr *)&name, &len));
		WANT_EQ(len, sock_len(&t->near));
		far_do(t, "close 0");
		close(fd);
	}
}

/* ::ffff:ADDRESS */
static struct sockaddr_storage mapped(struct sockaddr_storage v4)
{
	const struct sockaddr_in *from = (const void *)&v4;
	struct sockaddr_storage address = { .ss_family = AF_INET6 };
	struct sockaddr_in6 *to = (void *)&address;

	to->sin6_port = from->sin_port;
	memset(to->sin6_addr.s6_addr + 10, 0xff, 2);
	memcpy(to->sin6_addr.s6_addr + 12, &from->sin_addr, 4);
	return address;
}

static void need_v4(const struct sockt *t)
{
	if (t->family != AF_INET)
		check_skip("the addresses are none of IPv4");
}

static int socket6(const struct sockt *t)
{
	return NEED(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, t->protocol));
}

static void mapped_client(struct sockt *t)
{
	struct sockaddr_storage want, peer, name;
	int fd;
	long port;

	need_v4(t);
	port = far_do(t, "listen 0 1");
	fd = socket6(t);
	want = mapped(sock_far(t, (int)port));
	NEED(sock_connect(fd, want));
	far_do(t, "accept 0 1");
	peer = sock_peer(fd);
	WANT(sock_same(&peer, &want));
	name = sock_name(fd);
	want = mapped(sock_near(t, sock_port(fd)));
	WANT(sock_same(&name, &want));
	DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
	far_do(t, "recv 1 %llu 5000 0", NEAR_BASE);
	WANT_EQ(sock_get(fd, SOL_SOCKET, SO_DOMAIN), AF_INET6);
}

static void mapped_server(struct sockt *t)
{
	struct sockaddr_storage any = { .ss_family = AF_INET6 }, want, peer;
	int listener, fd;

	need_v4(t);
	listener = socket6(t);
	sock_set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	NEED(sock_bind(listener, any));
	NEED(listen(listener, 1));
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	peer = sock_peer(fd);
	want = mapped(sock_far(t, sock_address_port(&peer)));
	WANT(sock_same(&peer, &want));
	far_do(t, "send 0 %llu 5000 0 0", FAR_BASE);
	DONE(io_recv(fd, FAR_BASE, 5000, 0));
}

static void mapped_bind(struct sockt *t)
{
	int listener, fd;

	need_v4(t);
	listener = socket6(t);
	NEED(sock_bind(listener, mapped(sock_near(t, 0))));
	NEED(listen(listener, 1));
	far_do(t, "connect 0 %d", sock_port(listener));
	fd = sock_accept(listener);
	far_do(t, "send 0 %llu 5000 0 0", FAR_BASE);
	DONE(io_recv(fd, FAR_BASE, 5000, 0));
}

static void only(struct sockt *t)
{
	struct sockaddr_storage any = { .ss_family = AF_INET6 };
	int listener, fd;

	need_v4(t);
	listener = socket6(t);
	sock_set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	WANT_EQ(sock_get(listener, IPPROTO_IPV6, IPV6_V6ONLY), 1);
	NEED(sock_bind(listener, any));
	NEED(listen(listener, 1));
	WANT_EQ(far_try(t, "connect 0 %d", sock_port(listener)), -ECONNREFUSED);
	/* beside it there may be a listener for IPv4 */
	fd = sock_new(t, 0);
	NEED(sock_bind(fd, sock_near(t, sock_port(listener))));
	NEED(listen(fd, 1));
	far_do(t, "connect 0 %d", sock_port(listener));
	sock_accept(fd);
	WANT_ERR(sock_bind(socket6(t), mapped(sock_near(t, sock_port(fd)))), EADDRINUSE);
	sock_set(fd = socket6(t), IPPROTO_IPV6, IPV6_V6ONLY, 1);
	WANT_EQ(sock_connect(fd, mapped(sock_far(t, 1))), -1);
	WANT(errno == ENETUNREACH);
}

static void both(struct sockt *t)
{
	struct sockaddr_storage any = { .ss_family = AF_INET6 };
	int listener = socket6(t), other;

	sock_set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	NEED(sock_bind(listener, any));
	NEED(listen(listener, 1));
	other = NEED(socket(AF_INET, SOCK_STREAM, t->protocol));
	any.ss_family = AF_INET;
	sock_set_port(&any, sock_port(listener));
	WANT_ERR(sock_bind(other, any), EADDRINUSE);
}

const struct sockt_case ipv6_cases[] = {
	{ "ipv6-names", "getsockname(), getpeername(), of both sides", names },
	{ "ipv6-mapped-client", "::ffff:ADDRESS of a listener of IPv4", mapped_client },
	{ "ipv6-mapped-server", "a listener of IPv6 has a client of IPv4", mapped_server },
	{ "ipv6-mapped-bind", "bound to ::ffff:ADDRESS", mapped_bind },
	{ "ipv6-only", "IPV6_V6ONLY has no client of IPv4", only },
	{ "ipv6-conflict", "EADDRINUSE between the families", both },
	{ 0 }
};
