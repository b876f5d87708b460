// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* TCP Fast Open and deferred accept: the data arrives, whether it came with the first packet or not. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "sockt.h"

static void listener(struct sockt *t)
{
	int fd = sock_new(t, 0), accepted;

	sock_set(fd, IPPROTO_TCP, TCP_FASTOPEN, 16);
	NEED(sock_bind(fd, sock_near(t, 0)));
	NEED(listen(fd, 16));
	sock_set(fd, IPPROTO_TCP, TCP_FASTOPEN, 32);
	WANT_EQ(sock_get(fd, IPPROTO_TCP, TCP_FASTOPEN), 32);
	far_do(t, "connect 0 %d", sock_port(fd));
	accepted = sock_accept(fd);
	far_do(t, "send 0 %llu 100 0 0", FAR_BASE);
	DONE(io_recv(accepted, FAR_BASE, 100, 0));
	WANT_ERR(setsockopt(sock_pair(t, CLIENT, 1), IPPROTO_TCP, TCP_FASTOPEN, &(int){ 5 }, sizeof(int)), EINVAL);
}

/* Again and again, since the first one has no cookie */
static void message(struct sockt *t)
{
	long port;
	int i;

	far_do(t, "socket 0");
	far_do(t, "set 0 %d %d 16", IPPROTO_TCP, TCP_FASTOPEN);
	port = far_do(t, "listen 0 5");
	for (i = 0; i < 3; i++) {
		struct sockaddr_storage to = sock_far(t, (int)port);
		int fd = sock_new(t, 0);
		char buffer[500];

		io_fill(buffer, NEAR_BASE, sizeof(buffer));
		WANT_EQ(sendto(fd, buffer, sizeof(buffer), MSG_FASTOPEN, (struct sockaddr *)&to, sock_len(&to)),
			sizeof(buffer));
		far_do(t, "accept 0 1");
		far_do(t, "recv 1 %llu %zu 0", NEAR_BASE, sizeof(buffer));
		far_do(t, "send 1 %llu 10 0 0", FAR_BASE);
		DONE(io_recv(fd, FAR_BASE, 10, 0));
		close(fd);
		far_do(t, "close 1");
	}
}

static void message_refused(struct sockt *t)
{
	struct sockaddr_storage to = sock_far(t, (int)far_do(t, "listen 0 1"));
	int fd = sock_new(t, 0);

	far_do(t, "close 0");
	WANT_ERR(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, sock_len(&to)), ECONNREFUSED);
}

static void connecting(struct sockt *t)
{
	long port = far_do(t, "listen 0 5");
	int i;

	for (i = 0; i < 3; i++) {
		int fd = sock_new(t, 0);

		sock_set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
		NEED(sock_connect(fd, sock_far(t, (int)port)));
		DONE(io_send(fd, NEAR_BASE, 3000, 0, 0));
		far_do(t, "accept 0 1");
		far_do(t, "recv 1 %llu 3000 0", NEAR_BASE);
		far_do(t, "send 1 %llu 10 0 0", FAR_BASE);
		DONE(io_recv(fd, FAR_BASE, 10, 0));
		close(fd);
		far_do(t, "close 1");
	}
}

static void deferred(struct sockt *t)
{
	int fd = sock_new(t, 0), accepted;

	/* long enough that none is handed out for its time */
	sock_set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 600);
	WANT(sock_get(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT) >= 60);
	NEED(sock_bind(fd, sock_near(t, 0)));
	NEED(listen(fd, 5));
	far_do(t, "connect 0 %d", sock_port(fd));
	far_do(t, "connect 1 %d", sock_port(fd));
	sock_nonblocking(fd, true);
	WANT_ERR(accept(fd, NULL, NULL), EAGAIN);
	far_do(t, "send 1 %llu 100 0 0", FAR_BASE);
	sock_await(fd, POLLIN);
	accepted = NEED(accept(fd, NULL, NULL));
	sock_nonblocking(accepted, true);
	DONE(io_recv(accepted, FAR_BASE, 100, 0));
	WANT_ERR(accept(fd, NULL, NULL), EAGAIN);
}

const struct sockt_case fast_cases[] = {
	{ "fast-listener", "TCP_FASTOPEN of a listener", listener },
	{ "fast-message", "MSG_FASTOPEN", message },
	{ "fast-message-refused", "MSG_FASTOPEN: ECONNREFUSED", message_refused },
	{ "fast-connect", "TCP_FASTOPEN_CONNECT", connecting },
	{ "fast-deferred", "TCP_DEFER_ACCEPT: who has sent nothing is not handed out", deferred },
	{ 0 }
};
