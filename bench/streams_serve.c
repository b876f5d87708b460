// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Answers requests of all connections by one epoll, as servers do. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "streams.h"

#define CHUNK	65536

struct peer {
	int fd;
	int listens;		/* it is a listener */
	int greeted;		/* its hello has come */
	uint64_t request;	/* bytes of each of its requests */
	uint64_t got;		/* of the present one */
	uint8_t tail[STREAMS_TAIL];	/* the last bytes, in a ring */
};

static int watch(int epoll, struct peer peer)
{
	struct peer *kept = malloc(sizeof(*kept));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = kept };

	if (!kept)
		return streams_failed("malloc");
	*kept = peer;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, peer.fd, &event)) {
		free(kept);
		return streams_failed("epoll_ctl");
	}
	return 0;
}

static int listen_by(int epoll, const char *address, int protocol, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, protocol), one = 1;

	if (fd < 0)
		return streams_failed("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (inet_pton(AF_INET, address, &sin.sin_addr) != 1 || bind(fd, (struct sockaddr *)&sin, sizeof(sin)) ||
	    listen(fd, 1024))
		return streams_failed("listen");
	return watch(epoll, (struct peer){ .fd = fd, .listens = 1 });
}

static int accept_one(int epoll, const struct peer *listener)
{
	int fd = accept(listener->fd, NULL, NULL), one = 1;

	if (fd < 0)
		return streams_failed("accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return watch(epoll, (struct peer){ .fd = fd });
}

static size_t tail_bytes(size_t bytes)
{
	if (bytes > STREAMS_TAIL)
		return STREAMS_TAIL;
	return bytes;
}

/* A request is complete: its last bytes, in their order */
static int answer(struct peer *peer)
{
	const size_t bytes = tail_bytes(peer->request);
	size_t start = (size_t)(peer->request - bytes) % STREAMS_TAIL;
	uint8_t data[STREAMS_TAIL];

	for (size_t i = 0; i < bytes; i++)
		data[i] = peer->tail[(start + i) % STREAMS_TAIL];
	peer->got = 0;
	return streams_send(peer->fd, data, bytes);
}

static int take(struct peer *peer, const uint8_t *data, size_t bytes)
{
	const size_t kept = tail_bytes(bytes), skip = bytes - kept;

	for (size_t i = 0; i < kept; i++)
		peer->tail[(peer->got + skip + i) % STREAMS_TAIL] = data[skip + i];
	peer->got += bytes;
	return peer->got == peer->request ? answer(peer) : 0;
}

static int hear(struct peer *peer)
{
	static uint8_t buffer[CHUNK];
	struct streams_hello hello;
	uint64_t left = peer->request - peer->got;
	ssize_t got;

	if (!peer->greeted) {
		if (recv(peer->fd, &hello, sizeof(hello), MSG_WAITALL) != sizeof(hello) || !hello.request)
			return -1;
		peer->greeted = 1;
		peer->request = hello.request;
		return 0;
	}
	got = recv(peer->fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer), 0);
	return got <= 0 ? -1 : take(peer, buffer, (size_t)got);
}

int streams_serve(const char *address, char *const *protocols)
{
	struct epoll_event events[64];
	int epoll = epoll_create1(0), port = STREAMS_PORT, count;

	for (; *protocols; protocols++)
		if (listen_by(epoll, address, atoi(*protocols), port++))
			return -1;
	puts("ready");
	fflush(stdout);
	while ((count = epoll_wait(epoll, events, 64, -1)) >= 0) {
		for (int i = 0; i < count; i++) {
			struct peer *peer = events[i].data.ptr;

			if (peer->listens) {
				if (accept_one(epoll, peer))
					return -1;
			} else if (hear(peer)) {
				close(peer->fd);
				free(peer);
			}
		}
	}
	return streams_failed("epoll_wait");
}
