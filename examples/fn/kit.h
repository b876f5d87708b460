/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A function kit for Fn's "http-stream" container contract: the function
 * listens on the Unix socket named by FN_LISTENER and answers POST /call, one
 * call at a time, with JSON in and JSON out.
 */
#ifndef FN_KIT_H
#define FN_KIT_H

#include <jansson.h>
#include <time.h>

struct fn_call {
	const char *id;		/* Fn-Call-Id, or "" */
	time_t deadline;	/* Fn-Deadline, or 0 if the call has none */
	const json_t *input;	/* the body; null if it was empty */
};

/* Answer one call. The result is a new reference; see fn_error(). */
typedef json_t *(*fn_handler)(void *self, const struct fn_call *call);

/*
 * Serve calls until SIGTERM or SIGINT. Returns the process's exit status;
 * what went wrong has been said on stderr.
 */
int fn_serve(fn_handler handle, void *self);

/* An answer that Fn passes on as the function's error (status 502). */
json_t *fn_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Milliseconds until the call's deadline, at least 0; `otherwise` if it has none. */
int fn_call_remaining_ms(const struct fn_call *call, int otherwise);

#endif /* FN_KIT_H */
