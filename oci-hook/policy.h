/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operator's policy for containers; see vqp-runtime.json(5). */
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
	json_t *json;		/* checked */
};

/*
 * Parses the operator's file. 0, or a negative errno value with *error set. The caller clears the
 * policy in both cases.
 */
int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error);

/* Reads and parses VQP_CONFIG_FILE likewise. */
int vqp_policy_read(struct vqp_policy *policy, struct vqp_error *error);

void vqp_policy_clear(struct vqp_policy *policy);

/*
 * Decides all terms of a container with these addresses and this wish; the caller clears them. The
 * tenant follows from the container's own addresses, and never from an address that is wished for.
 * 0; -EPERM if the wish goes beyond what the operator allows; -EADDRNOTAVAIL if the container has
 * no address and wishes for none.
 */
int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_wish *wish,
		      const uint8_t (*own)[16], size_t count, struct vqp_terms *terms, struct vqp_error *error);

/* Does the policy allow annotations to name this CNI network list? */
bool vqp_policy_has_network(const struct vqp_policy *policy, const char *name);

#endif
