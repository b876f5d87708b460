/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the tables of runtime handlers have in common, whichever engine they are for. */
#ifndef VQPCTL_HANDLER_H
#define VQPCTL_HANDLER_H

#include <jansson.h>
#include <stdbool.h>

#define CTL_HANDLER	"vqp"

/*
 * Returns a copy of an object without the members that say nothing: "", 0, false, empty arrays, and
 * objects of nothing else.
 */
json_t *ctl_handler_what_is_set(const json_t *object);

/* Is the string in the array? */
bool ctl_handler_lists(const json_t *array, const char *string);

/* Returns the object's member of this name, which is made an empty object if there is none. */
json_t *ctl_handler_reach(json_t *object, const char *name);

#endif
