// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stream sockets: each worker echoes what comes to it, and connects to others, to itself, and by the
 * loopback address, which is TCP's. What comes back must be what was sent, once and in order, as far
 * as it comes: connections break when a worker or its namespace goes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/vqp.h>
#include "soak.h"

#define STREAM_PORT	7700
#define STREAM_MS	100		/* between looks at whether the worker is to end */
#define STREAM_QUIET_NS	(10ULL * 1000000000)	/* A connection on which nothing moves is left. */
#define STREAM_PIECE	65536U
#define STREAM_ECHOES	32		/* connections of a server */

enum stream_end { STREAM_FIN, STREAM_RST, STREAM_CLOSE, STREAM_ENDS };

static int stream_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_VQP);
}

static bool stream_is_over(const struct soak_worker *worker, bool over)
{
	return over || soak_worker_doomed(worker);
}

/* ---- The server ---- */

struct echo {
	int fd;
	uint32_t bytes, sent;		/* of piece */
	bool ended;			/* The client sends no more. */
	char piece[STREAM_PIECE];
};

/* False: it is over. */
static bool echo_step(struct echo *e)
{
	ssize_t n;

	if (e->sent == e->bytes) {
		n = recv(e->fd, e->piece, sizeof(e->piece), 0);
		if (n < 0)
			return errno == EAGAIN;
		e->bytes = (uint32_t)n;
		e->sent = 0;
		if (!n)
			return false;
	}
	n = send(e->fd, e->piece + e->sent, e->bytes - e->sent, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN;
	e->sent += (uint32_t)n;
	return true;
}

static int echo_listen(void)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(STREAM_PORT) };
	int fd = stream_socket(), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)) || listen(fd, STREAM_ECHOES))
		return -1;
	return fd;
}

static void echo_accept(int listener, struct echo *echoes, uint32_t *n)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		echoes[*n].fd = fd;
		echoes[*n].bytes = echoes[*n].sent = 0;
		++*n;
	}
}

static void echo_round(int listener, struct echo *echoes, uint32_t *n)
{
	struct pollfd fds[STREAM_ECHOES + 1];
	uint32_t i;

	for (i = 0; i < *n; i++)
		fds[i] = (struct pollfd) { .fd = echoes[i].fd, .events = echoes[i].sent < echoes[i].bytes ? POLLOUT : POLLIN };
	fds[*n] = (struct pollfd) { .fd = *n < STREAM_ECHOES ? listener : -1, .events = POLLIN };
	if (poll(fds, *n + 1, STREAM_MS) <= 0)
		return;
	for (i = *n; i-- > 0; ) {
		if (!fds[i].revents || echo_step(&echoes[i]))
			continue;
		close(echoes[i].fd);
		echoes[i] = echoes[--*n];
	}
	if (*n < STREAM_ECHOES)
		echo_accept(listener, echoes, n);
}

void *soak_stream_serve(void *worker)
{
	static struct echo echoes[STREAM_ECHOES];
	int listener = echo_listen();
	uint32_t n = 0;

	if (listener < 0 && !soak_worker_doomed(worker))
		soak_wrong("no listener for streams: %s", strerror(errno));
	while (listener >= 0 && !stream_is_over(worker, soak_shared->over))
		echo_round(listener, echoes, &n);
	while (n)
		close(echoes[--n].fd);
	close(listener);
	return NULL;
}

/* ---- Clients ---- */

struct stream {
	int fd;
	uint64_t seed;
	uint32_t bytes, sent, came;
	enum stream_end end;
	uint32_t end_at;		/* It ends when so many bytes have come back. */
	bool finished;			/* Nothing more is sent. */
	uint64_t moved_ns;
};

static char stream_byte(const struct stream *s, uint32_t at)
{
	return (char)(soak_mix(s->seed, at / 8) >> at % 8 * 8);
}

/* Where to, which is TCP's own address at times. */
static struct sockaddr_in stream_target(uint64_t *random)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(STREAM_PORT) };
	char address[32] = "127.0.0.1";

	if (soak_below(random, 5))
		soak_box_address(address, sizeof(address), 1 + soak_below(random, soak_options.nodes),
				 1 + soak_below(random, soak_options.workers));
	inet_pton(AF_INET, address, &to.sin_addr);
	return to;
}

/* What does not connect by vqp, and is not by loopback, leads nowhere. */
static bool stream_connect(struct stream *s, uint64_t *random)
{
	const struct sockaddr_in to = stream_target(random);
	struct pollfd pfd = { .fd = s->fd, .events = POLLOUT };
	socklen_t bytes = sizeof(int);
	int err = 0;

	if (!connect(s->fd, (const struct sockaddr *)&to, sizeof(to)))
		return true;
	return errno == EINPROGRESS && poll(&pfd, 1, STREAM_MS) == 1 &&
	       !getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &bytes) && !err;
}

static void stream_count(const struct stream *s)
{
	int kind = 0;
	socklen_t bytes = sizeof(kind);

	if (getsockopt(s->fd, IPPROTO_VQP, VQP_SO_KIND, &kind, &bytes))
		soak_wrong("VQP_SO_KIND: %s", strerror(errno));
	soak_count(kind == VQP_SOCK_NEAR ? SOAK_N_NEAR : kind == VQP_SOCK_FAR ? SOAK_N_FAR : SOAK_N_TCP);
}

/* False: the connection has broken. */
static bool stream_send(struct stream *s)
{
	char piece[4096];
	const uint32_t left = s->bytes - s->sent;
	uint32_t n;
	ssize_t ret;

	for (n = 0; n < left && n < sizeof(piece); n++)
		piece[n] = stream_byte(s, s->sent + n);
	ret = send(s->fd, piece, n, MSG_NOSIGNAL);
	if (ret < 0)
		return errno == EAGAIN;
	s->sent += (uint32_t)ret;
	s->moved_ns = soak_now_ns();
	return true;
}

/* False: nothing more comes. */
static bool stream_recv(struct stream *s)
{
	char piece[STREAM_PIECE];
	const ssize_t n = recv(s->fd, piece, sizeof(piece), 0);
	const char *at;

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	for (at = piece; at < piece + n; at++, s->came++)
		if (s->came >= s->sent || *at != stream_byte(s, s->came))
			soak_wrong("byte %u of a stream of %u, of which %u were sent, is another", s->came, s->bytes,
				   s->sent);
	s->moved_ns = soak_now_ns();
	return true;
}

/* False: it is over. */
static bool stream_step(struct stream *s)
{
	struct pollfd pfd = { .fd = s->fd, .events = (short)(POLLIN | (s->sent < s->bytes ? POLLOUT : 0)) };

	if (s->end != STREAM_FIN && s->came >= s->end_at)
		return false;
	if (s->sent == s->bytes && !s->finished) {
		s->finished = true;
		shutdown(s->fd, SHUT_WR);
	}
	if (poll(&pfd, 1, STREAM_MS) < 0)
		return false;
	if (pfd.revents & POLLOUT && !stream_send(s))
		return false;
	return !(pfd.revents & ~POLLOUT) || stream_recv(s);
}

/* From its beginning to its end. */
static void stream_run(const struct soak_worker *worker, uint64_t *random)
{
	const struct linger abort = { .l_onoff = 1 };
	struct stream s = {
		.fd = stream_socket(), .seed = soak_random(random), .moved_ns = soak_now_ns(),
		.bytes = soak_below(random, soak_below(random, 3) ? 100 : 1 << 21),
		.end = soak_below(random, STREAM_ENDS),
	};

	if (s.fd < 0 && !soak_worker_doomed(worker))
		soak_wrong("a stream socket: %s", strerror(errno));
	s.end_at = soak_below(random, s.bytes + 1);
	if (s.fd >= 0 && stream_connect(&s, random)) {
		stream_count(&s);
		while (!stream_is_over(worker, soak_shared->over) && soak_now_ns() < s.moved_ns + STREAM_QUIET_NS)
			if (!stream_step(&s))
				break;
		if (s.finished && s.came == s.bytes)
			soak_count(SOAK_N_ECHO);
		atomic_fetch_add_explicit(&soak_shared->bytes, s.came, memory_order_relaxed);
	}
	if (s.end == STREAM_RST)
		setsockopt(s.fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	close(s.fd);
}

void *soak_stream_send(void *arg)
{
	const struct soak_worker *worker = arg;
	uint64_t random = soak_mix(worker->random, 3);

	while (!stream_is_over(worker, soak_shared->ending)) {
		stream_run(worker, &random);
		usleep(soak_below(&random, 20000));
	}
	return NULL;
}
