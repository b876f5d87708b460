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
#define ANSWER_S	20	/* longer than a call of vqpd may take */
#define PAUSE_MS	200	/* A failure delays the next answer: processes in the container may ask at will. */

/* The new process's end of the pipe by which it tells the old one that it stays. */
static int stays_fd = -1;

/*
 * Ends the old process, so that the runtime goes on: the new one has ended, or has said that it
 * stays.
 */
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
	/* Signals to the runtime's process group or session must not reach the attendant. */
	setsid();
	/* Hooks run in the bundle, which may be unmounted while the process stays. */
	return chdir("/") ? vqp_error_set(error, -errno, "cannot leave the bundle: %s", strerror(errno)) : 0;
}

/*
 * The socket has an abstract name, which belongs to the network namespace, and so needs no file
 * that both mount namespaces have. The name contains the container's id, because containers may
 * share a network namespace.
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
 * Runtimes wait until no process has a hook's outputs open. Closes them, and opens a file that
 * cannot be written to under their numbers, so that nothing else gets these. The filter of system
 * calls has neither dup2() nor files to write, but open() returns the lowest free number.
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

/*
 * Answers one request of the container: by an empty answer if the work is done, or by what failed.
 * Returns true if the work is done.
 */
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

		/* The container may have ended meanwhile. */
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
		/* Pause, but not beyond the end of the container. */
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

/* Reads the attendant's answer until the attendant closes the connection. */
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
