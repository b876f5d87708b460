/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operator's file, which vqp-runtime and vqp-hook each read their part of. */
#ifndef VQP_OCI_CONFIG_H
#define VQP_OCI_CONFIG_H

#include <stddef.h>

#include "../common/error.h"

#define VQP_CONFIG_FILE		"/etc/vqp/runtime.json"
#define VQP_CONFIG_MAX_BYTES	(64U << 10)

/* Members that are vqp-runtime's. */
#define VQP_CONFIG_RUNTIME	"runtime"
#define VQP_CONFIG_STAGE	"stage"

/*
 * *text, to be freed, with a NUL after its *bytes bytes; "{}" if there is no
 * file. A file that others than root could have written is refused. 0, or a
 * negative errno value with *error set.
 */
int vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

#endif
