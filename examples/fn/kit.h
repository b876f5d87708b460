/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A function kit for the container contracts of two platforms, with one call at a time, and JSON in
 * and out. By Fn's "http-stream" the function listens on the Unix socket named by FN_LISTENER and
 * answers POST /call. By OpenWhisk's contract it listens on port 8080 and answers POST /init, once,
 * and POST /run.
 */
#ifndef FN_KIT_H
#define FN_KIT_H

#include <jansson.h>
#include <time.h>

struct fn_call {
	const char *id;		/* the platform's name of the call, or "" */
	time_t deadline;	/* 0 if the call has none */
	const json_t *input;	/* null if the call has none */
};

/* Answers a call. The result is a new reference; see fn_error(). */
typedef json_t *(*fn_handler)(void *self, const struct fn_call *call);

/*
 * Serves calls until SIGTERM or SIGINT, by Fn's contract, or by OpenWhisk's if the only argument is
 * "openwhisk". Returns the process's exit status; errors have been written to stderr.
 */
int fn_main(int argc, char **argv, fn_handler handle, void *self);

/* Returns an answer that platforms pass on as the function's error. */
json_t *fn_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the milliseconds until the call's deadline, at least 0; or `otherwise` if it has none. */
int fn_call_remaining_ms(const struct fn_call *call, int otherwise);

#endif /* FN_KIT_H */
