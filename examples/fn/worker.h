/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A worker is the process of one invocation, forked from the warm process. It begins without RDMA
 * state of an earlier invocation, and its own ends with it, as on a platform that forks functions
 * from a zygote. Its memory is as warm as that of the process that it comes from.
 */
#ifndef FN_WORKER_H
#define FN_WORKER_H

#include <jansson.h>
#include <sys/types.h>

struct fn_worker {
	pid_t pid;	/* 0 if there is no worker */
	int fd;		/* the worker's answers, one JSON text in a line */
};

/* The function that the worker runs, and which answers with fn_worker_say(). */
typedef void (*fn_worker_run)(int fd, const json_t *input);

/* Starts a worker. 0, or -1 and errno. */
int fn_worker_start(struct fn_worker *worker, fn_worker_run run, const json_t *input);

/* Returns the worker's next answer, or an error answer if none came in time, as a new reference. */
json_t *fn_worker_hear(struct fn_worker *worker, int timeout_ms);

/* Ends the worker, however far it has come. */
void fn_worker_stop(struct fn_worker *worker);

/* In the worker: writes an answer, and drops the reference to it. */
void fn_worker_say(int fd, json_t *answer);

#endif /* FN_WORKER_H */
