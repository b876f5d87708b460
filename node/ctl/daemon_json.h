/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime vqp in Docker's daemon.json. */
#ifndef VQPCTL_DAEMON_JSON_H
#define VQPCTL_DAEMON_JSON_H

#include <stdbool.h>

#include "../../common/error.h"

/* Has the text the runtime as an add writes it, whatever its path's directory is? */
bool ctl_daemon_json_is_ours(const char *text);

/*
 * Add the runtime to the text of a file, and remove it. `before` and `backup` are NULL if there is
 * no file. The caller frees *after, which is NULL if there is to be no file. All that is not vqp's
 * stays as it is, byte for byte as far as the runtime can be put in or cut out as a whole; else the
 * text is written anew. A text that then says what the backup says is the backup. A runtime vqp
 * of the backup's is put back, unless it is vqp's own. 0, or a negative errno value with *error set.
 */
int ctl_daemon_json_add(const char *before, const char *runtime, char **after, struct vqp_error *error);
int ctl_daemon_json_remove(const char *before, const char *backup, char **after, struct vqp_error *error);

#endif
