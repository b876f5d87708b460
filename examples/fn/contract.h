/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a platform wants of a function's container beyond HTTP: kit.c speaks that, each contract the rest. */
#ifndef FN_CONTRACT_H
#define FN_CONTRACT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "kit.h"

struct fn_server;

struct fn_contract {
	/* The socket to listen on, or -1 with what went wrong said on stderr. */
	int (*listen)(struct fn_server *server);
	/* Calls are served from now on. 0, or -1. */
	int (*announce)(const struct fn_server *server);
	void (*end)(const struct fn_server *server);
	/* The answer to a POST, with *status 200 at first. NULL: there is no such path. A new reference. */
	json_t *(*answer)(struct fn_server *server, struct MHD_Connection *connection, const char *path,
			  const json_t *body, unsigned int *status);
};

struct fn_server {
	const struct fn_contract *contract;
	fn_handler handle;
	void *self;
	/* Fn's */
	struct sockaddr_un address;	/* what we bind: the phony socket */
	char link[sizeof(((struct sockaddr_un *)0)->sun_path)];	/* what Fn waits for */
	/* OpenWhisk's */
	bool initialized;
};

extern const struct fn_contract fn_contract_fn, fn_contract_openwhisk;

/* -1, with this on stderr. */
int fn_fail(const char *what, const char *why);

/* A header's value, or NULL. */
const char *fn_header(struct MHD_Connection *connection, const char *name);

#endif /* FN_CONTRACT_H */
