/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operator's file, of which vqp-runtime and vqp-hook each read a part. */
#ifndef VQP_OCI_CONFIG_H
#define VQP_OCI_CONFIG_H

#include <stddef.h>

#include "../common/error.h"

#define VQP_CONFIG_FILE		"/etc/vqp/runtime.json"
#define VQP_CONFIG_MAX_BYTES	(64U << 10)

/* The member that is vqp-runtime's. */
#define VQP_CONFIG_RUNTIME	"runtime"
#define VQP_CONFIG_STAGE	"stage"

/*
 * Reads the file to *text, which the caller frees and which has a NUL after its *bytes bytes; "{}"
 * if there is no file. A file that users other than root could have written is refused. 0, or a
 * negative errno value with *error set.
 */
int vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

#endif
