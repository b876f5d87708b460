/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime that vqp-runtime becomes: runc, crun, or another with their command line. */
#ifndef VQP_OCI_REAL_H
#define VQP_OCI_REAL_H

#include <limits.h>

#include "../common/error.h"

/*
 * Finds the runtime's path. `named`, if not NULL, is looked up as execvp() does; otherwise runc is,
 * and then crun. 0, or a negative errno value with *error set.
 */
int vqp_real_find(const char *named, char path[PATH_MAX], struct vqp_error *error);

#endif
