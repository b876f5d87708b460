/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "file.h"
#include "program.h"

#define WORDS_MAX	16
#define TIMED_OUT	124	/* the statuses of timeout(1) itself */
#define NOT_RUN		126
#define NOT_FOUND	127

/* Starts the program with a pipe, *fd, to its output. 0 or a negative errno value. */
static int start(const char *const argv[], bool errors, pid_t *pid, int *fd)
{
	const char *words[WORDS_MAX] = { "timeout", "--kill-after=1", "10" };
	posix_spawn_file_actions_t actions;
	int ends[2], ret;

	for (unsigned int i = 0; argv[i] && i + 4 < WORDS_MAX; i++)
		words[i + 3] = argv[i];
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (errors)
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawnp(pid, *words, &actions, NULL, (char **)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (ret)
		close(ends[0]);
	else
		*fd = ends[0];
	return -ret;
}

/* Reads until the program's end; of what is too long the rest is left out. 0 or -ENOMEM. */
static int read_all(int fd, char **text)
{
	size_t bytes = 0, room;
	FILE *out = open_memstream(text, &room);
	char part[4096];
	ssize_t n;

	if (!out)
		return -ENOMEM;
	while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0 || bytes + n > CTL_FILE_MAX_BYTES)
			continue;
		bytes += n;
		for (ssize_t i = 0; i < n; i++)
			fputc(part[i] ? part[i] : '?', out);
	}
	return fclose(out) ? -ENOMEM : 0;
}

int ctl_program_run(const char *const argv[], bool errors, char **output)
{
	cleanup_close int fd = -1;
	int status = 0, ret;
	pid_t pid = -1;

	*output = NULL;
	ret = start(argv, errors, &pid, &fd);
	if (ret)
		return ret;
	ret = read_all(fd, output);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ret && WIFEXITED(status) && WEXITSTATUS(status) < TIMED_OUT)
		return WEXITSTATUS(status);
	free(*output);
	*output = NULL;
	if (ret)
		return ret;
	return WIFEXITED(status) && (WEXITSTATUS(status) == NOT_FOUND || WEXITSTATUS(status) == NOT_RUN) ? -ENOENT : -ETIMEDOUT;
}
