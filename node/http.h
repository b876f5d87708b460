/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prometheus metrics of a daemon over HTTP, at /metrics, and /healthz, served from its own loop. */
#ifndef VQP_NODE_HTTP_H
#define VQP_NODE_HTTP_H

#include <stdint.h>
#include <stdio.h>

#include "loop.h"

struct MHD_Daemon;

/* All zero but what the owner sets: nothing is served. */
struct vqp_http {
	struct vqp_watch watch;
	struct vqp_loop *loop;
	struct MHD_Daemon *daemon;		/* NULL: nothing is served */
	void *owner;				/* who serves, for metrics() */
	void (*metrics)(void *owner, FILE *out);	/* writes the text of /metrics */
};

/*
 * Listens on [ADDR][:PORT], as vqp_server_bind_tcp() does; [::] is IPv6 alone. 0 or a negative errno
 * value, with which the daemon is to end.
 */
int vqp_http_start(struct vqp_http *http, struct vqp_loop *loop, const char *addr, const char *default_port);

/* Is called from time to time: lets connections time out. */
void vqp_http_tick(struct vqp_http *http);

void vqp_http_stop(struct vqp_http *http);

/* Write what a metric is, before its values, and with its only value. */
void vqp_http_describe(FILE *out, const char *name, const char *type, const char *what);
void vqp_http_number(FILE *out, const char *name, const char *type, const char *what, int64_t number);

#endif
