// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sockets of the near side. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sockt.h"

int sock_new(const struct sockt *t, int flags)
{
	return NEED(socket(t->family, SOCK_STREAM | SOCK_CLOEXEC | flags, t->protocol));
}

socklen_t sock_len(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* sin_port and sin6_port are at the same place */
void sock_set_port(struct sockaddr_storage *address, int port)
{
	((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
}

int sock_address_port(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

bool sock_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family || a4->sin_port != b4->sin_port)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

struct sockaddr_storage sock_near(const struct sockt *t, int port)
{
	struct sockaddr_storage address = t->near;

	sock_set_port(&address, port);
	return address;
}

struct sockaddr_storage sock_far(const struct sockt *t, int port)
{
	struct sockaddr_storage address = t->far;

	sock_set_port(&address, port);
	return address;
}

struct sockaddr_storage sock_name(int fd)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);

	NEED(getsockname(fd, (struct sockaddr *)&address, &len));
	WANT_EQ(len, sock_len(&address));
	return address;
}

struct sockaddr_storage sock_peer(int fd)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);

	NEED(getpeername(fd, (struct sockaddr *)&address, &len));
	WANT_EQ(len, sock_len(&address));
	return address;
}

int sock_port(int fd)
{
	struct sockaddr_storage address = sock_name(fd);

	return sock_address_port(&address);
}

int sock_bind(int fd, struct sockaddr_storage address)
{
	return bind(fd, (struct sockaddr *)&address, sock_len(&address));
}

int sock_connect(int fd, struct sockaddr_storage address)
{
	return connect(fd, (struct sockaddr *)&address, sock_len(&address));
}

int sock_listen(const struct sockt *t, int backlog)
{
	int fd = sock_new(t, 0);

	NEED(sock_bind(fd, sock_near(t, 0)));
	NEED(listen(fd, backlog));
	return fd;
}

int sock_reach(const struct sockt *t, int port)
{
	int fd = sock_new(t, 0);

	NEED(sock_connect(fd, sock_far(t, port)));
	return fd;
}

int sock_accept(int listener)
{
	sock_await(listener, POLLIN);
	return NEED(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

int sock_pair(struct sockt *t, enum role role, int slot)
{
	int listener, fd;

	if (role == CLIENT) {
		long port = far_do(t, "listen %d 1", FAR_SLOTS - 1);

		fd = sock_reach(t, (int)port);
		far_do(t, "accept %d %d", FAR_SLOTS - 1, slot);
		far_do(t, "close %d", FAR_SLOTS - 1);
		return fd;
	}
	listener = sock_listen(t, 1);
	far_do(t, "socket %d", slot);
	far_do(t, "connect %d %d", slot, sock_port(listener));
	fd = sock_accept(listener);
	close(listener);
	return fd;
}

void sock_set(int fd, int level, int name, int value)
{
	NEED(setsockopt(fd, level, name, &value, sizeof(value)));
}

int sock_get(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	NEED(getsockopt(fd, level, name, &value, &len));
	WANT_EQ(len, sizeof(value));
	return value;
}

void sock_linger(int fd, int seconds)
{
	struct linger linger = { .l_onoff = 1, .l_linger = seconds };

	NEED(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

void sock_nonblocking(int fd, bool on)
{
	int flags = NEED(fcntl(fd, F_GETFL));

	NEED(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

int sock_await(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = (short)events };

	/* what was not asked for may have come */
	do
		WANT_EQ(poll(&p, 1, check_limit_s() * 1000), 1);
	while (!(p.revents & events));
	return p.revents;
}

int sock_events(int fd)
{
	struct pollfd p = { .fd = fd, .events = (short)0x3fff };

	NEED(poll(&p, 1, 0));
	return p.revents;
}

void sock_await_queued(int fd, int bytes)
{
	int queued = -1;
	long tries;

	for (tries = 0; tries < check_limit_s() * 1000L; tries++) {
		NEED(ioctl(fd, FIONREAD, &queued));
		if (queued >= bytes)
			break;
		usleep(1000);
	}
	WANT_EQ(queued, bytes);
}

/* Until EAGAIN; how many bytes */
static uint64_t send_until_full(int fd, uint64_t from)
{
	uint8_t buffer[8192];
	uint64_t sent = 0;

	for (;;) {
		ssize_t some;

		io_fill(buffer, from + sent, sizeof(buffer));
		some = send(fd, buffer, sizeof(buffer), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (some < 0)
			break;
		sent += (size_t)some;
		WANT(sent < 1ULL << 30);
	}
	WANT_EQ(errno, EAGAIN);
	return sent;
}

/* While bytes are still on their way to the receiver's queue, there is soon room for more. */
uint64_t sock_fill(int fd, uint64_t from)
{
	int left = -1, before, same = 0;
	uint64_t sent = 0;

	while (same < 2) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		sent += send_until_full(fd, from + sent);
		before = left;
		NEED(ioctl(fd, SIOCOUTQ, &left));
		same = !poll(&p, 1, 200) && left == before ? same + 1 : 0;
	}
	return sent;
}
