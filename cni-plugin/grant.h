/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The grant of an attachment: its terms, from four sources. In order of precedence these are "vqp"
 * in the configuration's runtimeConfig, "vqp" in its args.cni, CNI_ARGS, and the configuration
 * itself.
 *
 * The operator writes the configuration, and admits runtimeConfig by declaring the capability
 * "vqp". The two kinds of args come from the user who starts the container. They can choose among
 * the addresses that the container has, and lower limits, but grant nothing.
 */
#ifndef VQP_CNI_GRANT_H
#define VQP_CNI_GRANT_H

#include <jansson.h>
#include <stdbool.h>

#include "../common/terms.h"
#include "cni_error.h"

struct vqp_grant {
	/*
	 * Without an address the interface's first is used, and without limits the kernel's
	 * defaults.
	 */
	struct vqp_terms terms;
	bool must_have_address;	/* The container must have the address by its other plugins. */
};

/* Reads the grant from a network configuration and from vqp_args_terms(). */
int vqp_grant_read(struct vqp_grant *grant, const json_t *config, const json_t *args,
		   struct vqp_error *error);

void vqp_grant_clear(struct vqp_grant *grant);

#endif
