/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One request to vqpd over its Unix socket. It needs no more than jansson and libc. */
#ifndef VQP_COMMON_CLIENT_H
#define VQP_COMMON_CLIENT_H

#include <jansson.h>

#include "error.h"

#define VQPD_SOCKET_PATH	"/run/vqp/vqpd.sock"
#define VQPD_TIMEOUT_MS		10000		/* for the whole call */
#define VQPD_REPLY_MAX		(16U << 20)	/* bytes */

/*
 * Send `request` (an object, not consumed) and wait for the answer.
 * socket_path NULL: VQPD_SOCKET_PATH.
 *
 * 0: vqpd did it; *reply is its answer, to be freed with json_decref(). Otherwise *reply is NULL, *error says what
 * failed and what to do, and the return value, which is the error's code, is
 * - positive if vqpd refused, with this errno value, or if its answer makes no sense (EPROTO);
 * - negative if vqpd has not answered: -ECONNREFUSED or -ENOENT when it is not running, -EACCES, -ETIMEDOUT, and
 *   -EPIPE, -ECONNRESET or -EPROTO when it went away.
 */
int vqpd_call(const char *socket_path, const json_t *request, json_t **reply, struct vqp_error *error);

#endif
