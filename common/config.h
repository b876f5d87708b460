/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operator's files: what they are called, and how each is read. */
#ifndef VQP_COMMON_CONFIG_H
#define VQP_COMMON_CONFIG_H

#include <stddef.h>

#include "../common/error.h"

#define VQP_CONFIG_DIR		"/etc/vqp"
#define VQP_CONFIG_FILE		VQP_CONFIG_DIR "/runtime.json"
#define VQP_CONFIG_MAX_BYTES	(64U << 10)

/* The members of VQP_CONFIG_FILE that are vqp-runtime's. */
#define VQP_CONFIG_RUNTIME	"runtime"
#define VQP_CONFIG_STAGE	"stage"
/* All members: some are of the policy, which used to be in this file. */
#define VQP_CONFIG_MEMBERS	VQP_CONFIG_RUNTIME, VQP_CONFIG_STAGE, "tenant", "limits", "networks", "annotations"

/*
 * Reads a file to *text, which the caller frees and which has a NUL after its *bytes bytes. A file
 * that users other than root could have written is refused. 0, or a negative errno value with
 * *error set: -ENOENT if there is no such file.
 */
int vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

#endif
