/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "change.h"
#include "file.h"

#define BACKUP_SUFFIX	".before-vqp"

static bool same(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

int ctl_change_read(struct ctl_change *change, const char *path, bool shared, struct vqp_error *error)
{
	int ret;

	if (snprintf(change->path, sizeof(change->path), "%s", path) >= (int)sizeof(change->path) ||
	    snprintf(change->backup_path, sizeof(change->backup_path), "%s" BACKUP_SUFFIX, path) >=
	    (int)sizeof(change->backup_path))
		return vqp_error_set(error, -ENAMETOOLONG, "the path %s is too long", path);
	change->shared = shared;
	ret = ctl_file_read(path, &change->before);
	if (!ret && shared)
		ret = ctl_file_read(change->backup_path, &change->backup);
	return ret ? vqp_error_set(error, ret, "cannot read %s: %s", path, strerror(-ret)) : 0;
}

void ctl_change_free(struct ctl_change *change)
{
	free(change->before);
	free(change->after);
	free(change->backup);
}

bool ctl_change_differs(const struct ctl_change *change)
{
	return !same(change->before, change->after);
}

/* A backup has the text from before vqp's first change, which may have gone since with the backup. */
static bool makes_backup(const struct ctl_change *change)
{
	return change->shared && change->before && !change->backup && !change->has_part && !change->removes;
}

/* The backup is removed when the file has that text again, or if it never was one. */
static bool drops_backup(const struct ctl_change *change)
{
	return change->backup && (same(change->after, change->backup) || (change->stale && change->removes));
}

bool ctl_change_leaves_backup(const struct ctl_change *change)
{
	return ctl_change_differs(change) && (makes_backup(change) || (change->backup && !drops_backup(change)));
}

/*
 * The order is such that after a failure, or when the program is killed, the file or its backup has
 * the old text.
 */
static int make(const struct ctl_change *change)
{
	int ret = makes_backup(change) ? ctl_file_replace(change->backup_path, change->path, change->before) : 0;

	if (!ret)
		ret = ctl_file_replace(change->path, change->path, change->after);
	if (!ret && drops_backup(change))
		ret = ctl_file_replace(change->backup_path, change->path, NULL);
	return ret;
}

/* Gives a file this text again, unless it has it: what has not been written need not be restored. */
static int restore(const char *path, const char *model, const char *text)
{
	cleanup_free char *now = NULL;
	int ret = ctl_file_read(path, &now);

	return ret || same(now, text) ? ret : ctl_file_replace(path, model, text);
}

/* The backup is there until the file has its old text. */
static int undo(const struct ctl_change *change)
{
	int ret = drops_backup(change) ? restore(change->backup_path, change->path, change->backup) : 0;

	if (!ret)
		ret = restore(change->path, change->path, change->before);
	if (!ret && makes_backup(change))
		ret = restore(change->backup_path, change->path, NULL);
	return ret;
}

void ctl_changes_undo(const struct ctl_change *changes, unsigned int count, struct vqp_error *error)
{
	while (count--) {
		int ret = ctl_change_differs(&changes[count]) ? undo(&changes[count]) : 0;

		if (ret)
			vqp_error_set(error, error->code, "%s; and %s cannot be restored: %s", vqp_error_text(error),
				      changes[count].path, strerror(-ret));
	}
}

int ctl_changes_make(const struct ctl_change *changes, unsigned int count, struct vqp_error *error)
{
	for (unsigned int i = 0; i < count; i++) {
		int ret = ctl_change_differs(&changes[i]) ? make(&changes[i]) : 0;

		if (!ret)
			continue;
		vqp_error_set(error, ret, "cannot replace %s: %s", changes[i].path, strerror(-ret));
		/* The change that failed may have written a part. */
		ctl_changes_undo(changes, i + 1, error);
		return ret;
	}
	return 0;
}
