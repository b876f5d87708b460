// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "error.h"
#include "late.h"
#include "name.h"

#define PARENT	"/run/vqp"
#define NOTES	PARENT "/late"

struct note {
	char path[sizeof(NOTES) + 1 + VQP_NAME_MAX_BYTES];
};

bool vqp_late_may_be(const char *id)
{
	return id && vqp_name_is_valid(id);
}

static struct note note_of(const char *id)
{
	struct note note;

	snprintf(note.path, sizeof(note.path), NOTES "/%s", id);
	return note;
}

/* Nobody says so when the creation fails: containers whose bundles have gone are gone. */
static void sweep(void)
{
	DIR *dir = opendir(NOTES);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (faccessat(dirfd(dir), entry->d_name, F_OK, 0) && errno == ENOENT)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int vqp_late_note(const char *id, const char *bundle, char **error)
{
	const struct note note = note_of(id);
	cleanup_free char *path = realpath(bundle, NULL);

	if (!path)
		return vqp_error_fail(error, errno, "bundle %s: %s", bundle, strerror(errno));
	if ((mkdir(PARENT, 0755) && errno != EEXIST) || (mkdir(NOTES, 0700) && errno != EEXIST))
		return vqp_error_fail(error, errno, "cannot make " NOTES ": %s", strerror(errno));
	sweep();
	vqp_late_forget(id);
	if (symlink(path, note.path))
		return vqp_error_fail(error, errno, "cannot make %s: %s", note.path, strerror(errno));
	return 0;
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

/* With two of its files in place of these; *pid is 0 after a failure. */
static int start(pid_t *pid, char *const *argv, int fd, int becomes, int other_fd, int other_becomes)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	*pid = 0;
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, fd, becomes);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, other_fd, other_becomes);
	if (!err)
		err = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
	if (err)
		*pid = 0;
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* It has ended well. */
static bool ends_well(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return !status;
}

/* The first line of what it said, if it did. */
static int complain(const char *argv0, int said, char **error)
{
	char text[1024] = "";
	ssize_t bytes = pread(said, text, sizeof(text) - 1, 0);

	text[bytes > 0 ? bytes : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		return vqp_error_fail(error, EIO, "%s", text);
	return vqp_error_fail(error, EIO, "%s failed", argv0);
}

/* Both have ended when it returns. */
static int pipe_state(char *const *state, char *const *hook, const int pipe[2], int said, char **error)
{
	pid_t writer = 0, reader = 0;
	const char *failed = hook[0];
	bool written, taken;
	int ret = start(&reader, hook, pipe[0], STDIN_FILENO, said, STDERR_FILENO);

	if (!ret) {
		failed = state[0];
		ret = start(&writer, state, pipe[1], STDOUT_FILENO, said, STDERR_FILENO);
	}
	close(pipe[0]);
	close(pipe[1]);
	written = writer && ends_well(writer);
	taken = reader && ends_well(reader);
	if (ret)
		return vqp_error_fail(error, -ret, "cannot run %s: %s", failed, strerror(-ret));
	if (!written)
		return complain(state[0], said, error);
	return taken ? 0 : complain(hook[0], said, error);
}

int vqp_late_make(char *const *state, const char *hook, const char *stage, char **error)
{
	cleanup_close int said = memfd_create("said", MFD_CLOEXEC);
	int pipe[2];

	if (said < 0 || pipe2(pipe, O_CLOEXEC))
		return vqp_error_fail(error, errno, "cannot run %s: %s", hook, strerror(errno));
	return pipe_state(state, (char *const[]){ (char *)hook, (char *)stage, NULL }, pipe, said, error);
}
