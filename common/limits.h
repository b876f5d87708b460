/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The limits of a VQP namespace, and its priority. They are members of a JSON object in
 * configurations, requests and answers: "max_vqps", "max_mrs", "max_bytes" and "max_rate", each a
 * number or "unlimited", and "priority". The names are those of the kernel's attributes (attr.c).
 */
#ifndef VQP_COMMON_LIMITS_H
#define VQP_COMMON_LIMITS_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"

#define VQP_LIMITS_NAMES	"max_vqps, max_mrs, max_bytes, max_rate and priority"
#define VQP_LIMITS_UNLIMITED	"unlimited"

/* Is there a limit of this name? */
bool vqp_limits_has(const char *name);

/*
 * Checks the names and values of an object of limits, which may be NULL. A limit that is not known
 * is refused, since whoever wrote it relies on it. 0, or -EINVAL.
 */
int vqp_limits_check(const json_t *limits, struct vqp_error *error);

/*
 * Parses a limit's value in a command line or an annotation: digits, or "unlimited". Returns a new
 * value, or NULL.
 */
json_t *vqp_limits_parse(const char *text);

/*
 * Returns a new object with the defaults of all limits: unlimited, and normal priority. NULL
 * without memory.
 */
json_t *vqp_limits_default(void);

/*
 * Replaces limits in `granted` by those in `asked`, if these are not higher. Both objects have been
 * checked. A limit that `granted` does not have is that of vqp_limits_default(). 0; -EPERM if a
 * limit in `asked` is higher; -EINVAL if it is not known; -ENOMEM.
 */
int vqp_limits_lower(json_t *granted, const json_t *asked, struct vqp_error *error);

#endif
