/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A container's OCI specification: the bundle's config.json. */
#ifndef VQP_OCI_SPEC_H
#define VQP_OCI_SPEC_H

#include <sys/types.h>

#define VQP_SPEC_MAX_BYTES	(16U << 20)

/* What vqp adds to a container. */
struct vqp_grant {
	dev_t device;			/* of /dev/vqp */
	const char *hook;		/* absolute path of vqp-hook */
};

/*
 * Add the device, the right to use it, and the hooks to the bundle's
 * config.json, replacing the file at once. Doing it again changes nothing.
 * 0, or a negative errno value with *error set to a text to be freed.
 */
int vqp_spec_grant(const char *bundle, const struct vqp_grant *grant, char **error);

#endif
