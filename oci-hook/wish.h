/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a container asks for by its annotations. Nobody has allowed it yet. */
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
/* and VQP_WISH_PREFIX with the names of limits */

struct vqp_wish {
	struct vqp_terms terms;		/* What is not said may be anything. */
	const char *network;		/* belongs to the annotations; NULL: none */
};

/*
 * `annotations` may be NULL. An annotation of ours that is not known is
 * refused, for somebody relies on it. 0, or -EINVAL with *error set; the wish is
 * to be cleared in both cases.
 */
int vqp_wish_parse(struct vqp_wish *wish, const json_t *annotations, struct vqp_error *error);
void vqp_wish_clear(struct vqp_wish *wish);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_wish	__attribute__((cleanup(vqp_wish_clear)))

#endif
