// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "attendant.h"

#define ANSWER_MAX	1024
#define ANSWER_S	20	/* longer than a call of vqpd */
#define PAUSE_MS	200	/* after a failure: whoever is in the network namespace may ask again and again */

/* The new process's end of the pipe on which this process's parent waits for the word that it stays. */
static int stays_fd = -1;

/* The new process has ended, or has said that it stays: the runtime may go on. */
static void end_with(pid_t child, int said)
{
	char stays;
	int status;

	if (read(said, &stays, sizeof(stays)) == sizeof(stays))
		_exit(0);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			_exit(1);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int vqp_attendant_begin(struct vqp_error *error)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return vqp_error_set(error, -errno, "cannot make a pipe: %s", strerror(errno));
	child = fork();
	if (child < 0) {
		const int err = errno;

		close(ends[0]);
		close(ends[1]);
		return vqp_error_set(error, -err, "cannot make a process: %s", strerror(err));
	}
	if (child) {
		close(ends[1]);
		end_with(child, ends[0]);
	}
	close(ends[0]);
	stays_fd = ends[1];
	/* A signal to the runtime's process group, or session, is not for the container. */
	setsid();
	/* Hooks are run in the bundle, which may be unmounted while the process stays. */
	return chdir("/") ? vqp_error_set(error, -errno, "cannot leave the bundle: %s", strerror(errno)) : 0;
}

/*
 * An abstract name: it is one of the network namespace, and needs no file that both mount namespaces have. Of the
 * containers that share one each has its own.
 */
static socklen_t name_of(const char *id, struct sockaddr_un *name)
{
	int bytes;

	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	bytes = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "vqp-hook/%s", id);
	if ((size_t)bytes > sizeof(name->sun_path) - 2)
		bytes = sizeof(name->sun_path) - 2;
	return offsetof(struct sockaddr_un, sun_path) + 1 + bytes;
}

static int listen_for(const char *id, int fd)
{
	struct sockaddr_un name;
	socklen_t bytes = name_of(id, &name);

	return bind(fd, (struct sockaddr *)&name, bytes) || listen(fd, 8) ? -errno : 0;
}

/*
 * Runtimes wait until nobody has a hook's outputs any more. Nothing else may be opened in their place. The filter of
 * system calls has neither dup2() nor files to write: the lowest free number is the next file's, and what is written
 * to it fails.
 */
static void stay(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		close(fd);
		if (open("/dev/null", O_RDONLY) != fd)
			_exit(1);
	}
	if (write(stays_fd, "", 1) != 1)
		_exit(1);
	close(stays_fd);
	stays_fd = -1;
}

/* True: the work is done. The container that asked is told so by an empty answer, or reads what failed. */
static bool answer(const struct vqp_attendant *attendant, int listener)
{
	cleanup_close int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	cleanup_error struct vqp_error error = { 0 };
	int ret;

	if (fd < 0)
		return false;
	ret = attendant->make(attendant->context, &error);
	if (ret) {
		const char *text = vqp_error_text(&error);

		/* The other side may have gone. */
		sendto(fd, text, strnlen(text, ANSWER_MAX - 1), MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	}
	return !ret;
}

static void serve(const struct vqp_attendant *attendant, int listener, int container)
{
	struct pollfd events[] = {
		{ .fd = container, .events = POLLIN },
		{ .fd = listener, .events = POLLIN },
	};

	for (;;) {
		if (poll(events, 2, -1) < 0 && errno != EINTR)
			return;
		if (events[0].revents)
			return;
		if (!events[1].revents)
			continue;
		if (answer(attendant, listener))
			return;
		/* Pause, or until the container ends. */
		poll(events, 1, PAUSE_MS);
	}
}

int vqp_attendant_stay(const struct vqp_attendant *attendant, struct vqp_error *error)
{
	cleanup_close int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int container = pidfd_open(attendant->pid, 0);
	int ret;

	if (listener < 0 || container < 0)
		return vqp_error_set(error, -errno, "cannot wait for the container's start: %s", strerror(errno));
	ret = listen_for(attendant->id, listener);
	if (ret)
		return vqp_error_set(error, ret, "cannot wait for the container's start: %s", strerror(-ret));
	stay();
	serve(attendant, listener, container);
	return 0;
}

/* What it says until it hangs up. */
static int read_answer(int fd, char text[ANSWER_MAX])
{
	ssize_t bytes = recv(fd, text, ANSWER_MAX - 1, MSG_WAITALL);

	if (bytes < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	text[bytes] = '\0';
	return 0;
}

int vqp_attendant_ask(const char *id, struct vqp_error *error)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct timeval patience = { .tv_sec = ANSWER_S };
	char text[ANSWER_MAX] = "";
	struct sockaddr_un name;
	socklen_t bytes = name_of(id, &name);
	int ret;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (struct sockaddr *)&name, bytes))
		return vqp_error_set(error, -errno, "cannot reach the container's attendant: %s", strerror(errno));
	ret = read_answer(fd, text);
	if (ret)
		return vqp_error_set(error, ret, "the container's attendant does not answer: %s", strerror(-ret));
	return *text ? vqp_error_set(error, -EIO, "%s", text) : 0;
}
