/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
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
	ret = ctl_file_look(path, &change->its);
	if (!ret)
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

/* Has the file this text still? 0, -EAGAIN if it has another one, or another negative errno value. */
static int check(const char *path, const char *text)
{
	cleanup_free char *now = NULL;
	int ret = ctl_file_read(path, &now);

	return ret ? ret : same(now, text) ? 0 : -EAGAIN;
}

/* Is all as it was when the change was planned? Between this and a rename others have next to no time. */
static int check_before(const struct ctl_change *change)
{
	int ret = check(change->path, change->before);

	return !ret && change->shared ? check(change->backup_path, change->backup) : ret;
}

/*
 * The order is such that after a failure, or when the program is killed, the file or its backup has
 * the old text.
 */
static int make(const struct ctl_change *change)
{
	struct stat its;
	int ret = ctl_file_look(change->path, &its);

	if (!ret && makes_backup(change))
		ret = ctl_file_back_up(change->path, change->backup_path, change->before);
	if (!ret)
		ret = ctl_file_replace(change->path, &its, change->after);
	if (!ret && drops_backup(change))
		ret = ctl_file_replace(change->backup_path, &its, NULL);
	return ret;
}

/*
 * Gives a file this text again in place of `made`, unless it has it: what has not been written need
 * not be restored, and what somebody else has written since is not lost.
 */
static int restore(const char *path, const struct stat *its, const char *made, const char *text)
{
	cleanup_free char *now = NULL;
	int ret = ctl_file_read(path, &now);

	if (ret || same(now, text))
		return ret;
	return same(now, made) ? ctl_file_replace(path, its, text) : -EAGAIN;
}

/* The backup is there until the file has its old text. */
static int undo(const struct ctl_change *change)
{
	int ret = drops_backup(change) ? restore(change->backup_path, &change->its, NULL, change->backup) : 0;

	if (!ret)
		ret = restore(change->path, &change->its, change->after, change->before);
	if (!ret && makes_backup(change))
		ret = restore(change->backup_path, &change->its, change->before, NULL);
	return ret;
}

static const char *reason(int ret)
{
	return ret == -EAGAIN ? "it has changed meanwhile" : strerror(-ret);
}

/*
 * Takes back changes, the last one first. If a file cannot be restored, this is added to the text
 * of *error, which says why they are taken back.
 */
static void undo_all(const struct ctl_change *changes, unsigned int count, struct vqp_error *error)
{
	while (count--) {
		int ret = ctl_change_differs(&changes[count]) ? undo(&changes[count]) : 0;

		if (ret)
			vqp_error_set(error, error->code, "%s; and %s cannot be restored: %s", vqp_error_text(error),
				      changes[count].path, reason(ret));
	}
}

static int make_all(const struct ctl_change *changes, unsigned int count, struct vqp_error *error)
{
	for (unsigned int i = 0; i < count; i++) {
		int ret = check_before(&changes[i]), checked = ret;

		if (!ret && ctl_change_differs(&changes[i]))
			ret = make(&changes[i]);
		if (!ret)
			continue;
		if (checked == -EAGAIN)
			vqp_error_set(error, ret, "%s has changed meanwhile: try again", changes[i].path);
		else
			vqp_error_set(error, ret, "cannot replace %s: %s", changes[i].path, strerror(-ret));
		/* The change that failed may have written a part. */
		undo_all(changes, checked ? i : i + 1, error);
		return ret;
	}
	return 0;
}

static int make_and_verify(const struct ctl_change *changes, unsigned int count, ctl_verify *verify, const void *arg,
			   struct vqp_error *error)
{
	int ret = make_all(changes, count, error);

	if (ret || !verify)
		return ret;
	ret = verify(arg, error);
	if (ret < 0) {
		vqp_error_add_context(error, "what was written is taken back");
		undo_all(changes, count, error);
	}
	return ret;
}

int ctl_changes_make(const struct ctl_change *changes, unsigned int count, ctl_verify *verify, const void *arg,
		     struct vqp_error *error)
{
	sigset_t ends, former;
	int ret;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &former);
	ret = make_and_verify(changes, count, verify, arg, error);
	sigprocmask(SIG_SETMASK, &former, NULL);
	return ret;
}
