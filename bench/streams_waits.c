// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What it costs to wait for an answer, by the number of clients, each a thread with a connection of
 * its own: RR-Compound's comparison of busy polling, events and BPEV (section IV, figures 4 and 5).
 */
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "payload.h"
#include "sample.h"
#include "streams.h"
#include "transport.h"

#define ASK_BYTES	32
#define ASKS		1024	/* of all clients together */
#define CLIENTS_MAX	64
#define INTERVAL_US	300	/* between an answer and the next request, as theirs */

enum way {
	TCP,		/* a receive of TCP that blocks */
	SPIN,		/* ask again and again */
	EVENT,		/* sleep until there is something */
	ADAPTIVE,	/* a receive that blocks, which does as it thinks best */
	WAYS,
};

static const char *const way_names[WAYS] = { "tcp", "spin", "event", "adaptive" };

struct trial {
	enum way way;
	int interval_us;
	int clients;
	pthread_barrier_t begin;
	atomic_int failed;
	struct sample sample;	/* from a request to its answer; each client has a share of ASKS */
};

_Static_assert(ASKS <= SAMPLE_MAX, "a sample holds what all clients ask");

struct client {
	struct trial *trial;
	pthread_t thread;
	int fds[2];		/* by TCP, and by vqp */
	int number;
};

static int wait_for(enum way way, int fd, const uint8_t *data)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (way == EVENT && poll(&pollfd, 1, -1) != 1)
		return streams_failed("poll");
	return streams_expect(fd, data, ASK_BYTES, way == SPIN || way == EVENT ? MSG_DONTWAIT : 0);
}

static void *client_run(void *arg)
{
	const struct client *client = arg;
	struct trial *trial = client->trial;
	const int asks = ASKS / trial->clients, fd = client->fds[trial->way != TCP];
	double *us = trial->sample.us + client->number * asks;
	uint8_t data[ASK_BYTES];

	pthread_barrier_wait(&trial->begin);
	for (int i = 0; i < asks && !trial->failed; i++) {
		uint64_t start;

		if (trial->interval_us)
			usleep((useconds_t)trial->interval_us);
		payload_fill(data, sizeof(data), (uint64_t)client->number * ASKS + (uint64_t)i);
		start = transport_now_ns();
		if (streams_ask(fd, data, sizeof(data)) || wait_for(trial->way, fd, data))
			trial->failed = 1;
		us[i] = (double)(transport_now_ns() - start) / 1000;
	}
	return NULL;
}

/* All clients ask at once until their share is done. The row, or NULL. */
static json_t *trial_run(struct trial *trial, struct client *clients)
{
	double busy_us, median_us;

	pthread_barrier_init(&trial->begin, NULL, (unsigned int)trial->clients + 1);
	for (int i = 0; i < trial->clients; i++) {
		clients[i].trial = trial;
		clients[i].number = i;
		if (pthread_create(&clients[i].thread, NULL, client_run, &clients[i])) {
			fprintf(stderr, "streams: no more threads\n");
			exit(EXIT_FAILURE);
		}
	}
	busy_us = streams_busy_us();
	pthread_barrier_wait(&trial->begin);
	for (int i = 0; i < trial->clients; i++)
		pthread_join(clients[i].thread, NULL);
	busy_us = streams_busy_us() - busy_us;
	pthread_barrier_destroy(&trial->begin);
	if (trial->failed)
		return NULL;
	trial->sample.count = ASKS;
	median_us = sample_median(&trial->sample);
	return json_pack("{s:s, s:i, s:i, s:f, s:f, s:f}", "wait", way_names[trial->way],
			 "interval_us", trial->interval_us, "clients", trial->clients,
			 "latency_us", median_us, "p99_us", trial->sample.us[ASKS * 99 / 100],
			 "cpu_us", busy_us / ASKS);
}

/* All ways, one after the other, for so many clients at both rates. 0, or -1 */
static int clients_try(struct client *clients, int count, json_t *rows)
{
	static const int intervals_us[] = { 0, INTERVAL_US };

	for (size_t i = 0; i < sizeof(intervals_us) / sizeof(intervals_us[0]); i++) {
		for (int way = 0; way < WAYS; way++) {
			static struct trial trial;

			trial = (struct trial){ .way = (enum way)way, .interval_us = intervals_us[i], .clients = count };
			if (json_array_append_new(rows, trial_run(&trial, clients)))
				return -1;
		}
	}
	return 0;
}

static int clients_open(struct client *clients, const char *address, const int *protocols)
{
	for (int i = 0; i < 2 * CLIENTS_MAX; i++) {
		int side = i % 2, fd = streams_connect(address, protocols[side], STREAMS_PORT + side, ASK_BYTES);

		if (fd < 0)
			return -1;
		clients[i / 2].fds[side] = fd;
	}
	return 0;
}

int streams_waits(const char *address, const int *protocols, int rounds)
{
	static struct client clients[CLIENTS_MAX];
	json_t *rows = json_array();
	int ret = clients_open(clients, address, protocols);

	for (int round = 0; !ret && round < rounds; round++)
		for (int count = 1; !ret && count <= CLIENTS_MAX; count *= 4)
			ret = clients_try(clients, count, rows);
	if (!ret) {
		ret = json_dumpf(rows, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
		puts("");
	}
	json_decref(rows);
	return ret;
}
