/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Other programs, which are asked. Each has a time limit, and is killed with all that it has
 * started when that is over. Of the environment it gets PATH, with the directories of root's
 * programs behind it, HOME and the locale "C" alone.
 */
#ifndef VQPCTL_PROGRAM_H
#define VQPCTL_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "../../common/error.h"

#define CTL_PROGRAM_LIMIT_MS	10000	/* for a question to a node */
#define CTL_PROGRAM_ENGINE_MS	60000	/* for one to an engine, which may have to read images */

/* Looks for a program as a shell does, but takes a regular file only. */
bool ctl_program_find(const char *name, char path[PATH_MAX]);

/*
 * Runs a program, which is looked for unless its name has a slash. What it prints becomes *output,
 * as far as CTL_FILE_MAX_BYTES, and its errors become *errors; the two may be one, and `errors` may
 * be NULL. The caller frees them. Returns the exit status, or a negative errno value: -ENOENT if
 * there is no such program, -ETIMEDOUT after `limit_ms`, -EFBIG if it prints without end, -EPROTO
 * if a signal has ended it. After one the texts are NULL.
 */
int ctl_program_run(const char *const argv[], int limit_ms, char **output, char **errors);

/*
 * Asks an engine's own program, which says how it understands its files. 0, or a negative errno
 * value with *error set: -EPROTO and its first line of errors if the program fails.
 */
int ctl_program_ask(const char *const argv[], char **output, struct vqp_error *error);

#endif
