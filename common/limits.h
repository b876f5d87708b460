/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits of a VQP namespace: how much it has at once, and sends. They are members of a JSON object
 * wherever they come from and go to: "max_vqps", "max_mrs", "max_bytes" and "max_rate", each a number or
 * "unlimited", and "priority". These are the kernel's names as well (node/attr.c).
 */
#ifndef VQP_COMMON_LIMITS_H
#define VQP_COMMON_LIMITS_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"

#define VQP_LIMITS_NAMES	"max_vqps, max_mrs, max_bytes, max_rate and priority"
#define VQP_LIMITS_UNLIMITED	"unlimited"

bool vqp_limits_has(const char *name);

/*
 * Nothing that `limits` says is out of range or not known, for somebody relies on it. NULL says nothing.
 * 0, or -EINVAL.
 */
int vqp_limits_check(const json_t *limits, struct vqp_error *error);

/* As it stands in a command line or an annotation: digits, or "unlimited". A new value, or NULL. */
json_t *vqp_limits_parse(const char *text);

/* All that there are: nothing is limited, and the priority is normal. A new object; NULL: memory ran out. */
json_t *vqp_limits_default(void);

/*
 * Replaces what is `granted` by what is `asked` for, both of which were checked. What was not granted
 * explicitly is as vqp_limits_default() has it. 0; -EPERM: more is asked for; -ENOMEM.
 */
int vqp_limits_lower(json_t *granted, const json_t *asked, struct vqp_error *error);

#endif
