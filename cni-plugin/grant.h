/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an attachment is granted: its terms, which several may say. In the order in which
 * they count: "vqp" in the configuration's runtimeConfig, "vqp" in its args.cni,
 * CNI_ARGS, the configuration itself.
 *
 * The configuration is the operator's, and so is what it lets in by declaring the
 * capability "vqp". args come from whoever starts the container: they choose
 * among the addresses that it has, and lower limits, but give nothing.
 */
#ifndef VQP_CNI_GRANT_H
#define VQP_CNI_GRANT_H

#include <jansson.h>
#include <stdbool.h>

#include "../common/terms.h"
#include "cni_error.h"

struct vqp_grant {
	struct vqp_terms terms;	/* without an address: the first of the interface; without limits: the kernel's own */
	bool must_have_address;	/* The address counts only if the container has it anyway. */
};

/* From a network configuration, and from what CNI_ARGS says, as vqp_args_terms() gives it. */
int vqp_grant_read(struct vqp_grant *grant, const json_t *config, const json_t *args,
		   struct vqp_error *error);

void vqp_grant_clear(struct vqp_grant *grant);

#endif
