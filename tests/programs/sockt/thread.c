// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* One socket in several threads. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sockt.h"

enum { THREADS = 6, EACH = 100000 };

/* A thread of a case, and what it has: its number, and a socket */
struct worker {
	pthread_t thread;
	int number, fd;
	int tid;		/* 0: it has not begun */
	long long result;
};

static void start(struct worker *w, int number, int fd, void *(*run)(void *))
{
	*w = (struct worker){ .number = number, .fd = fd };
	WANT_EQ(pthread_create(&w->thread, NULL, run, w), 0);
}

static long long end(struct worker *w)
{
	WANT_EQ(pthread_join(w->thread, NULL), 0);
	return w->result;
}

static void *send_own(void *arg)
{
	struct worker *w = arg;
	char buffer[333];
	int left;

	memset(buffer, 'a' + w->number, sizeof(buffer));
	for (left = EACH; left > 0;) {
		ssize_t some = send(w->fd, buffer, (size_t)left < sizeof(buffer) ? (size_t)left : sizeof(buffer), 0);

		NEED(some);
		left -= (int)some;
	}
	return NULL;
}

/* TCP promises that each byte arrives, and not how those of several senders follow one another. */
static void senders(struct sockt *t)
{
	struct worker workers[THREADS];
	int listener = sock_listen(t, 1), out = sock_new(t, 0), in, count[256] = { 0 }, i;
	unsigned char buffer[5000];
	ssize_t got, j;

	NEED(sock_connect(out, sock_near(t, sock_port(listener))));
	in = sock_accept(listener);
	for (i = 0; i < THREADS; i++)
		start(&workers[i], i, out, send_own);
	for (i = 0; i < THREADS * EACH; i += (int)got) {
		got = NEED(recv(in, buffer, sizeof(buffer), 0));
		WANT(got > 0);
		for (j = 0; j < got; j++)
			count[buffer[j]]++;
	}
	for (i = 0; i < THREADS; i++) {
		end(&workers[i]);
		WANT_EQ(count['a' + i], EACH);
	}
}

static void *receive_some(void *arg)
{
	struct worker *w = arg;
	char buffer[777];
	ssize_t got;

	while ((got = NEED(recv(w->fd, buffer, sizeof(buffer), 0))))
		w->result += got;
	return NULL;
}

static void receivers(struct sockt *t)
{
	struct worker workers[THREADS];
	int fd = sock_pair(t, CLIENT, 0), i;
	long long sum = 0;

	for (i = 0; i < THREADS; i++)
		start(&workers[i], i, fd, receive_some);
	far_do(t, "send 0 %llu 1000000 0 0", FAR_BASE);
	far_do(t, "shutdown 0 %d", SHUT_WR);
	for (i = 0; i < THREADS; i++)
		sum += end(&workers[i]);
	WANT_EQ(sum, 1000000);
}

static void *send_pattern(void *arg)
{
	struct worker *w = arg;

	DONE(io_send(w->fd, NEAR_BASE, 3000000, 0, 0));
	return NULL;
}

static void both(struct sockt *t)
{
	struct worker sender;
	int fd = sock_pair(t, SERVER, 0);

	far_start(t, "both 0 %llu 3000000 %llu 3000000 0", FAR_BASE, NEAR_BASE);
	start(&sender, 0, fd, send_pattern);
	DONE(io_recv(fd, FAR_BASE, 3000000, 0));
	end(&sender);
	far_end(t);
}

static void *receive_one(void *arg)
{
	struct worker *w = arg;
	char byte;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->result = recv(w->fd, &byte, 1, 0);
	return NULL;
}

static void *accept_one(void *arg)
{
	struct worker *w = arg;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->result = accept(w->fd, NULL, NULL);
	if (w->result < 0)
		w->result = -errno;
	return NULL;
}

/* Until it sleeps in a call of that number, as /proc tells it */
static void await_asleep(struct worker *w, int call)
{
	long tries;

	for (tries = 0; tries < check_limit_s() * 1000L; tries++) {
		int tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE), is = -1;
		char path[64];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
		file = tid ? fopen(path, "re") : NULL;
		if (file && fscanf(file, "%d", &is) != 1)
			is = -1;
		if (file)
			fclose(file);
		if (is == call)
			return;
		usleep(1000);
	}
	check_skip("the kernel does not tell who sleeps where");
}

/* Whoever is blocked when it is closed stays blocked, and gets what comes. */
static void closed(struct sockt *t)
{
	struct worker reader;
	int fd = sock_pair(t, CLIENT, 0);

	start(&reader, 0, fd, receive_one);
	await_asleep(&reader, SYS_recvfrom);
	close(fd);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	WANT_EQ(end(&reader), 1);
	WANT(far_do(t, "poll 0 %d", POLLIN) & POLLIN);
}

static void shut(struct sockt *t)
{
	struct worker reader;
	int fd = sock_pair(t, CLIENT, 0);

	start(&reader, 0, fd, receive_one);
	await_asleep(&reader, SYS_recvfrom);
	NEED(shutdown(fd, SHUT_RDWR));
	WANT_EQ(end(&reader), 0);
}

static void shut_listener(struct sockt *t)
{
	struct worker acceptor;
	int fd = sock_listen(t, 1);

	start(&acceptor, 0, fd, accept_one);
	await_asleep(&acceptor, SYS_accept);
	NEED(shutdown(fd, SHUT_RDWR));
	WANT_EQ(end(&acceptor), -EINVAL);
}

static void *poll_one(void *arg)
{
	struct worker *w = arg;

	w->result = sock_await(w->fd, POLLIN);
	return NULL;
}

/* All who poll hear of it, not only one. */
static void polled(struct sockt *t)
{
	struct worker workers[THREADS];
	int fd = sock_pair(t, CLIENT, 0), i;

	for (i = 0; i < THREADS; i++)
		start(&workers[i], i, fd, poll_one);
	far_do(t, "send 0 %llu 1 0 0", FAR_BASE);
	for (i = 0; i < THREADS; i++)
		WANT_EQ(end(&workers[i]), POLLIN);
}

const struct sockt_case thread_cases[] = {
	{ "thread-senders", "six at once: each byte arrives", senders },
	{ "thread-receivers", "six at once: each byte once", receivers },
	{ "thread-both", "one sends, one receives, 3 MB each", both },
	{ "thread-closed", "close() while one is blocked in recv(), as TCP has it", closed },
	{ "thread-shut", "shutdown() wakes recv()", shut },
	{ "thread-shut-listener", "shutdown() wakes accept(): EINVAL", shut_listener },
	{ "thread-polled", "six poll(), all wake", polled },
	{ 0 }
};
