/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The container's state, which an OCI runtime writes to a hook's standard input. */
#ifndef VQP_OCI_STATE_H
#define VQP_OCI_STATE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../node/address.h"

#define VQP_STATE_MAX_BYTES	(1U << 20)

#define VQP_STATE_TENANT	"io.vqp.tenant"		/* 1 to 4294967295 */
#define VQP_STATE_ADDRESS	"io.vqp.address"	/* literal IPv4 or IPv6 address */

struct vqp_state {
	json_t *json;			/* owns id */
	const char *id;
	pid_t pid;			/* 0 if the container has no process (any more) */
};

/* What the container asks for by its annotations. */
struct vqp_wish {
	uint32_t tenant;		/* 0: any */
	char address[VQP_ADDRESS_TEXT];	/* "": any */
};

/* These return 0, or a negative errno value with *error set, to be freed. */

/* The state is to be cleared also after a failure. */
int vqp_state_parse(struct vqp_state *state, const char *text, size_t bytes, char **error);

/* Reads `in` to its end. */
int vqp_state_read(struct vqp_state *state, FILE *in, char **error);

int vqp_state_wish(const struct vqp_state *state, struct vqp_wish *wish, char **error);

void vqp_state_clear(struct vqp_state *state);

#endif
