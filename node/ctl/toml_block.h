/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lines of ours at the end of containerd's config.toml, between two that mark them. */
#ifndef VQPCTL_TOML_BLOCK_H
#define VQPCTL_TOML_BLOCK_H

#include "../../common/error.h"

/* The file's version; 2 if there is no file, 1 if it says none. */
int ctl_toml_version(const char *text);

/*
 * Lines of a table, without those of one of its keys, in *lines, to be freed; "" if there
 * is no such table. `name` is the end of its header. 0, or -ENOMEM.
 */
int ctl_toml_table_copy(const char *text, const char *name, const char *without, char **lines);

/*
 * `before` is NULL if there is no file; *after is to be freed, NULL: no file. All
 * other lines stay as they are, and if they are those of the backup its end does, too. `standard` is the table of the runtime runc, and
 * comes with the block if the file has none: whoever names a runtime has to name
 * all, for those that containerd knows by itself count no more. 0, or a negative errno value with *error set.
 */
int ctl_toml_block_add(const char *before, const char *standard, const char *block, char **after, struct vqp_error *error);
int ctl_toml_block_remove(const char *before, const char *backup, char **after, struct vqp_error *error);

#endif
