/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the operator lets a container have; see vqp-runtime.json(5). */
#ifndef VQP_OCI_POLICY_H
#define VQP_OCI_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/error.h"
#include "../common/terms.h"
#include "wish.h"

struct vqp_policy {
	json_t *json;		/* has been checked */
};

/*
 * Parse the operator's file. 0, or a negative errno value with *error set; to be cleared in both cases.
 */
int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error);

/* The same of VQP_CONFIG_FILE. */
int vqp_policy_read(struct vqp_policy *policy, struct vqp_error *error);

void vqp_policy_clear(struct vqp_policy *policy);

/*
 * The terms of a container that has these addresses and this wish, to be cleared: all of them. The tenant
 * follows from the container's own addresses, never from one that is wished
 * for. -EPERM: the wish goes beyond what the operator allows. -EADDRNOTAVAIL:
 * the container has no address, and wishes for none.
 */
int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_wish *wish,
		      const uint8_t (*own)[16], size_t count, struct vqp_terms *terms, struct vqp_error *error);

/* Annotations may name this CNI network list. */
bool vqp_policy_has_network(const struct vqp_policy *policy, const char *name);

#endif
