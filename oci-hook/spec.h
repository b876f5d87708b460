/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A container's OCI specification. */
#ifndef VQP_OCI_SPEC_H
#define VQP_OCI_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../common/error.h"

#define VQP_SPEC_FILE		"config.json"
#define VQP_SPEC_MAX_BYTES	(16U << 20)

struct json_object;

/* What vqp adds to a container. */
struct vqp_grant {
	dev_t device;			/* of /dev/vqp */
	const char *hook;		/* absolute path of vqp-hook */
	const char *network_hook;	/* absolute path of vqp-network, for containers that ask for a network */
	const char *network;		/* what a container asks for that asks for none itself; may be NULL */
	const char *stage;		/* when it makes the VQP namespace: createRuntime, or prestart */
	bool *late;			/* set: the network may come after all hooks; NULL: it cannot */
};

/*
 * Parse the specification `text`, which has a NUL after its `bytes` bytes, and
 * add the device, the right to use it, and the hooks, vqp-network's only if an
 * annotation wants it. Doing it again changes
 * nothing. 0 with *spec, to be put; or a negative errno value with *error set.
 */
int vqp_spec_edit(const char *text, size_t bytes, const struct vqp_grant *grant, struct json_object **spec,
		  struct vqp_error *error);

#endif
