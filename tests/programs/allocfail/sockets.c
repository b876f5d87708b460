// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls on stream sockets, of each kind of connection: near, to this network namespace's own
 * address; far, to an echo on the other node; TCP, by the loopback address, which is no VQP's. What
 * finds no memory by vqp may go by TCP, so that the bytes that go through tell whether all is well.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "main.h"
#include "run.h"

#define BYTES		1000
#define PATIENCE_S	30
#define SETTLE_US	300000

enum way { NEAR, FAR, TCP };	/* run_case.count */

static int make(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_VQP);
}

static int made(void)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = make(AF_INET);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die(errno, "a socket");
	return fd;
}

static struct sockaddr_in far_address(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)far.port) };

	memcpy(&address.sin_addr, far.gid + 12, sizeof(address.sin_addr));
	return address;
}

/* This end's address of what leads to the other node. */
static struct in_addr own_address(void)
{
	struct sockaddr_in address = far_address();
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes))
		die(errno, "the own address");
	close(fd);
	return address.sin_addr;
}

/* Where a case connects to. */
static struct sockaddr_in target(const struct stage *s, const struct run_case *c)
{
	struct sockaddr_in address = { 0 };
	socklen_t bytes = sizeof(address);

	if (c->count == FAR)
		return far_address();
	if (getsockname(s->listener, (struct sockaddr *)&address, &bytes))
		die(errno, "getsockname");
	return address;
}

/* ---- What there is before the call ---- */

static void prepare_client(struct stage *s, const struct run_case *c)
{
	(void)c;
	s->client = made();
}

static void prepare_listener(struct stage *s, const struct run_case *c)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	prepare_client(s, c);
	if (c->count == FAR)
		return;
	address.sin_addr = own_address();
	if (c->count == TCP)
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listener = made();
	if (bind(s->listener, (struct sockaddr *)&address, sizeof(address)) || listen(s->listener, 4))
		die(errno, "a listener");
}

static int connect_call(struct stage *s, const struct run_case *c)
{
	const struct sockaddr_in address = target(s, c);

	return connect(s->client, (const struct sockaddr *)&address, sizeof(address)) ? errno : 0;
}

static void prepare_connected(struct stage *s, const struct run_case *c)
{
	prepare_listener(s, c);
	if (connect_call(s, c))
		die(errno, "connect");
	/* The frame by which it goes on is counted while it is under way. */
	if (c->count == FAR)
		usleep(SETTLE_US);
}

static int accept_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	s->server = accept(s->listener, NULL, NULL);
	return s->server < 0 ? errno : 0;
}

static void prepare_pair(struct stage *s, const struct run_case *c)
{
	prepare_connected(s, c);
	if (c->count != FAR && accept_call(s, c))
		die(errno, "accept");
}

/* ---- Bytes: from the client to its peer, and back ---- */

static void fill(char *bytes)
{
	int i;

	for (i = 0; i < BYTES; i++)
		bytes[i] = (char)(i * 7);
}

static int send_call(struct stage *s, const struct run_case *c)
{
	char bytes[BYTES];
	ssize_t n;

	(void)c;
	fill(bytes);
	n = send(s->client, bytes, sizeof(bytes), MSG_NOSIGNAL);
	if (n >= 0 && n != BYTES)
		die(0, "%zd bytes were sent", n);
	return n < 0 ? errno : 0;
}

static void expect(int fd)
{
	char bytes[BYTES], got[BYTES];
	ssize_t n;

	fill(bytes);
	n = recv(fd, got, sizeof(got), MSG_WAITALL);
	if (n != BYTES)
		die(n < 0 ? errno : 0, "%zd bytes came", n);
	if (memcmp(bytes, got, sizeof(bytes)))
		die(0, "WRONG: other bytes came than were sent");
}

/* The far one is an echo. */
static void send_verify(struct stage *s, const struct run_case *c)
{
	expect(c->count == FAR ? s->client : s->server);
}

static void accept_verify(struct stage *s, const struct run_case *c)
{
	if (send_call(s, c))
		die(errno, "send");
	send_verify(s, c);
}

static void connect_verify(struct stage *s, const struct run_case *c)
{
	if (c->count != FAR && accept_call(s, c))
		die(errno, "accept");
	accept_verify(s, c);
}

/* What is to be read is at the client, where the peer is an echo, or else at the server. */
static void recv_prepare(struct stage *s, const struct run_case *c)
{
	char byte;

	prepare_pair(s, c);
	if (send_call(s, c) || recv(c->count == FAR ? s->client : s->server, &byte, 1, MSG_PEEK) != 1)
		die(errno, "a byte to read");
}

static int recv_call(struct stage *s, const struct run_case *c)
{
	char bytes[BYTES / 2];

	return recv(c->count == FAR ? s->client : s->server, bytes, sizeof(bytes), 0) < 0 ? errno : 0;
}

/* ---- The others ---- */

static int sock_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	s->client = make(c->count ? AF_INET6 : AF_INET);
	return s->client < 0 ? errno : 0;
}

static int bind_call(struct stage *s, const struct run_case *c)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	(void)c;
	return bind(s->client, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
}

static void bind_verify(struct stage *s, const struct run_case *c)
{
	struct sockaddr_in address = { 0 };
	socklen_t bytes = sizeof(address);

	(void)c;
	if (getsockname(s->client, (struct sockaddr *)&address, &bytes) || !address.sin_port)
		die(errno, "it has no port");
}

static int listen_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	return listen(s->client, 4) ? errno : 0;
}

/* One that is kept, and one that TCP knows. */
static int option_call(struct stage *s, const struct run_case *c)
{
	const int level = c->count ? IPPROTO_IP : IPPROTO_TCP, name = c->count ? IP_TTL : TCP_NODELAY;
	int value = 1;

	return setsockopt(s->client, level, name, &value, sizeof(value)) ? errno : 0;
}

static int shutdown_call(struct stage *s, const struct run_case *c)
{
	(void)c;
	return shutdown(s->client, SHUT_WR) ? errno : 0;
}

/* The peer sees the end, and so does who has an echo. */
static void shutdown_verify(struct stage *s, const struct run_case *c)
{
	char byte;

	if (recv(c->count == FAR ? s->client : s->server, &byte, 1, 0))
		die(errno, "no end of file");
}

static int close_call(struct stage *s, const struct run_case *c)
{
	int *fd = c->count == TCP ? &s->listener : &s->client, closed = *fd;

	*fd = -1;
	return close(closed) ? errno : 0;
}

static void epoll_prepare(struct stage *s, const struct run_case *c)
{
	prepare_pair(s, c);
	s->new_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->new_fd < 0)
		die(errno, "epoll_create1");
}

static int epoll_call(struct stage *s, const struct run_case *c)
{
	struct epoll_event event = { .events = EPOLLIN };

	(void)c;
	return epoll_ctl(s->new_fd, EPOLL_CTL_ADD, c->count == FAR ? s->client : s->server, &event) ? errno : 0;
}

static void epoll_verify(struct stage *s, const struct run_case *c)
{
	struct epoll_event event;

	if (send_call(s, c) || epoll_wait(s->new_fd, &event, 1, PATIENCE_S * 1000) != 1)
		die(errno, "no event");
}

#define CASE(name_, prepare_, call_, verify_, count_, ...) \
	{ .name = name_, .prepare = prepare_, .call = call_, .verify = verify_, .count = count_, __VA_ARGS__ }

/* The table of sockets tries once more when it may sleep. */
#define TABLE		"vqp_sock_table_add:xas_alloc "
/* What has no memory for a connection by vqp connects by TCP, which does without some itself. */
#define CONNECTS	"vqp_pair_make vqp_far_make vqp_route_find:* vqp_sock_connect:* "

const struct run_case sockets[] = {
	CASE("sock", run_nothing, sock_call, run_nothing, 0, .optional = TABLE),
	CASE("sock-ipv6", run_nothing, sock_call, run_nothing, 1, .optional = TABLE),
	/* TCP says so of a port that it has no memory for. */
	CASE("sock-bind", prepare_client, bind_call, bind_verify, 0, .also = EADDRINUSE),
	CASE("sock-listen", prepare_client, listen_call, bind_verify, 0, .also = EADDRINUSE),
	CASE("sock-option", prepare_client, option_call, run_nothing, 0),
	CASE("sock-option-tcp", prepare_client, option_call, run_nothing, 1),
	CASE("sock-connect-near", prepare_listener, connect_call, connect_verify, NEAR, .optional = CONNECTS),
	CASE("sock-connect-far", prepare_listener, connect_call, connect_verify, FAR, .optional = CONNECTS),
	CASE("sock-connect-tcp", prepare_listener, connect_call, connect_verify, TCP, .optional = CONNECTS),
	CASE("sock-accept-near", prepare_connected, accept_call, accept_verify, NEAR, .optional = TABLE),
	CASE("sock-accept-tcp", prepare_connected, accept_call, accept_verify, TCP),
	CASE("sock-send-near", prepare_pair, send_call, send_verify, NEAR),
	CASE("sock-send-far", prepare_pair, send_call, send_verify, FAR),
	CASE("sock-recv-near", recv_prepare, recv_call, run_nothing, NEAR),
	CASE("sock-recv-far", recv_prepare, recv_call, run_nothing, FAR),
	CASE("sock-epoll-near", epoll_prepare, epoll_call, epoll_verify, NEAR),
	CASE("sock-epoll-far", epoll_prepare, epoll_call, epoll_verify, FAR),
	CASE("sock-shutdown-near", prepare_pair, shutdown_call, shutdown_verify, NEAR),
	CASE("sock-shutdown-far", prepare_pair, shutdown_call, shutdown_verify, FAR),
	CASE("sock-close-near", recv_prepare, close_call, run_nothing, NEAR),
	CASE("sock-close-far", recv_prepare, close_call, run_nothing, FAR),
	CASE("sock-close-listener", prepare_connected, close_call, run_nothing, TCP,
	     .optional = "vqp_inner_release:* "),
	{ 0 }
};
