/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A container's wish: what its annotations ask for. The policy decides about it. */
#ifndef VQP_OCI_WISH_H
#define VQP_OCI_WISH_H

#include <jansson.h>
#include <stdint.h>

#include "../common/error.h"
#include "../common/terms.h"

#define VQP_WISH_PREFIX		"io.vqp."
#define VQP_WISH_TENANT		"io.vqp.tenant"		/* 1 to 4294967295 */
#define VQP_WISH_ADDRESS	"io.vqp.address"	/* literal IPv4 or IPv6 address */
#define VQP_WISH_NETWORK	"io.vqp.network"	/* a CNI network list */
/* Further annotations are VQP_WISH_PREFIX with "sockets" or the name of a limit. */

struct vqp_wish {
	struct vqp_terms terms;		/* The container has no wish about terms that are not set. */
	const char *network;		/* belongs to the annotations; or NULL */
};

/*
 * Parses the annotations, which may be NULL. An unknown annotation with vqp's prefix is refused,
 * since whoever wrote it relies on it. 0, or -EINVAL or -ENOMEM with *error set. The caller clears the wish in
 * both cases.
 */
int vqp_wish_parse(struct vqp_wish *wish, const json_t *annotations, struct vqp_error *error);
void vqp_wish_clear(struct vqp_wish *wish);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_wish	__attribute__((cleanup(vqp_wish_clear)))

#endif
