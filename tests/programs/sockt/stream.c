// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* All bytes, once, in order. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include "sockt.h"

#define MIB (1ULL << 20)

static void sizes(struct sockt *t)
{
	static const unsigned int bytes[] = { 1, 2, 3, 100, 1000, 1447, 1448, 1449, 2896, 4000, 4095, 4096, 4097, 8191,
		8192, 16384, 65535, 65536, 65537, 131072, 262143, 262144, 262145, 1 << 20, (1 << 20) + 1, 3000001 };
	uint64_t at = 0;
	size_t i;

	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);

		for (i = 0; i < ARRAY_SIZE(bytes); i++) {
			far_start(t, "both 0 %llu %u %llu %u 0", FAR_BASE + at, bytes[i],
				  (unsigned long long)(NEAR_BASE + at), bytes[i]);
			DONE(io_both(fd, NEAR_BASE + at, bytes[i], FAR_BASE + at, bytes[i], 0));
			far_end(t);
			at += bytes[i];
		}
		close(fd);
		far_do(t, "close 0");
	}
}

static void large(struct sockt *t)
{
	EACH_ROLE(role) {
		int fd = sock_pair(t, role, 0);

		far_start(t, "recv 0 %llu %llu 65536", NEAR_BASE, 8 * MIB);
		DONE(io_send(fd, NEAR_BASE, 8 * MIB, 1 << 20, 0));
		far_end(t);
		far_start(t, "send 0 %llu %llu 65536 0", FAR_BASE, 8 * MIB);
		DONE(io_recv(fd, FAR_BASE, 8 * MIB, 1 << 20));
		far_end(t);
	}
}

static void both(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	far_start(t, "both 0 %llu %llu %llu %llu 100000", FAR_BASE, 8 * MIB, NEAR_BASE, 8 * MIB);
	DONE(io_both(fd, NEAR_BASE, 8 * MIB, FAR_BASE, 8 * MIB, 33333));
	far_end(t);
}

static void small(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	far_start(t, "both 0 %llu 100000 %llu 100000 7", FAR_BASE, NEAR_BASE);
	DONE(io_both(fd, NEAR_BASE, 100000, FAR_BASE, 100000, 13));
	far_end(t);
}

/* The sender is always ahead of a receiver that takes little at a time. */
static void slow_reader(struct sockt *t)
{
	int fd = sock_pair(t, SERVER, 0);
	uint64_t sent = sock_fill(fd, NEAR_BASE), read = sent / 8 * 8, more = 300000;

	far_start(t, "recv 0 %llu %llu 100", NEAR_BASE, (unsigned long long)read);
	DONE(io_send(fd, NEAR_BASE + sent, more, 0, 0));
	far_end(t);
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", (unsigned long long)(NEAR_BASE + read)), (long)(sent - read + more));
}

static void round_trips(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);
	uint64_t i;

	far_start(t, "echo-one 0");
	for (i = 0; i < 2000; i++) {
		DONE(io_send(fd, i * 1024, 1024, 0, 0));
		DONE(io_recv(fd, i * 1024, 1024, 0));
	}
	NEED(shutdown(fd, SHUT_WR));
	WANT_EQ(far_end(t), 2000 * 1024);
}

/* Many connections carry at once, some with readers that do not read. */
static void beside_stuck(struct sockt *t)
{
	int stuck = sock_pair(t, CLIENT, 0), fd = sock_pair(t, CLIENT, 1);
	uint64_t sent = sock_fill(stuck, NEAR_BASE);

	far_start(t, "both 1 %llu %llu %llu %llu 0", FAR_BASE, 2 * MIB, NEAR_BASE, 2 * MIB);
	DONE(io_both(fd, NEAR_BASE, 2 * MIB, FAR_BASE, 2 * MIB, 0));
	far_end(t);
	NEED(shutdown(stuck, SHUT_WR));
	WANT_EQ(far_do(t, "drain 0 %llu", NEAR_BASE), (long)sent);
}

const struct sockt_case stream_cases[] = {
	{ "stream-sizes", "1 byte to 3 MB, both ways at once", sizes },
	{ "stream-large", "8 MiB one way, 8 MiB back", large },
	{ "stream-both", "8 MiB both ways at once", both },
	{ "stream-small", "writes of a few bytes", small },
	{ "stream-slow-reader", "who takes 100 bytes at a time", slow_reader },
	{ "stream-round-trips", "2,000 requests of 1 KiB and their echoes", round_trips },
	{ "stream-beside-stuck", "a connection whose reader sleeps does not hinder another", beside_stuck },
	{ 0 }
};
