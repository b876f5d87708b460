/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * vqpd's end of the connection to one meta server: says hello, learns where the
 * table is, announces this node's namespaces, renews their leases, withdraws
 * what is gone. One request at a time; what is to be said is worked out from the
 * registry when the server is free to hear it, so nothing piles up.
 */
#ifndef VQPD_META_H
#define VQPD_META_H

#include <jansson.h>

#include "../line.h"
#include "../loop.h"
#include "registry.h"

#define VQP_META_TIMEOUT_MS	2000	/* for an answer */
#define VQP_META_HELLO_MS	1000	/* between signs of life */

enum vqp_meta_state { VQP_META_DOWN, VQP_META_CONNECTING, VQP_META_GREETING, VQP_META_UP };

/* What a meta server connection needs of the daemon, and tells it. */
struct vqp_meta_owner {
	struct vqp_loop *loop;
	struct vqp_registry *registry;
	json_t *dct;		/* this node's; NULL: nothing can be announced */
	uint32_t lease_s;
	/* info of some server changed, or a server came or went. */
	void (*tables_changed)(struct vqp_meta_owner *owner);
	/* Some entries' held or refused changed. */
	void (*entries_changed)(struct vqp_meta_owner *owner);
};

struct vqp_meta {
	struct vqp_watch watch;
	struct vqp_meta_owner *owner;
	uint32_t bit;			/* in the masks of entries */
	char *name;			/* HOST:PORT as given */
	struct addrinfo *addresses;
	struct addrinfo *next_address;	/* to try; NULL: the first */
	enum vqp_meta_state state;
	struct vqp_line line;
	json_t *info;			/* its table, as META_SET takes it; kept while down */
	json_t *asked;			/* request without answer, or NULL */
	json_t *withdrawals;		/* array of keys */
	uint64_t sent_ms, renewed_ms;
	char error[128];		/* why it is down */
};

/* -EINVAL: not HOST:PORT; -EHOSTUNREACH: no such host. */
int vqp_meta_init(struct vqp_meta *meta, struct vqp_meta_owner *owner, unsigned int index, const char *name);
void vqp_meta_exit(struct vqp_meta *meta);

/* Say what is due, if the server is free. */
void vqp_meta_run(struct vqp_meta *meta);

/* From time to time: connects, gives up on silence, renews. */
void vqp_meta_tick(struct vqp_meta *meta);

/* An entry is about to go. */
void vqp_meta_withdraw(struct vqp_meta *meta, const struct vqp_entry *entry);

#endif
