/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime that vqp-runtime is but for /dev/vqp. */
#ifndef VQP_OCI_REAL_H
#define VQP_OCI_REAL_H

#include <limits.h>

#include "../common/error.h"

/*
 * Its path. `named`, if not NULL, is looked for as execvp() does; otherwise runc, else crun. 0, or a
 * negative errno value with *error set.
 */
int vqp_real_find(const char *named, char path[PATH_MAX], struct vqp_error *error);

#endif
