/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks of members that policy.json and its predecessor both have. 0, or -EINVAL with *error set. */
#ifndef VQP_NODE_POLICY_CHECK_H
#define VQP_NODE_POLICY_CHECK_H

#include <jansson.h>

#include "../common/error.h"

/* Checks that a value is an object without other members than the known ones, NULL at the end. */
int vqp_policy_check_members(const json_t *object, const char *what, const char *const *known, struct vqp_error *error);

int vqp_policy_check_subnet(const json_t *text, struct vqp_error *error);

/* Checks the name of a CNI network list, which is the value of `what`. */
int vqp_policy_check_name(const json_t *name, const char *what, struct vqp_error *error);

/* Checks each item of a list, which may be missing. */
int vqp_policy_check_list(const json_t *list, const char *name,
			  int (*check)(const json_t *item, struct vqp_error *error), struct vqp_error *error);

/* Loads JSON. Returns a new value; NULL with *error set. */
json_t *vqp_policy_load_json(const char *text, size_t bytes, struct vqp_error *error);

#endif
