/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* All that a call which failed must leave as it was. */
#ifndef ALLOCFAIL_STATE_H
#define ALLOCFAIL_STATE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * What is alive of each kind of object of the module, and charged to its
 * namespaces; what this process has open, mapped and pinned. What the node merely remembers of others is left out.
 */
json_t *state_take(void);

/* Is it that now, or soon? What is freed passes a grace period. Takes the reference. */
bool state_returns(json_t *before);

#endif
