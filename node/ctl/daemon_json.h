/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime vqp in Docker's daemon.json. */
#ifndef VQPCTL_DAEMON_JSON_H
#define VQPCTL_DAEMON_JSON_H

#include "../../common/error.h"

/*
 * `before` and `backup` are NULL where there is no file; *after is to be freed,
 * NULL: no file. What is not vqp's stays as it is; a text in which nothing has to
 * be changed does, byte for byte, and so does one that is then what the backup
 * is. 0, or a negative errno value with *error set.
 */
int ctl_daemon_json_add(const char *before, const char *runtime, char **after, struct vqp_error *error);
int ctl_daemon_json_remove(const char *before, const char *backup, char **after, struct vqp_error *error);

#endif
