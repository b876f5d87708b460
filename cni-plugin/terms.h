/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an attachment is to have: tenant, address and limits, which several may
 * say. In the order in which they count: "vqp" in the configuration's
 * runtimeConfig, "vqp" in its args.cni, CNI_ARGS, the configuration itself.
 *
 * The configuration is the operator's, and so is what it lets in by declaring the
 * capability "vqp". args come from whoever starts the container: they choose
 * among the addresses that it has, and lower limits, but give nothing.
 */
#ifndef VQP_CNI_TERMS_H
#define VQP_CNI_TERMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cni_error.h"

struct vqp_terms {
	uint32_t tenant;	/* 0 while nobody has said */
	const char *address;	/* NULL: the first of the interface; belongs to the JSON it was in */
	bool must_have_address;	/* it counts only if the container has it anyway */
	json_t *limits;		/* vqpd says which there are; NULL: none */
};

/* Of a network configuration and of what CNI_ARGS says, as vqp_args_terms() gives it. */
int vqp_terms_read(struct vqp_terms *terms, const json_t *config, const json_t *args,
		   struct vqp_error *error);

void vqp_terms_clear(struct vqp_terms *terms);

#endif
