/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of container engines' files that are about vqp, as functions from text to text. */
#ifndef VQPCTL_ENGINE_H
#define VQPCTL_ENGINE_H

#include "site.h"

struct ctl_engine_file {
	/* A path that is always the same, or */
	const char *path;
	/* what finds it; false if there is no such file. */
	bool (*find)(const struct ctl_site *site, char path[PATH_MAX]);
	bool shared;	/* Other programs use the file, too, so that a backup is kept. */
	/*
	 * Finds the places, from the first one on, where an earlier configure may have written the
	 * file; false behind the last one. NULL if there are no others.
	 */
	bool (*find_former)(const struct ctl_site *site, unsigned int place, char path[PATH_MAX]);
	/* Has a text a part that vqpctl has written? Or the whole, if the file is not shared. */
	bool (*is_ours)(const char *text);
	/*
	 * Makes the text *after, which the caller frees; NULL stands for no file. 0, or a negative
	 * errno value with *error set.
	 */
	int (*edit)(const struct ctl_edit *edit, char **after, struct vqp_error *error);
};

struct ctl_engine {
	const char *name;
	const char *config;	/* The path of its main file, in place of which --config names another; or NULL. */
	const char *verified;	/* What a success of verify() says. */
	/* The first file is the engine's own; an entry without an edit ends the list. */
	const struct ctl_engine_file *files;
	/*
	 * Finds out what edits depend on, if they depend on other files; or NULL. 0, or a negative
	 * errno value with *error set.
	 */
	int (*look)(struct ctl_site *site, struct vqp_error *error);
	/*
	 * Asks the engine whether the runtime is in effect. 1 if it is, 0 if the engine is not here
	 * or cannot say, or a negative errno value with *error set.
	 */
	int (*verify)(const struct ctl_site *site, struct vqp_error *error);
	const char *then, *then_removed;	/* the steps that are left to the operator, or NULL */
};

bool ctl_engine_file_find(const struct ctl_engine_file *file, const struct ctl_site *site, char path[PATH_MAX]);

/*
 * Makes the text *after, as file->edit() does. A removal leaves a file as it is that somebody else
 * has written.
 */
int ctl_engine_file_edit(const struct ctl_engine_file *file, const struct ctl_edit *edit, char **after,
			 struct vqp_error *error);

/* Is a part of the file's text `before` vqp's? One that cannot be taken out is a part, too. */
bool ctl_engine_file_has_part(const struct ctl_engine_file *file, const struct ctl_site *site, const char *before);

/* Returns the engine of that name, or NULL. */
const struct ctl_engine *ctl_engine_find(const char *name);

/* Does another engine that has been configured have this file, too? */
bool ctl_engine_others_have(const struct ctl_engine *engine, const char *path);

/* Returns a CDI specification; NULL without memory. */
json_t *ctl_engine_cdi(const struct ctl_programs *programs);

#endif
