/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a platform requires of a function's container beyond HTTP, which kit.c speaks. */
#ifndef FN_CONTRACT_H
#define FN_CONTRACT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "kit.h"

struct fn_server;

struct fn_contract {
	size_t max_body_bytes;	/* the longest body of a request */
	unsigned int too_large;	/* the status that refuses a longer one */
	/* Returns the socket to listen on, or -1 with a message on stderr. */
	int (*listen)(struct fn_server *server);
	/* Tells the platform that calls are served from now on. 0, or -1. */
	int (*announce)(const struct fn_server *server);
	void (*end)(const struct fn_server *server);
	/*
	 * Answers a POST; *status is 200 at first. Returns a new reference; NULL if there is no
	 * such path.
	 */
	json_t *(*answer)(struct fn_server *server, struct MHD_Connection *connection, const char *path,
			  const json_t *body, unsigned int *status);
};

struct fn_server {
	const struct fn_contract *contract;
	fn_handler handle;
	void *self;
	/* For Fn: the address that is bound, and the link that Fn waits for. */
	struct sockaddr_un address;
	char link[sizeof(((struct sockaddr_un *)0)->sun_path)];
	/* For OpenWhisk. */
	bool initialized;
};

extern const struct fn_contract fn_contract_fn, fn_contract_openwhisk;

/* Writes a message to stderr, and returns -1. */
int fn_fail(const char *what, const char *why);

/* Returns the value of a header, or NULL. */
const char *fn_header(struct MHD_Connection *connection, const char *name);

#endif /* FN_CONTRACT_H */
