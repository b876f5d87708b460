/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A container's network namespace, bound to a path of its own from before it
 * is attached to a network until it has been detached: plugins that look at it
 * when they delete find it, whether or not the container still lives. It is
 * also how one knows what was attached.
 */
#ifndef VQP_OCI_PIN_H
#define VQP_OCI_PIN_H

#include <stdbool.h>

#include "../common/error.h"
#include "name.h"

struct vqp_pin {
	char path[VQP_NAME_MAX_BYTES + 32];
};

/* Where the container `id`, which is a valid name, has its pin. */
void vqp_pin_name(struct vqp_pin *pin, const char *id);

/* Somebody has begun to make it. */
bool vqp_pin_exists(const struct vqp_pin *pin);

/* There is a network namespace behind it. */
bool vqp_pin_is_namespace(const struct vqp_pin *pin);

/* It is that network namespace which is at the path `netns`. */
bool vqp_pin_holds(const struct vqp_pin *pin, const char *netns);

/* Bind it to the network namespace at `netns`. 0, or a negative errno value with *error set. */
int vqp_pin_make(const struct vqp_pin *pin, const char *netns, struct vqp_error *error);

/* Whether or not it has been made. */
void vqp_pin_remove(const struct vqp_pin *pin);

#endif
