/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A request to vqpd over its Unix socket. This needs jansson and libc alone. */
#ifndef VQP_COMMON_CLIENT_H
#define VQP_COMMON_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"

#define VQPD_SOCKET_PATH	"/run/vqp/vqpd.sock"
#define VQPD_TIMEOUT_MS		10000		/* the time limit of a call */
#define VQPD_START_ADD_MS	8000		/* of it, what a container's start waits for a vqpd that is being started, */
#define VQPD_START_MS		500		/* and what other requests do */
#define VQPD_REPLY_MAX		(16U << 20)	/* bytes */

/*
 * Sends `request`, an object that is not consumed, to the socket at socket_path, or at
 * VQPD_SOCKET_PATH if that is NULL, and waits for the answer; a container should not fail to start
 * because vqpd is started anew at that moment. So what a start asks is asked again if vqpd ends
 * before it answers. With it goes netns_fd, the network namespace that the
 * request is about, which stays the caller's; it is negative if there is none.
 *
 * Returns 0 if vqpd has done what was asked; *reply is its answer, which the caller releases with
 * json_decref(). Otherwise *reply is NULL, *error says what failed and what to do, and the return
 * value, which is the error's code, is
 * - a positive errno value if vqpd has refused, or EPROTO if its answer makes no sense;
 * - a negative one if vqpd has not answered: -ECONNREFUSED or -ENOENT if it is not running, -EACCES,
 *   -ETIMEDOUT, and -EPIPE, -ECONNRESET or -EPROTO if it ended meanwhile.
 */
int vqpd_call(const char *socket_path, const json_t *request, int netns_fd, json_t **reply, struct vqp_error *error);

/* Is vqpd away, by what vqpd_call() has returned: not running, too busy to answer, or ended meanwhile? */
bool vqpd_is_away(int ret);

#endif
