/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Containers whose network comes when all of their hooks have run, between create and start: their
 * VQP namespaces are made when they are started. A note remembers them, as long as their bundles are there.
 */
#ifndef VQP_OCI_LATE_H
#define VQP_OCI_LATE_H

#include <stdbool.h>

#include "../common/error.h"

/* Whether the container `id` can have a note: NULL cannot. */
bool vqp_late_may_be(const char *id);

/* Write one. 0, or a negative errno value with *error set. */
int vqp_late_note(const char *id, const char *bundle, struct vqp_error *error);

bool vqp_late_is_noted(const char *id);

/* Whether or not there is one. */
void vqp_late_forget(const char *id);

/*
 * Run `hook` at `stage` with the container's state, which the command `state` writes (its first word
 * is a path). 0, or a negative errno value with *error set: the hook's own, if
 * it has said something.
 */
int vqp_late_make(char *const *state, const char *hook, const char *stage, struct vqp_error *error);

#endif
