/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calling functions through fn-agent. */
#ifndef BENCH_INVOKE_H
#define BENCH_INVOKE_H

#include <jansson.h>

struct invoke;	/* a connection to one agent */

struct invoke *invoke_open(const char *url);
void invoke_close(struct invoke *agent);

/*
 * Call a function. Takes the reference to `input`. The result is a new
 * reference, or NULL if the call failed, which has then been said on stderr.
 */
json_t *invoke_call(struct invoke *agent, const char *function, json_t *input);

#endif /* BENCH_INVOKE_H */
