/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime vqp in Docker's daemon.json. */
#ifndef VQPCTL_DAEMON_JSON_H
#define VQPCTL_DAEMON_JSON_H

#include "../../common/error.h"

/*
 * Add the runtime to the text of a file, and remove it. `before` and `backup` are NULL if there is
 * no file. The caller frees *after, which is NULL if there is to be no file. All that is not vqp's
 * stays as it is. A text that need not be changed stays the same byte for byte, and so does one
 * that is then equal to the backup. 0, or a negative errno value with *error set.
 */
int ctl_daemon_json_add(const char *before, const char *runtime, char **after, struct vqp_error *error);
int ctl_daemon_json_remove(const char *before, const char *backup, char **after, struct vqp_error *error);

#endif
