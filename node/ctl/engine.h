/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What container engines' files say of vqp: texts in, texts out. */
#ifndef VQPCTL_ENGINE_H
#define VQPCTL_ENGINE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "../../common/error.h"

/* Absolute paths of what is installed together with vqpctl. */
struct ctl_programs {
	char runtime[PATH_MAX], hook[PATH_MAX];
};

/* A file's text before, and what else an edit depends on. Texts are NULL where there is no file. */
struct ctl_edit {
	const char *before, *backup;
	const struct ctl_programs *programs;
	bool remove;
};

struct ctl_engine_file {
	const char *path;
	bool shared;	/* with others: a backup is kept */
	/* *after, to be freed; NULL: no file. 0, or a negative errno value with *error set. */
	int (*edit)(const struct ctl_edit *edit, char **after, struct vqp_error *error);
};

struct ctl_engine {
	const char *name;
	const struct ctl_engine_file *files;	/* the first is its own; the last has no path */
	const char *then, *then_removed;	/* what is left to do for the operator; NULL: nothing */
};

/* NULL: there is no such engine. */
const struct ctl_engine *ctl_engine_find(const char *name);

/* Another engine, which has been configured, has this file, too. */
bool ctl_engine_others_have(const struct ctl_engine *engine, const char *path);

/* A CDI specification; NULL when memory ran out. */
json_t *ctl_engine_cdi(const struct ctl_programs *programs);

#endif
