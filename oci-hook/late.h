/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Containers whose network is set up after all of their hooks have run, between create and start.
 * Their VQP namespaces are made when they are started. A note names such a container, as long as
 * its bundle exists.
 */
#ifndef VQP_OCI_LATE_H
#define VQP_OCI_LATE_H

#include <stdbool.h>

#include "../common/error.h"

/* Can the container `id`, which may be NULL, have a note? */
bool vqp_late_may_be(const char *id);

/* Writes a note. 0, or a negative errno value with *error set. */
int vqp_late_note(const char *id, const char *bundle, struct vqp_error *error);

bool vqp_late_is_noted(const char *id);

/* Removes the note, if there is one. */
void vqp_late_forget(const char *id);

/*
 * Runs `hook` at `stage` with the container's state, which the command `state` writes; the first
 * word of the command is a path. 0, or a negative errno value with *error set, whose text is the
 * hook's own if it has written one.
 */
int vqp_late_make(char *const *state, const char *hook, const char *stage, struct vqp_error *error);

#endif
