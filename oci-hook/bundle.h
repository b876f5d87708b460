/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An OCI bundle, which is the directory that a container is made from. */
#ifndef VQP_OCI_BUNDLE_H
#define VQP_OCI_BUNDLE_H

#include "../common/error.h"
#include "spec.h"

/*
 * Grants the container /dev/vqp in the bundle's config.json, or in the file `config` if that is not
 * NULL. The file is replaced atomically. 0, or a negative errno value with *error set.
 */
int vqp_bundle_grant(const char *bundle, const char *config, const struct vqp_grant *grant, struct vqp_error *error);

#endif
