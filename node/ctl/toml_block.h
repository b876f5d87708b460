/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp's lines at the end of containerd's config.toml, between two lines that mark them. */
#ifndef VQPCTL_TOML_BLOCK_H
#define VQPCTL_TOML_BLOCK_H

#include "../../common/error.h"

/* Returns the version of the file; 2 without a file, 1 if the file has no version. */
int ctl_toml_version(const char *text);

/*
 * Copies the lines of a table, without those of one of its keys, to *lines, which the caller frees;
 * "" if there is no such table. `name` is the end of the table's header. 0, or -ENOMEM.
 */
int ctl_toml_table_copy(const char *text, const char *name, const char *without, char **lines);

/*
 * Add the block to the text of a file, and remove it. `before` is NULL if there is no file. The
 * caller frees *after, which is NULL if there is to be no file. All other lines stay as they are,
 * and if they are those of the backup, so does its end. `standard` is the table of the runtime
 * runc, which comes with the block if the file has no runtimes: a file that names a runtime has to
 * name all, because containerd's own do not count then. 0, or a negative errno value with *error
 * set.
 */
int ctl_toml_block_add(const char *before, const char *standard, const char *block, char **after, struct vqp_error *error);
int ctl_toml_block_remove(const char *before, const char *backup, char **after, struct vqp_error *error);

#endif
