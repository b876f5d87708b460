/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The container's state, which an OCI runtime writes to a hook's standard input. */
#ifndef VQP_OCI_STATE_H
#define VQP_OCI_STATE_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "../common/error.h"

#define VQP_STATE_MAX_BYTES	(1U << 20)
#define VQP_STATE_BUNDLE_BYTES	17	/* of vqp_state.bundle, with the NUL */

struct vqp_state {
	json_t *json;			/* owns the fields below */
	const char *id;
	const json_t *annotations;	/* of any type, or NULL */
	pid_t pid;			/* 0 if the container has no process, or none any more */
	/*
	 * A number that the path of the bundle gives, in hex; empty if the state names no bundle.
	 * Two runtimes, or one with two roots, may have containers of one id: a bundle is of one.
	 */
	char bundle[VQP_STATE_BUNDLE_BYTES];
};

/*
 * Both functions return 0, or a negative errno value with *error set. The caller clears the state
 * in both cases.
 */

/* Parses a state in text, which has `bytes` bytes. */
int vqp_state_parse(struct vqp_state *state, const char *text, size_t bytes, struct vqp_error *error);

/* Reads `in` to its end, and parses it. */
int vqp_state_read(struct vqp_state *state, FILE *in, struct vqp_error *error);

void vqp_state_clear(struct vqp_state *state);

#endif
