/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Changes of configuration files: of several files all are made, or none. */
#ifndef VQPCTL_CHANGE_H
#define VQPCTL_CHANGE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../../common/error.h"

/* A change of one file. A text is NULL if there is no file. */
struct ctl_change {
	char path[PATH_MAX];
	/* The file from before vqp's first change, if the file is shared. */
	char backup_path[PATH_MAX];
	bool shared;	/* Other programs use the file, too, so that a backup is kept. */
	bool has_part;	/* The text `before` has a part that vqp has written, so that it is no backup. */
	bool stale;	/* The backup has such a part, and goes when the change takes it out. */
	bool removes;	/* The change takes out what an earlier one has written. */
	struct stat its;	/* owner and mode of the text `before` */
	char *before, *after, *backup;	/* Owned by the change. */
};

/*
 * Reads the texts `before` and `backup` of the file at `path`. 0, or a negative errno value with
 * *error set.
 */
int ctl_change_read(struct ctl_change *change, const char *path, bool shared, struct vqp_error *error);
void ctl_change_free(struct ctl_change *change);

/* Does the file change? */
bool ctl_change_differs(const struct ctl_change *change);

/* Is there a backup after the change? */
bool ctl_change_leaves_backup(const struct ctl_change *change);

/* Says whether what was made is in effect: 0 or more, or a negative errno value with *error set. */
typedef int ctl_verify(const void *arg, struct vqp_error *error);

/*
 * Makes the changes in order and, unless `verify` is NULL, has it judge them. If one fails, or the
 * judgement is bad, all are taken back, the last one first; what cannot be restored is added to the
 * text of *error. A file is neither replaced nor restored if somebody else has changed it since it
 * was read (-EAGAIN). Signals by which an operator ends a program wait until all this is over.
 * Returns what `verify` has returned, 0 without it, or a negative errno value with *error set.
 */
int ctl_changes_make(const struct ctl_change *changes, unsigned int count, ctl_verify *verify, const void *arg,
		     struct vqp_error *error);

#endif
