/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of container engines' files that are about vqp, as functions from text to text. */
#ifndef VQPCTL_ENGINE_H
#define VQPCTL_ENGINE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "../../common/error.h"

/* The absolute paths of programs that are installed together with vqpctl. */
struct ctl_programs {
	char runtime[PATH_MAX], hook[PATH_MAX];
};

/* The text of a file, and what else an edit depends on. A text is NULL if there is no file. */
struct ctl_edit {
	const char *before, *backup;
	const struct ctl_programs *programs;
	bool remove;
};

struct ctl_engine_file {
	const char *path;
	bool shared;	/* Other programs use the file, too, so that a backup is kept. */
	/*
	 * Makes the text *after, which the caller frees; NULL stands for no file. 0, or a negative
	 * errno value with *error set.
	 */
	int (*edit)(const struct ctl_edit *edit, char **after, struct vqp_error *error);
};

struct ctl_engine {
	const char *name;
	/* The first file is the engine's own; an entry without a path ends the list. */
	const struct ctl_engine_file *files;
	const char *then, *then_removed;	/* the steps that are left to the operator, or NULL */
};

/* Returns the engine of that name, or NULL. */
const struct ctl_engine *ctl_engine_find(const char *name);

/* Does another engine that has been configured have this file, too? */
bool ctl_engine_others_have(const struct ctl_engine *engine, const char *path);

/* Returns a CDI specification; NULL without memory. */
json_t *ctl_engine_cdi(const struct ctl_programs *programs);

#endif
