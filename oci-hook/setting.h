/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp-runtime's part of the operator's file. */
#ifndef VQP_OCI_SETTING_H
#define VQP_OCI_SETTING_H

#include <stddef.h>

#include "../common/error.h"

struct json_object;

/* The strings belong to json. */
struct vqp_setting {
	struct json_object *json;
	const char *runtime;	/* the runtime to become; NULL for the first that is found */
	const char *stage;	/* the stage of the hook that makes the VQP namespace */
};

/*
 * Parses the setting. 0, or a negative errno value with *error set. If the file names a runtime by
 * a string, setting->runtime is set even after a failure. The caller clears the setting in both
 * cases.
 */
int vqp_setting_parse(struct vqp_setting *setting, const char *text, size_t bytes, struct vqp_error *error);

void vqp_setting_clear(struct vqp_setting *setting);

#endif
