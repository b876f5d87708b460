/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is wished for an attachment: its terms, from four sources. In order of precedence these are
 * "vqp" in the configuration's runtimeConfig, "vqp" in its args.cni, CNI_ARGS, and the configuration
 * itself. The node's policy decides about the wish, by vqpd.
 *
 * Whoever writes the configuration admits runtimeConfig by declaring the capability "vqp". The two
 * kinds of args come from the user who starts the container. They can choose among the addresses
 * that the container has, and lower the configuration's limits, but not contradict it.
 */
#ifndef VQP_CNI_WISH_H
#define VQP_CNI_WISH_H

#include <jansson.h>
#include <stdbool.h>

#include "../common/terms.h"
#include "cni_error.h"

struct vqp_wish {
	struct vqp_terms terms;	/* What is not stated is what the policy gives. */
	bool must_have_address;	/* The container must have the address by its other plugins. */
};

/* Reads the wish from a network configuration and from vqp_args_terms(). */
int vqp_wish_read(struct vqp_wish *wish, const json_t *config, const json_t *args,
		  struct vqp_error *error);

void vqp_wish_clear(struct vqp_wish *wish);

#endif
