/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqp's lines at the end of a file in TOML, between two lines that mark them. */
#ifndef VQPCTL_TOML_BLOCK_H
#define VQPCTL_TOML_BLOCK_H

#include <stdbool.h>

#include "../../common/error.h"

/* Has the text a line that marks such a block? */
bool ctl_toml_block_is_in(const char *text);

/*
 * Copies the text without its block to *rest, which the caller frees. 0, or a negative errno value
 * with *error set.
 */
int ctl_toml_block_cut(const char *text, char **rest, struct vqp_error *error);

/*
 * Makes the text *after with `lines` as its block. All other lines stay as they are; a block that
 * says the same stays where it is. `start` is what a file begins with that says nothing yet. 0, or
 * a negative errno value with *error set.
 */
int ctl_toml_block_add(const char *before, const char *start, const char *lines, char **after,
		       struct vqp_error *error);

/*
 * Makes the text *after without the block; NULL stands for no file. If all that is left is
 * `start`, or the backup with a newline that an add has appended, the text is what it was before.
 * 0, or a negative errno value with *error set.
 */
int ctl_toml_block_remove(const char *before, const char *backup, const char *start, char **after,
			  struct vqp_error *error);

#endif
