/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One request to vqpd over its Unix socket. Needs jansson and libc only. */
#ifndef VQP_COMMON_CLIENT_H
#define VQP_COMMON_CLIENT_H

#include <jansson.h>

#define VQPD_SOCKET_PATH	"/run/vqp/vqpd.sock"
#define VQPD_TIMEOUT_MS		10000		/* for the whole call */
#define VQPD_REPLY_MAX		(16U << 20)	/* bytes */

/*
 * Send `request` (an object, not consumed) and wait for the answer.
 * socket_path NULL: VQPD_SOCKET_PATH.
 *
 * 0: vqpd did it; *reply is its answer, to be freed with json_decref().
 * Otherwise *reply is NULL, and *error is a text that says what failed and what
 * to do, to be freed with free() (NULL only when memory ran out). Positive: vqpd
 * refused, with this errno value, or EPROTO: its answer makes no sense. Negative:
 * it has not answered, for this reason: -ECONNREFUSED or -ENOENT when it is not
 * running, -EACCES, -ETIMEDOUT, -EPIPE, -ECONNRESET or -EPROTO when it went away.
 */
int vqpd_call(const char *socket_path, const json_t *request, json_t **reply, char **error);

#endif
