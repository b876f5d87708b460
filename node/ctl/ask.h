/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Questions to an engine's own program, which says how it understands its files. */
#ifndef VQPCTL_ASK_H
#define VQPCTL_ASK_H

#include <limits.h>
#include <stdbool.h>

#include "../../common/error.h"

/* Looks for a program as a shell does. */
bool ctl_ask_finds(const char *program, char path[PATH_MAX]);

/*
 * Runs a program with these arguments, a NULL behind the last one, and returns what it prints as
 * *output, which the caller frees. 0, or a negative errno value with *error set: -EPROTO and its
 * first line of errors if the program fails.
 */
int ctl_ask(const char *const argv[], char **output, struct vqp_error *error);

#endif
