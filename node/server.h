/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A listening socket whose clients send requests as JSON lines and get an answer to each, in order. */
#ifndef VQP_NODE_SERVER_H
#define VQP_NODE_SERVER_H

#include <jansson.h>
#include <sys/types.h>

#include "line.h"
#include "loop.h"

#define VQP_SERVER_CLIENTS_MAX 4096

struct vqp_server;

struct vqp_client {
	struct vqp_watch watch;
	struct vqp_server *server;
	struct vqp_client *next, **link;
	struct vqp_line line;
	bool asked;		/* a request was handed out and not answered yet */
	bool finished;	/* close it */
};

struct vqp_server {
	struct vqp_watch watch;
	struct vqp_loop *loop;
	struct vqp_client *clients;
	unsigned int count;
	bool full;
	void *owner;
	/*
	 * A request, borrowed. Ends in vqp_server_answer(), now or later; the
	 * client's next request is read only then.
	 */
	void (*request)(struct vqp_client *client, json_t *request);
	/* The client went away before its answer. May be NULL if request() always answers at once. */
	void (*gone)(struct vqp_client *client);
};

/* Listen on a Unix socket of mode 0600; a dead one of that name is replaced. -EADDRINUSE: a live one is there; -EEXIST: another file. */
int vqp_server_listen_unix(struct vqp_server *server, struct vqp_loop *loop, const char *path);

/* Listen on ADDR:PORT. -EINVAL: no such address. */
int vqp_server_listen_tcp(struct vqp_server *server, struct vqp_loop *loop, const char *addr,
			  const char *default_port);

/*
 * Consumes `reply`; NULL (out of memory) drops the client. The client may be freed. False: it
 * has gone without the answer, and gone() is not called.
 */
bool vqp_server_answer(struct vqp_client *client, json_t *reply);

/* From time to time: accepts again when what was missing, as memory or descriptors, may be there. */
void vqp_server_tick(struct vqp_server *server);

void vqp_server_exit(struct vqp_server *server);

#endif
