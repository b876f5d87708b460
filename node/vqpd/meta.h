/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * vqpd's end of the connection to one meta server. It says hello, learns where the table is,
 * announces this node's namespaces, renews their leases, and withdraws those that have gone. One
 * request is under way at a time, and the next one follows from the registry when the server has
 * answered, so that requests never pile up.
 */
#ifndef VQPD_META_H
#define VQPD_META_H

#include <jansson.h>

#include "../line.h"
#include "../loop.h"
#include "registry.h"
#include "resolver.h"

#define VQP_META_TIMEOUT_MS	2000	/* the time limit of an answer */
#define VQP_META_HELLO_MS	1000	/* the interval of hellos */
#define VQP_META_LOOKUP_MS	60000	/* A lookup that takes longer is told. */

enum vqp_meta_state { VQP_META_DOWN, VQP_META_CONNECTING, VQP_META_GREETING, VQP_META_UP };

/* The part of the daemon that connections to meta servers know. */
struct vqp_meta_owner {
	struct vqp_loop *loop;
	struct vqp_registry *registry;
	json_t *dct;		/* this node's metadata; NULL if there is none to announce */
	uint32_t lease_s;
	const struct vqp_tls_key *key;	/* the key of all meta servers; NULL if they have none */
	/* The info of a server has changed, or a server came or went. */
	void (*tables_changed)(struct vqp_meta_owner *owner);
	/* `held` or `refused` of some entries has changed. */
	void (*entries_changed)(struct vqp_meta_owner *owner);
};

struct vqp_meta {
	struct vqp_watch watch;
	struct vqp_meta_owner *owner;
	uint32_t bit;			/* the server's bit in the masks of entries */
	char *name;			/* HOST:PORT as the operator gave it */
	struct vqp_resolver resolver;	/* of the name; without a process if that is an address */
	bool unresolved;		/* The last lookup failed; former addresses are kept. */
	const char *lookup_trouble;	/* why there are no lookups, also while the server is up; NULL if there are */
	union vqp_resolver_address addresses[VQP_RESOLVER_MAX];
	uint32_t naddresses, next_address;	/* how many there are; the next one to try */
	enum vqp_meta_state state;
	struct vqp_line line;
	json_t *info;			/* its table, as META_SET takes it; kept while it is down */
	json_t *asked;			/* the request that has no answer yet, or NULL */
	json_t *withdrawals;		/* an array of keys that are to be withdrawn */
	uint64_t sent_ms, renewed_ms;	/* sent_ms: of the request, or when what is tried began */
	char error[160];		/* the reason why it is down */
};

/*
 * Initializes a connection, and starts a resolver if HOST is not an address in numbers. 0; -EINVAL
 * if the name is not HOST[:PORT]; or the errno value of what the resolver could not have.
 */
int vqp_meta_init(struct vqp_meta *meta, struct vqp_meta_owner *owner, unsigned int index, const char *name);
void vqp_meta_exit(struct vqp_meta *meta);

/* Sends the next request that is due, if none is under way. */
void vqp_meta_run(struct vqp_meta *meta);

/*
 * Is called from time to time: has the name looked up, connects, gives up a silent server, and renews
 * leases.
 */
void vqp_meta_tick(struct vqp_meta *meta);

/* An entry is about to be removed: notes that it is to be withdrawn. */
void vqp_meta_withdraw(struct vqp_meta *meta, const struct vqp_entry *entry);

#endif
