// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * probe: one end of small measurements against a receiver function, built once
 * for each transport. The payload is the one byte of the seed PROBE_SEED.
 *
 *   probe first-byte TARGET START_NS
 *	Send it, and print the nanoseconds since START_NS on the monotonic
 *	clock, which whoever starts this program read right before.
 *   probe connect
 *	For every line "COUNT TARGET" on stdin make the queue pair and connect
 *	it COUNT times, send the byte over the last one, and print a line with
 *	the nanoseconds of each.
 *   probe round-trip COUNT PAUSE_MS TARGET
 *	Connect, print a line with the nanoseconds of COUNT empty RDMA WRITEs,
 *	a pause before each: the shortest way there and back, with no process
 *	on the other side. Then send the byte.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "payload.h"
#include "probe.h"
#include "transport.h"

#define PROBE_TIMEOUT_MS	5000

static int probe_fail(const struct transport *t)
{
	fprintf(stderr, "probe: %s\n", t->error);
	return EXIT_FAILURE;
}

static int probe_first_byte(struct transport *t, const char *target, uint64_t start)
{
	if (transport_connect(t, target) || transport_send(t, PROBE_TIMEOUT_MS))
		return probe_fail(t);
	printf("%" PRIu64 "\n", transport_now_ns() - start);
	return EXIT_SUCCESS;
}

static int probe_connect_times(struct transport *t, int count, const char *target)
{
	for (int i = 0; i < count; i++) {
		uint64_t start;

		transport_disconnect(t);
		start = transport_now_ns();
		if (transport_connect(t, target))
			return -1;
		printf("%" PRIu64 "%c", transport_now_ns() - start, i + 1 < count ? ' ' : '\n');
	}
	return transport_send(t, PROBE_TIMEOUT_MS);
}

static int probe_connect(struct transport *t)
{
	char line[TRANSPORT_TARGET_MAX + 16];

	while (fgets(line, sizeof(line), stdin)) {
		char *target;
		int count = strtol(line, &target, 10);

		if (probe_connect_times(t, count, target))
			return probe_fail(t);
		fflush(stdout);
	}
	return EXIT_SUCCESS;
}

static int probe_empty_write(struct transport *t)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (ibv_post_send(t->qp, &wr, &bad))
		return transport_fail(t, "post_send");
	return transport_await(t, &wc, TRANSPORT_NAP_US, PROBE_TIMEOUT_MS);
}

static int probe_round_trip(struct transport *t, int count, int pause_ms, const char *target)
{
	const struct timespec pause = { pause_ms / 1000, pause_ms % 1000 * 1000000L };

	if (transport_connect(t, target))
		return probe_fail(t);
	for (int i = 0; i < count; i++) {
		uint64_t start;

		if (pause_ms)
			nanosleep(&pause, NULL);
		start = transport_now_ns();
		if (probe_empty_write(t))
			return probe_fail(t);
		printf("%" PRIu64 "%c", transport_now_ns() - start, i + 1 < count ? ' ' : '\n');
	}
	return transport_send(t, PROBE_TIMEOUT_MS) ? probe_fail(t) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct transport t;
	uint8_t byte;
	int status = 2;

	payload_fill(&byte, 1, PROBE_SEED);
	if (transport_open(&t, &byte, 1))
		return probe_fail(&t);
	if (!strcmp(what, "first-byte") && argc == 4)
		status = probe_first_byte(&t, argv[2], strtoull(argv[3], NULL, 10));
	else if (!strcmp(what, "connect") && argc == 2)
		status = probe_connect(&t);
	else if (!strcmp(what, "round-trip") && argc == 5)
		status = probe_round_trip(&t, atoi(argv[2]), atoi(argv[3]), argv[4]);
	else
		fputs("Usage: probe first-byte TARGET START_NS | connect | "
		      "round-trip COUNT PAUSE_MS TARGET\n", stderr);
	transport_close(&t);
	return status;
}
