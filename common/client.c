/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "io.h"

#define RETRY_MS	20	/* between attempts to connect */

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Is this what connect() says while nobody listens? */
static bool is_nobody(int err)
{
	return err == ENOENT || err == ECONNREFUSED;
}

/* Has the next send(), or the next connect() when the backlog is full, wait for the time that is left. */
static void bound_wait(int fd, long long deadline)
{
	const long long left = deadline - now_ms(), limit = left > 0 ? left : 1;
	const struct timeval timeout = { .tv_sec = limit / 1000, .tv_usec = limit % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

/* Connects a new socket once. Returns it, or a negative errno value. */
static int try_to_connect(const struct sockaddr_un *addr, long long deadline)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	do {	/* A Unix socket that a signal interrupts is not connecting any more. */
		bound_wait(fd, deadline);
		ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno : 0;
	} while (ret == -EINTR);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/*
 * Connects to vqpd. While nobody listens, vqpd may be starting: the node has just booted, or vqpd
 * ended and is started anew.
 */
static int open_socket(const char *path, long long deadline, int start_ms, struct vqp_error *error)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	long long give_up = now_ms() + start_ms;
	int ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return vqp_error_set(error, -ENAMETOOLONG, "%s: a socket path has at most %zu bytes",
				     path, sizeof(addr.sun_path) - 1);
	strcpy(addr.sun_path, path);
	while ((ret = try_to_connect(&addr, deadline)) < 0 && is_nobody(-ret) && now_ms() < give_up)
		poll(NULL, 0, RETRY_MS);
	if (ret >= 0)
		return ret;

	switch (-ret) {
	case ENOENT:
	case ECONNREFUSED:
		return vqp_error_set(error, ret, "vqpd is not running: systemctl start vqpd (socket %s)", path);
	case EACCES:
	case EPERM:
		return vqp_error_set(error, ret, "no right to ask vqpd (socket %s): run as root", path);
	case EAGAIN:
		return vqp_error_set(error, -ETIMEDOUT, "vqpd takes no connection within %d s (socket %s): see its log",
				     VQPD_TIMEOUT_MS / 1000, path);
	default:
		return vqp_error_set(error, ret, "cannot connect to vqpd (socket %s): %s", path, strerror(-ret));
	}
}

/* Sends the request; the descriptor goes with its first bytes. */
static int send_line(int fd, const json_t *request, int netns_fd, long long deadline, struct vqp_error *error)
{
	char *line = json_dumps(request, JSON_COMPACT);
	size_t bytes, done = 0;
	int ret = 0;

	if (!line)
		return vqp_error_set(error, -EINVAL, "the request to vqpd is no JSON object");
	bytes = strlen(line);
	line[bytes++] = '\n';	/* replaces the NUL */
	while (done < bytes && !ret) {
		ssize_t n;

		bound_wait(fd, deadline);
		n = vqp_io_send(fd, line + done, bytes - done, done ? -1 : netns_fd);
		if (n >= 0)
			done += n;
		else if (errno == EAGAIN)
			ret = vqp_error_set(error, -ETIMEDOUT, "vqpd does not take the request: see its log");
		else if (errno != EINTR)
			ret = vqp_error_set(error, -errno, "cannot send to vqpd: %s", strerror(errno));
	}
	free(line);
	return ret;
}

/* Reads a line. *line has no newline, ends in a NUL, and is the caller's to free also on failure. */
static int receive_line(int fd, long long deadline, char **line, struct vqp_error *error)
{
	size_t bytes = 0, room = 0;

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		long long left = deadline - now_ms();
		char *newline;
		ssize_t n;

		if (bytes + 1 >= room) {
			char *grown;

			room = room ? room * 2 : 4096;
			if (room > VQPD_REPLY_MAX)
				return vqp_error_set(error, -EPROTO, "vqpd's answer is longer than %u bytes", VQPD_REPLY_MAX);
			grown = realloc(*line, room);
			if (!grown)
				return vqp_error_set(error, -ENOMEM, "out of memory");
			*line = grown;
		}
		if (left <= 0 || poll(&pfd, 1, left) == 0)
			return vqp_error_set(error, -ETIMEDOUT, "vqpd did not answer within %d s: see its log",
					     VQPD_TIMEOUT_MS / 1000);
		n = recv(fd, *line + bytes, room - bytes - 1, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return vqp_error_set(error, -errno, "cannot read vqpd's answer: %s", strerror(errno));
		if (n == 0)
			return vqp_error_set(error, -EPROTO, "vqpd closed the connection without an answer: see its log");
		newline = memchr(*line + bytes, '\n', n);
		bytes += n;
		if (newline) {
			*newline = '\0';
			return 0;
		}
	}
}

/* Parses an answer. 0, or a positive errno value, as vqpd_call() returns for an answer. */
static int parse_reply(const char *line, json_t **reply, struct vqp_error *error)
{
	json_t *answer = json_loads(line, 0, NULL);
	const char *name = NULL, *text = NULL;
	int ok = 0, ret;

	if (!answer || json_unpack(answer, "{s:b, s?s, s?s}", "ok", &ok, "errno", &name, "error", &text))
		ret = vqp_error_set(error, EPROTO, "vqpd's answer makes no sense (is it of another version?): %.200s", line);
	else if (!ok)
		ret = vqp_error_set(error, vqp_error_by_name(name), "%s", text ? text : "vqpd refused without a reason");
	else
		ret = 0;

	if (ret)
		json_decref(answer);
	else
		*reply = answer;
	return ret;
}

/*
 * A container's start depends on an add, and on the policy that may be asked before. Neither does
 * anything else if it is carried out twice.
 */
static bool is_of_start(const char *op)
{
	return op && (!strcmp(op, "add") || !strcmp(op, "policy"));
}

/* Has vqpd ended before it answered, by what call_once() has returned? */
static bool has_ended(int ret)
{
	return ret == -EPIPE || ret == -ECONNRESET || ret == -EPROTO;
}

/* Returns as vqpd_call() does, and gives vqpd `start_ms` to be there. */
static int call_once(const char *path, const json_t *request, int netns_fd, long long deadline, int start_ms,
		     json_t **reply, struct vqp_error *error)
{
	char *line = NULL;
	int fd, ret;

	fd = open_socket(path, deadline, start_ms, error);
	if (fd < 0)
		return fd;
	ret = send_line(fd, request, netns_fd, deadline, error);
	if (!ret)
		ret = receive_line(fd, deadline, &line, error);
	if (!ret)
		ret = parse_reply(line, reply, error);
	free(line);
	close(fd);
	return ret;
}

int vqpd_call(const char *socket_path, const json_t *request, int netns_fd, json_t **reply, struct vqp_error *error)
{
	const bool starts = is_of_start(json_string_value(json_object_get(request, "op")));
	const int start_ms = starts ? VQPD_START_ADD_MS : VQPD_START_MS;
	const char *path = socket_path ? socket_path : VQPD_SOCKET_PATH;
	const long long deadline = now_ms() + VQPD_TIMEOUT_MS;
	int ret;

	*reply = NULL;
	while (has_ended(ret = call_once(path, request, netns_fd, deadline, start_ms, reply, error)) && starts &&
	       now_ms() < deadline) {
		vqp_error_clear(error);
		poll(NULL, 0, RETRY_MS);
	}
	return ret;
}

bool vqpd_is_away(int ret)
{
	switch (ret) {
	case -ENOENT:		/* vqpd is not running, */
	case -ECONNREFUSED:
	case -ETIMEDOUT:	/* is busy, */
	case -EPIPE:		/* or has ended. */
	case -ECONNRESET:
	case -EPROTO:
		return true;
	default:
		return false;
	}
}
