/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs of one's own, in a network namespace, talked to line by line. */
#ifndef BENCH_SPAWN_H
#define BENCH_SPAWN_H

#include <stdio.h>
#include <sys/types.h>

#define SPAWN_ARGS_MAX	8

struct spawn {
	pid_t pid;
	FILE *to;	/* its stdin */
	FILE *from;	/* its stdout */
};

/* In place of an argument: the monotonic clock's nanoseconds right before exec. */
extern const char spawn_now[];

/*
 * Start args[0] in the network namespace `netns` (a path; NULL: ours).
 * 0, or -1, which has then been said on stderr.
 */
int spawn_start(struct spawn *child, const char *netns, const char *const args[]);

/* Wait for its end. 0 if it exited with 0. */
int spawn_end(struct spawn *child);

#endif /* BENCH_SPAWN_H */
