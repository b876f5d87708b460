/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the operator lets a container have; see vqp-runtime.json(5). */
#ifndef VQP_OCI_POLICY_H
#define VQP_OCI_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/address.h"
#include "../common/error.h"
#include "limits.h"
#include "wish.h"

#define VQP_POLICY_DEFAULT_TENANT	1

struct vqp_policy {
	json_t *json;		/* has been checked */
};

/* With what a VQP namespace is made. */
struct vqp_terms {
	uint32_t tenant;
	char address[VQP_ADDRESS_TEXT];
	struct vqp_limits limits;
};

/*
 * Parse the operator's file. 0, or a negative errno value with *error set; to be cleared in both cases.
 */
int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error);

/* The same of VQP_CONFIG_FILE. */
int vqp_policy_read(struct vqp_policy *policy, struct vqp_error *error);

void vqp_policy_clear(struct vqp_policy *policy);

/*
 * The terms of a container that has these addresses and this wish. The tenant
 * follows from the container's own addresses, never from one that is wished
 * for. -EPERM: the wish goes beyond what the operator allows. -EADDRNOTAVAIL:
 * the container has no address, and wishes for none.
 */
int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_wish *wish,
		      const uint8_t (*own)[16], size_t count, struct vqp_terms *terms, struct vqp_error *error);

/* Annotations may name this CNI network list. */
bool vqp_policy_has_network(const struct vqp_policy *policy, const char *name);

#endif
