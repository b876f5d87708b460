/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_CNI_NAME_H
#define VQP_COMMON_CNI_NAME_H

#include <stdbool.h>

#define VQP_CNI_NAME_MAX_BYTES	200	/* A name is a part of a file name. */

/*
 * Is the name one that CNI allows for containers and networks: letters, digits and "_.-", none of
 * these three at the beginning?
 */
bool vqp_cni_name_is_valid(const char *name);

#endif
