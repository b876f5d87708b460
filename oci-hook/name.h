/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_NAME_H
#define VQP_OCI_NAME_H

#include <stdbool.h>

#define VQP_NAME_MAX_BYTES	200	/* part of a file name */

/* As CNI has it of containers and networks: letters, digits and "_.-", none of these three at first. */
bool vqp_name_is_valid(const char *name);

#endif
