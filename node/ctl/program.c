/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "file.h"
#include "program.h"

#define ROOT_DIRS	":/usr/sbin:/sbin"
#define WRITTEN_MAX	(64U << 20)	/* of any file: an archive may be larger than what is read */
#define NOT_RUN		127		/* as shells say it */

/* Returns the directories of programs, to be freed; NULL without memory. */
static char *search_path(void)
{
	const char *path = getenv("PATH");
	char *dirs;

	return asprintf(&dirs, "%s" ROOT_DIRS, path ? path : _PATH_DEFPATH) < 0 ? NULL : dirs;
}

static bool is_program(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && !access(path, X_OK);
}

bool ctl_program_find(const char *name, char path[PATH_MAX])
{
	cleanup_free char *dirs = search_path();

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
	for (const char *dir = dirs ? dirs : ""; *dir; dir += strspn(dir, ":")) {
		int length = (int)strcspn(dir, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", length, dir, name) < PATH_MAX && is_program(path))
			return true;
		dir += length;
	}
	return false;
}

/* What a program writes to, and the time at which it is killed. */
struct run {
	int output, errors;	/* files in memory; errors may be that of the output, or /dev/null */
	struct timespec end;
};

/*
 * Becomes the program, in the child. vqpctl may have blocked signals, and may be killed while it
 * waits.
 */
static void become(const char *path, const char *const argv[], char *const environment[], const struct run *run)
{
	const struct rlimit most = { WRITTEN_MAX, WRITTEN_MAX };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(run->output, STDOUT_FILENO) < 0 || dup2(run->errors, STDERR_FILENO) < 0 ||
	    setrlimit(RLIMIT_FSIZE, &most) || sigprocmask(SIG_SETMASK, &none, NULL))
		_exit(NOT_RUN);
	execve(path, (char *const *)argv, environment);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", path, strerror(errno));
	_exit(NOT_RUN);
}

static int start(const char *const argv[], const struct run *run, pid_t *pid)
{
	cleanup_free char *dirs = search_path(), *path_variable = NULL;
	char path[PATH_MAX];

	if (!dirs || asprintf(&path_variable, "PATH=%s", dirs) < 0) {
		path_variable = NULL;
		return -ENOMEM;
	}
	if (!ctl_program_find(argv[0], path))
		return -ENOENT;
	*pid = fork();
	if (!*pid)
		become(path, argv, (char *const[]){ path_variable, "HOME=/root", "LC_ALL=C", NULL }, run);
	return *pid < 0 ? -errno : 0;
}

static int left_ms(const struct timespec *end)
{
	struct timespec now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
	return left > 0 ? (int)left : 0;
}

/*
 * Waits until the program ends, and ends it and its whole group if it does not in time. No alarm
 * or other signal that it could handle would do.
 */
static int wait_for(pid_t pid, const struct run *run)
{
	cleanup_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ends = { .fd = fd, .events = POLLIN };
	int status = 0, ret, why = fd < 0 ? -errno : 0;

	do {
		ret = why ? 0 : poll(&ends, 1, left_ms(&run->end));
	} while (ret < 0 && errno == EINTR);
	if (ret <= 0) {
		/* The child may not have come to be the head of its group. */
		setpgid(pid, pid);
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ret <= 0)
		return why ? why : -ETIMEDOUT;
	if (lseek(run->output, 0, SEEK_END) >= WRITTEN_MAX || lseek(run->errors, 0, SEEK_END) >= WRITTEN_MAX)
		return -EFBIG;
	if (WIFSIGNALED(status))
		return -EPROTO;
	return WEXITSTATUS(status) == NOT_RUN ? -ENOENT : WEXITSTATUS(status);
}

/* Returns what was written to a file in memory, with '?' for bytes that would end it; NULL without memory. */
static char *written(int fd)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text;

	if (bytes > CTL_FILE_MAX_BYTES)
		bytes = CTL_FILE_MAX_BYTES;
	text = bytes < 0 ? NULL : calloc(1, bytes + 1);
	if (text && (lseek(fd, 0, SEEK_SET) || vqp_io_read(fd, text, bytes) < 0)) {
		free(text);
		return NULL;
	}
	for (off_t i = 0; text && i < bytes; i++)
		if (!text[i])
			text[i] = '?';
	return text;
}

int ctl_program_run(const char *const argv[], int limit_ms, char **output, char **errors)
{
	cleanup_close int out = memfd_create("output", MFD_CLOEXEC);
	cleanup_close int err = errors && errors != output ? memfd_create("errors", MFD_CLOEXEC) : open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct run run = { .output = out, .errors = errors == output ? out : err };
	pid_t pid = -1;
	int ret;

	*output = NULL;
	if (errors)
		*errors = NULL;
	if (out < 0 || err < 0)
		return -errno;
	clock_gettime(CLOCK_MONOTONIC, &run.end);
	run.end.tv_sec += limit_ms / 1000;
	run.end.tv_nsec += limit_ms % 1000 * 1000000L;
	ret = start(argv, &run, &pid);
	if (!ret)
		ret = wait_for(pid, &run);
	if (ret < 0)
		return ret;
	*output = written(out);
	if (errors && errors != output)
		*errors = written(err);
	if (*output && (!errors || *errors))
		return ret;
	free(*output);
	*output = NULL;
	return -ENOMEM;
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

int ctl_program_ask(const char *const argv[], char **output, struct vqp_error *error)
{
	cleanup_free char *said = NULL;
	int ret = ctl_program_run(argv, CTL_PROGRAM_ENGINE_MS, output, &said);

	if (ret == -ETIMEDOUT)
		return vqp_error_set(error, ret, "%s has not answered in %d s, and was killed", argv[0], CTL_PROGRAM_ENGINE_MS / 1000);
	/* The analyzers do not know that errno is positive. */
	if (ret < 0 || !*output || !said)
		return vqp_error_set(error, ret, "cannot ask %s: %s", argv[0], strerror(-ret));
	if (!ret && strlen(*output) == CTL_FILE_MAX_BYTES)
		ret = vqp_error_set(error, -EFBIG, "%s says more than %u bytes", argv[0], CTL_FILE_MAX_BYTES);
	else if (ret)
		ret = vqp_error_set(error, -EPROTO, "%s: %s", argv[0], reason(said));
	if (ret) {
		free(*output);
		*output = NULL;
	}
	return ret;
}
