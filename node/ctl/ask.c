/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "ask.h"

#define LIMIT_S		60	/* An engine that does not answer is killed. */
#define OUTPUT_MAX	(16U << 20)

bool ctl_ask_finds(const char *program, char path[PATH_MAX])
{
	const char *dir = getenv("PATH");

	for (dir = dir ? dir : _PATH_DEFPATH; *dir; dir += strspn(dir, ":")) {
		int length = (int)strcspn(dir, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", length, dir, program) < PATH_MAX && !access(path, X_OK))
			return true;
		dir += length;
	}
	return false;
}

static void run(const char *const argv[], int output, int errors)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		_exit(127);
	alarm(LIMIT_S);
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Returns what was written to a file in memory; NULL without memory. */
static char *written(int fd)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text = bytes < 0 || bytes > OUTPUT_MAX ? NULL : calloc(1, bytes + 1);

	if (text && (lseek(fd, 0, SEEK_SET) || vqp_io_read(fd, text, bytes) < 0)) {
		free(text);
		text = NULL;
	}
	return text;
}

/* Returns the first line that is no log entry, behind which there may be a stack, and ends it. */
static const char *reason(char *text)
{
	char *line = text;

	while (*line && (!strncmp(line, "time=", 5) || *line == '\n')) {
		char *end = strchrnul(line, '\n');

		line = *end ? end + 1 : end;
	}
	/* If there are log entries alone, the first one is as good as any. */
	if (!*line)
		line = text;
	line[strcspn(line, "\n")] = '\0';
	return *line ? line : "it fails, and does not say why";
}

int ctl_ask(const char *const argv[], char **output, struct vqp_error *error)
{
	cleanup_close int out = memfd_create("output", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
	cleanup_free char *said = NULL;
	int status = 0;
	pid_t pid;

	*output = NULL;
	if (out < 0 || errors < 0)
		return vqp_error_set(error, -errno, "cannot run %s: %s", argv[0], strerror(errno));
	pid = fork();
	if (pid < 0)
		return vqp_error_set(error, -errno, "cannot run %s: %s", argv[0], strerror(errno));
	if (!pid)
		run(argv, out, errors);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*output = written(out);
	said = written(errors);
	if (!*output || !said)
		return vqp_error_set(error, -ENOMEM, "cannot read what %s says", argv[0]);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	free(*output);
	*output = NULL;
	return vqp_error_set(error, -EPROTO, "%s: %s", argv[0],
			     WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : reason(said));
}
