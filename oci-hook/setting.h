/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp-runtime's part of the operator's file. */
#ifndef VQP_OCI_SETTING_H
#define VQP_OCI_SETTING_H

#include <stddef.h>

#include "../common/error.h"

struct json_object;

/* Strings belong to json. */
struct vqp_setting {
	struct json_object *json;
	const char *runtime;	/* to become; NULL: the first there is */
	const char *stage;	/* of the hook that makes the VQP namespace */
};

/*
 * 0, or a negative errno value with *error set. What the file names as the runtime, a string with a path, counts
 * even after a failure. To be cleared in both cases.
 */
int vqp_setting_parse(struct vqp_setting *setting, const char *text, size_t bytes, struct vqp_error *error);

void vqp_setting_clear(struct vqp_setting *setting);

#endif
