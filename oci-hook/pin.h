/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A pin binds a container's network namespace to a path from before the container is attached to a
 * network until it has been detached. Plugins find the network namespace there when they delete,
 * whether or not the container still lives. The pin also records that a container was attached.
 */
#ifndef VQP_OCI_PIN_H
#define VQP_OCI_PIN_H

#include <stdbool.h>

#include "../common/cni_name.h"
#include "../common/error.h"
#include "state.h"

struct vqp_pin {
	char name[VQP_CNI_NAME_MAX_BYTES + VQP_STATE_BUNDLE_BYTES];	/* what CNI knows the container by */
	char path[VQP_CNI_NAME_MAX_BYTES + VQP_STATE_BUNDLE_BYTES + 32];
};

/*
 * Sets name and path of the pin of the container `id`, which is a valid name, with that bundle, as
 * in struct vqp_state. An earlier version's pins are those of an empty bundle.
 */
void vqp_pin_name(struct vqp_pin *pin, const char *id, const char *bundle);

/* Does the pin's file exist, with or without a network namespace? */
bool vqp_pin_exists(const struct vqp_pin *pin);

/* Is a network namespace bound to the pin? */
bool vqp_pin_is_namespace(const struct vqp_pin *pin);

/* Is the pin's network namespace this one? */
bool vqp_pin_holds(const struct vqp_pin *pin, int netns_fd);

/* Binds the pin to the network namespace. 0, or a negative errno value with *error set. */
int vqp_pin_make(const struct vqp_pin *pin, int netns_fd, struct vqp_error *error);

/* Removes the pin, if there is one. */
void vqp_pin_remove(const struct vqp_pin *pin);

#endif
