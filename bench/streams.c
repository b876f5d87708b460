// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Stream sockets of two protocols, by the same code in turn: microseconds, in each round. The other
 * end is streams_serve.c, which answers a request by its last bytes.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel_bytes.h"
#include "payload.h"
#include "streams.h"
#include "transport.h"

#define SIDES		2
#define RR_BYTES	1024
#define RR_COUNT	1000
#define STREAM_BYTES	(8U << 20)
#define CONNECTS	100
#define FEW		100
#define MANY		1000
#define CROWD_REQUESTS	4000
#define REST_MS		1000	/* what is idle for a while lets go of what it had */

struct streams {
	const char *address;
	int protocols[SIDES];
	int side;		/* whose turn it is */
	uint64_t seed;		/* of the last bytes */
};

/* Microseconds since transport_now_ns() was `start` */
static double us_since(uint64_t start)
{
	return (double)(transport_now_ns() - start) / 1000;
}

static int connected(const struct streams *s, uint64_t request)
{
	return streams_connect(s->address, s->protocols[s->side], STREAMS_PORT + s->side, request);
}

/* Requests one after the other; microseconds of each, or less than 0 */
static double requests(struct streams *s, int count)
{
	uint8_t data[RR_BYTES];
	int fd = connected(s, RR_BYTES);
	uint64_t start;
	double us;

	if (fd < 0)
		return -1;
	payload_fill(data, sizeof(data), ++s->seed);
	start = transport_now_ns();
	for (int i = 0; i < count; i++)
		if (streams_ask(fd, data, sizeof(data)) || streams_expect(fd, data, sizeof(data), 0))
			count = -1;
	us = us_since(start);
	close(fd);
	return count < 0 ? -1 : us / count;
}

static double run_rr1k(struct streams *s)
{
	return requests(s, RR_COUNT);
}

/* Writes of so many bytes, until all has arrived */
static double stream(struct streams *s, size_t bytes)
{
	static uint8_t data[65536];
	int fd = connected(s, STREAM_BYTES), ret = 0;
	uint64_t start;
	double us;

	if (fd < 0)
		return -1;
	payload_fill(data, bytes, ++s->seed);
	start = transport_now_ns();
	for (size_t sent = 0; !ret && sent < STREAM_BYTES; sent += bytes)
		ret = streams_ask(fd, data, bytes);
	if (!ret)
		ret = streams_expect(fd, data + bytes - STREAMS_TAIL, STREAMS_TAIL, 0);
	us = us_since(start);
	close(fd);
	return ret ? -1 : us;
}

static double run_stream4k(struct streams *s)
{
	return stream(s, 4096);
}

static double run_stream64k(struct streams *s)
{
	return stream(s, 65536);
}

/* From connect() to the first byte of an answer */
static double run_first_byte(struct streams *s)
{
	const uint64_t start = transport_now_ns();

	for (int i = 0; i < CONNECTS; i++) {
		int fd = connected(s, 1), ret = fd < 0 || streams_ask(fd, "x", 1) || streams_expect(fd, (const uint8_t *)"x", 1, 0);

		if (fd >= 0)
			close(fd);
		if (ret)
			return -1;
	}
	return us_since(start) / CONNECTS;
}

static double run_rr1k_cpu(struct streams *s)
{
	double start = streams_busy_us();

	if (start < 0 || requests(s, 4 * RR_COUNT) < 0)
		return -1;
	return (streams_busy_us() - start) / (4 * RR_COUNT);
}

static int crowd_open(const struct streams *s, int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		fds[i] = connected(s, RR_BYTES);
		if (fds[i] < 0)
			return i;
	}
	return count;
}

/* Each has a request under way, until so many were answered; microseconds of each */
static double crowd_use(struct streams *s, const int *fds, int count, int answers)
{
	struct epoll_event events[64], event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), asked = 0, answered = 0, ret = 0, got;
	uint8_t data[RR_BYTES];
	uint64_t start;
	double us;

	payload_fill(data, sizeof(data), ++s->seed);
	start = transport_now_ns();
	for (; !ret && asked < count; asked++) {
		event.data.fd = fds[asked];
		ret = epoll_ctl(epoll, EPOLL_CTL_ADD, fds[asked], &event) || streams_ask(fds[asked], data, sizeof(data));
	}
	while (!ret && answered < answers) {
		got = epoll_wait(epoll, events, 64, -1);
		ret = got < 0;
		for (int i = 0; !ret && i < got; i++, answered++) {
			ret = streams_expect(events[i].data.fd, data, sizeof(data), 0);
			if (!ret && asked < answers && ++asked)
				ret = streams_ask(events[i].data.fd, data, sizeof(data));
		}
	}
	us = us_since(start);
	close(epoll);
	return ret ? -1 : us / answers;
}

static double crowd(struct streams *s, int count)
{
	static int fds[MANY];
	int open = crowd_open(s, fds, count);
	double us = -1;

	/* The first request of a connection finds nothing that is kept for it. */
	if (open == count && crowd_use(s, fds, count, count) >= 0)
		us = crowd_use(s, fds, count, CROWD_REQUESTS);

	while (open--)
		close(fds[open]);
	return us;
}

static double run_few(struct streams *s)
{
	return crowd(s, FEW);
}

static double run_many(struct streams *s)
{
	return crowd(s, MANY);
}

/* Memory of the kernel for each of many connections that were used; of this node's ends */
static double run_conn_bytes(struct streams *s)
{
	static int fds[MANY];
	const long before = kernel_bytes();
	int open = crowd_open(s, fds, MANY);
	double bytes = -1;

	if (before >= 0 && open == MANY && crowd_use(s, fds, MANY, MANY) >= 0) {
		usleep(REST_MS * 1000);
		bytes = (double)(kernel_bytes() - before) / MANY;
	}
	while (open--)
		close(fds[open]);
	return bytes;
}

static const struct {
	const char *name;
	double (*run)(struct streams *s);	/* less than 0: it has failed, and said so */
} measurements[] = {
	{ "rr1k", run_rr1k },
	{ "rr1k_cpu", run_rr1k_cpu },
	{ "stream4k", run_stream4k },
	{ "stream64k", run_stream64k },
	{ "first_byte", run_first_byte },
	{ "few", run_few },
	{ "many", run_many },
	{ "conn_bytes", run_conn_bytes },
};

/* {"tcp": [...], "vqp": [...]}, or NULL */
static json_t *measure(struct streams *s, const char *name, int rounds)
{
	static const char *const keys[SIDES] = { "tcp", "vqp" };
	json_t *result = json_pack("{s:[], s:[]}", keys[0], keys[1]);
	size_t i = 0;

	while (i < sizeof(measurements) / sizeof(measurements[0]) && strcmp(measurements[i].name, name))
		i++;
	if (i == sizeof(measurements) / sizeof(measurements[0])) {
		fprintf(stderr, "streams: no measurement '%s'\n", name);
		goto fail;
	}
	for (int round = 0; round < rounds; round++) {
		for (s->side = 0; s->side < SIDES; s->side++) {
			double value = measurements[i].run(s);

			if (value < 0 && strcmp(name, "conn_bytes"))
				goto fail;
			json_array_append_new(json_object_get(result, keys[s->side]), json_real(value));
		}
	}
	return result;
fail:
	json_decref(result);
	return NULL;
}

static int run(struct streams *s, int rounds, char *const *names)
{
	json_t *results = json_object();
	int ret = -1;

	for (; *names; names++)
		if (json_object_set_new(results, *names, measure(s, *names, rounds)))
			goto out;
	ret = json_dumpf(results, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
	puts("");
out:
	json_decref(results);
	return ret;
}

static void help(FILE *out)
{
	fputs("Usage: streams serve ADDRESS PROTOCOL PROTOCOL\n"
	      "       streams ADDRESS PROTOCOL PROTOCOL ROUNDS NAME...\n"
	      "       streams ADDRESS PROTOCOL PROTOCOL ROUNDS waits\n"
	      "Measure stream sockets of two protocols (6: TCP) in turn and print JSON: microseconds,\n"
	      "in each round, of the first as \"tcp\", of the second as \"vqp\".\n"
	      "  NAME  rr1k: a request of 1 KiB and its answer; rr1k_cpu: processor time of this machine for\n"
	      "        one; stream4k, stream64k: 8 MiB by writes of so many bytes; first_byte: connect,\n"
	      "        request, answer, close; few, many: a request among 100 and 1,000 connections;\n"
	      "        conn_bytes: kernel memory for each of 1,000\n"
	      "\"waits\" alone prints what a request of 32 bytes takes, and processor time of this machine, by how its\n"
	      "answer is waited for and by the number of clients, without a break and 300 us apart.\n"
	      "Exit status: 0 all was measured and every byte was right, 1 not so, 2 wrong usage.\n",
	      out);
}

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };
	struct streams s = { .address = argv[1] };
	int rounds = argc > 5 ? atoi(argv[4]) : 0;

	setrlimit(RLIMIT_NOFILE, &files);
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		help(stdout);
		return EXIT_SUCCESS;
	}
	if (argc == 5 && !strcmp(argv[1], "serve"))
		return streams_serve(argv[2], argv + 3) ? EXIT_FAILURE : EXIT_SUCCESS;
	if (rounds <= 0) {
		help(stderr);
		return 2;
	}
	s.protocols[0] = atoi(argv[2]);
	s.protocols[1] = atoi(argv[3]);
	if (argc == 6 && !strcmp(argv[5], "waits"))
		return streams_waits(s.address, s.protocols, rounds) ? EXIT_FAILURE : EXIT_SUCCESS;
	return run(&s, rounds, argv + 5) ? EXIT_FAILURE : EXIT_SUCCESS;
}
