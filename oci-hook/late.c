// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/cni_name.h"
#include "../common/error.h"
#include "late.h"

#define PARENT	"/run/vqp"
#define NOTES	PARENT "/late"

struct note {
	char path[sizeof(NOTES) + 1 + VQP_CNI_NAME_MAX_BYTES];
};

bool vqp_late_may_be(const char *id)
{
	return id && vqp_cni_name_is_valid(id);
}

static struct note note_of(const char *id)
{
	struct note note;

	snprintf(note.path, sizeof(note.path), NOTES "/%s", id);
	return note;
}

/*
 * Removes the notes of containers whose bundles have gone. A creation that fails removes no note.
 */
static void sweep(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (faccessat(dirfd(dir), entry->d_name, F_OK, 0) && errno == ENOENT)
			unlinkat(dirfd(dir), entry->d_name, 0);
}

/* Replaces a note, under a lock, so that sweep() does not remove a new note as an old one. */
static int replace(const char *id, const char *bundle)
{
	DIR *dir = opendir(NOTES);
	int ret = 0;

	if (!dir)
		return -errno;
	if (flock(dirfd(dir), LOCK_EX)) {
		ret = -errno;
	} else {
		sweep(dir);
		vqp_late_forget(id);
		if (symlinkat(bundle, dirfd(dir), id))
			ret = -errno;
	}
	closedir(dir);
	return ret;
}

int vqp_late_note(const char *id, const char *bundle, struct vqp_error *error)
{
	cleanup_free char *path = realpath(bundle, NULL);
	int ret;

	if (!path)
		return vqp_error_set(error, -errno, "bundle %s: %s", bundle, strerror(errno));
	if ((mkdir(PARENT, 0755) && errno != EEXIST) || (mkdir(NOTES, 0700) && errno != EEXIST))
		return vqp_error_set(error, -errno, "cannot make " NOTES ": %s", strerror(errno));
	ret = replace(id, path);
	return ret ? vqp_error_set(error, ret, "cannot make " NOTES "/%s: %s", id, strerror(-ret)) : 0;
}

bool vqp_late_is_noted(const char *id)
{
	const struct note note = note_of(id);

	return !access(note.path, F_OK);
}

void vqp_late_forget(const char *id)
{
	const struct note note = note_of(id);

	unlink(note.path);
}

/* Runs a program with these as its standard files, and waits for its end. */
static int spawn_and_wait(char *const *argv, const int files[3], int *status)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	for (int i = 0; i < 3 && !err; i++)
		err = posix_spawn_file_actions_adddup2(&actions, files[i], i);
	if (!err)
		err = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return -err;
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Runs a program. If it fails, the first line that it has written is the reason. */
static int run(char *const *argv, int in, int out, struct vqp_error *error)
{
	cleanup_close int said = memfd_create("said", MFD_CLOEXEC);
	char text[1024] = "";
	int status = 0, ret = said < 0 ? -errno : spawn_and_wait(argv, (const int[]){ in, out, said }, &status);

	if (ret)
		return vqp_error_set(error, ret, "cannot run %s: %s", argv[0], strerror(-ret));
	if (!status)
		return 0;
	if (pread(said, text, sizeof(text) - 1, 0) <= 0 || *text == '\n')
		return vqp_error_set(error, -EIO, "%s failed", argv[0]);
	text[strcspn(text, "\n")] = '\0';
	return vqp_error_set(error, -EIO, "%s", text);
}

int vqp_late_make(char *const *state, const char *hook, const char *stage, struct vqp_error *error)
{
	cleanup_close int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cleanup_close int answer = memfd_create("state", MFD_CLOEXEC);
	int ret;

	if (nothing < 0 || answer < 0)
		return vqp_error_set(error, -errno, "cannot run %s: %s", hook, strerror(errno));
	ret = run(state, nothing, answer, error);
	if (ret)
		return ret;
	if (lseek(answer, 0, SEEK_SET) < 0)
		return vqp_error_set(error, -errno, "cannot read the state: %s", strerror(errno));
	return run((char *const[]){ (char *)hook, (char *)stage, NULL }, answer, STDOUT_FILENO, error);
}
