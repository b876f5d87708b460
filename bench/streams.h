/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The two ends of what stream sockets are measured by. */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#define STREAMS_PORT	7300
#define STREAMS_TAIL	1024	/* of a request, which are its answer; of a shorter one, all */

/* What a connection begins with: requests of so many bytes follow. */
struct streams_hello {
	uint64_t request;
};

/* Microseconds of processor time of this whole machine; less than 0: nobody knows. */
double streams_busy_us(void);

/* Says on stderr what has failed, by errno. Returns -1. */
int streams_failed(const char *what);

/* All of it. 0, or -1 with errno set. */
int streams_send(int fd, const void *data, size_t bytes);

/* The same; says what has failed. */
int streams_ask(int fd, const void *data, size_t bytes);

/*
 * The answer to a request, whose last bytes these were. MSG_DONTWAIT in `flags`: ask for it again and
 * again, and do not sleep. 0, or -1; says what has failed.
 */
int streams_expect(int fd, const uint8_t *tail, size_t bytes, int flags);

/* A connection for requests of so many bytes each, or -1; says what has failed. */
int streams_connect(const char *address, int protocol, int port, uint64_t request);

/* Ways to wait for an answer, one against the other; see help() in streams.c. 0, or -1; says what has failed. */
int streams_waits(const char *address, const int *protocols, int rounds);

/* Listen by each of the protocols, at ports from STREAMS_PORT on, and answer for ever. Returns after an error. */
int streams_serve(const char *address, char *const *protocols);

#endif /* BENCH_STREAMS_H */
