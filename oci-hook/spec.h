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

/* What vqp-runtime adds to a container's specification. */
struct vqp_grant {
	dev_t device;			/* the number of /dev/vqp */
	const char *hook;		/* the absolute path of vqp-hook */
	/* The absolute path of vqp-network, which is added if the container asks for a network. */
	const char *network_hook;
	/* The network of containers whose annotations do not ask for one; or NULL. */
	const char *network;
	const char *stage;		/* the stage of vqp-hook: createRuntime, or prestart */
	/* Is set if the network may be set up after all hooks. NULL if the stage excludes that. */
	bool *late;
};

/*
 * Parses the specification `text`, which has a NUL after its `bytes` bytes, and adds the device,
 * the right to use it, and the hooks. A specification that has them stays as it is. 0 with *spec,
 * which the caller puts; or a negative errno value with *error set.
 */
int vqp_spec_edit(const char *text, size_t bytes, const struct vqp_grant *grant, struct json_object **spec,
		  struct vqp_error *error);

#endif
