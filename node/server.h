/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A listening socket whose clients send requests as JSON lines and get an answer to each, in order.
 */
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
	json_t *request;	/* It has been handed out and not been answered yet; or NULL. */
	bool finished;		/* The client is to be closed. */
	uint64_t since_ms;	/* when it connected */
};

struct vqp_server {
	struct vqp_watch watch;
	struct vqp_loop *loop;
	struct vqp_client *clients;
	unsigned int count;
	bool full;
	uint64_t handshakes_failed;	/* clients that went before they had proved that they know the key */
	const struct vqp_tls_key *key;	/* The clients must prove that they know it; or NULL. */
	void *owner;
	/*
	 * A request has arrived, which is borrowed. It is answered by vqp_server_answer(), now or
	 * later. The client's next request is read only then.
	 */
	void (*request)(struct vqp_client *client, json_t *request);
	/*
	 * The client has gone before its answer. This may be NULL if request() always answers at
	 * once.
	 */
	void (*gone)(struct vqp_client *client);
	/*
	 * A request is about to be refused by `reply`; client->request is NULL if it was no JSON, or
	 * if the client does not know the key.
	 */
	void (*refused)(const struct vqp_client *client, const json_t *reply);	/* or NULL */
};

/*
 * Listens on a Unix socket of mode 0600, and replaces a dead socket of that name. -EADDRINUSE if a
 * live socket has the name, and -EEXIST if another file has.
 */
int vqp_server_listen_unix(struct vqp_server *server, struct vqp_loop *loop, const char *path);

/*
 * Listens on a Unix socket that another process has made by vqp_server_listen_unix(), with those who
 * have connected meanwhile. -ESTALE if `fd` is no such socket, or if there is none at that path any
 * more. It is closed on failure.
 */
int vqp_server_adopt_unix(struct vqp_server *server, struct vqp_loop *loop, int fd, const char *path);

/*
 * Makes a socket, non-blocking, that is bound to [ADDR][:PORT], also if no interface has the address
 * yet. A name of a host is none: to look it up could take for ever, when a node starts. [::] is
 * every IPv6 address if v6_only; otherwise also every IPv4 address, unless the sysctl
 * net.ipv6.bindv6only is set. Returns the socket, or a negative errno value: -EINVAL if that is no
 * address.
 */
int vqp_server_bind_tcp(const char *addr, const char *default_port, bool v6_only);

/* Listens on a socket that is bound so. 0 or a negative errno value. */
int vqp_server_listen_tcp(struct vqp_server *server, struct vqp_loop *loop, const char *addr,
			  const char *default_port);

/*
 * Answers a request by `reply`, which is consumed; NULL, for want of memory, drops the client. The
 * client may be freed. Returns false if it has gone without the answer, and then gone() is not
 * called.
 */
bool vqp_server_answer(struct vqp_client *client, json_t *reply);

/*
 * Is called from time to time: accepts again after want of memory or descriptors, and drops clients
 * that have not proved within VQP_TLS_HANDSHAKE_MS that they know the key.
 */
void vqp_server_tick(struct vqp_server *server);

void vqp_server_exit(struct vqp_server *server);

#endif
