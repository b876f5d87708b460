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

/* Says on stderr what has failed, by errno. Returns -1. */
int streams_failed(const char *what);

/* All of it. 0, or -1 with errno set. */
int streams_send(int fd, const void *data, size_t bytes);

/* Listen by each of the protocols, at ports from STREAMS_PORT on, and answer for ever. Returns after an error. */
int streams_serve(const char *address, char *const *protocols);

#endif /* BENCH_STREAMS_H */
