/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One invocation's own process, forked from the warm one. It starts with no
 * RDMA state of any earlier invocation, and takes all of its own with it when
 * it ends: what a platform that forks functions from a zygote gives a function.
 * Its memory is as warm as that of the process it comes from.
 */
#ifndef FN_WORKER_H
#define FN_WORKER_H

#include <jansson.h>
#include <sys/types.h>

struct fn_worker {
	pid_t pid;	/* 0: none */
	int fd;		/* its answers, one JSON text a line */
};

/* What the worker runs; it answers with fn_worker_say(). */
typedef void (*fn_worker_run)(int fd, const json_t *input);

/* 0, or -1 and errno. */
int fn_worker_start(struct fn_worker *worker, fn_worker_run run, const json_t *input);

/* The worker's next answer, or an error answer if none came in time. A new reference. */
json_t *fn_worker_hear(struct fn_worker *worker, int timeout_ms);

/* End the worker, however far it is. */
void fn_worker_stop(struct fn_worker *worker);

/* In the worker: give an answer, and drop the reference to it. */
void fn_worker_say(int fd, json_t *answer);

#endif /* FN_WORKER_H */
