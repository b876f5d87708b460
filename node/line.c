/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/netns.h"
#include "line.h"
#include "loop.h"

#define FILL_BYTES 4096
#define NO_FD	(-ENOENT)

static void replace(int *fd, int new)
{
	if (*fd >= 0)
		close(*fd);
	*fd = new;
}

void vqp_line_init(struct vqp_line *line, int fd, size_t max)
{
	*line = (struct vqp_line){ .fd = fd, .max = max, .passed_fd = NO_FD, .line_fd = NO_FD };
}

int vqp_line_secure(struct vqp_line *line, const struct vqp_tls_key *key, bool is_server)
{
	if (key)
		line->tls = vqp_tls_begin(key, line->fd, is_server);
	return key && !line->tls ? -ENOMEM : 0;
}

void vqp_line_expose(struct vqp_line *line)
{
	vqp_tls_end(line->tls);
	line->tls = NULL;
}

void vqp_line_exit(struct vqp_line *line)
{
	vqp_line_expose(line);
	replace(&line->fd, -1);
	replace(&line->passed_fd, NO_FD);
	replace(&line->line_fd, NO_FD);
	free(line->in);
	free(line->out);
	*line = (struct vqp_line){ .fd = -1, .passed_fd = NO_FD, .line_fd = NO_FD };
}

/*
 * Returns the descriptor of a message; NO_FD if none came with it; -EMFILE if it could not be
 * received, or was one of several; -EINVAL if it is not of a network namespace. No other is kept:
 * the client's own end of the connection, say, would keep the end of the connection from showing.
 */
static int fd_of(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	bool came = header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS;
	int fd = NO_FD, ret = 0;

	if (came)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	if (message->msg_flags & MSG_CTRUNC)
		ret = -EMFILE;
	else if (came)
		ret = vqp_netns_check(fd);
	if (ret)
		replace(&fd, ret);
	return fd;
}

/*
 * Receives as recv() does, and the descriptor if one comes. -EPROTO if the line of an earlier one is
 * not complete.
 */
static ssize_t receive(struct vqp_line *line)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_LEN(sizeof(int))];	/* CMSG_SPACE() would have room for two. */
	} control;
	struct iovec data = { .iov_base = line->in + line->in_bytes, .iov_len = line->in_room - line->in_bytes };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(line->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd;

	if (n < 0)
		return -errno;
	fd = fd_of(&message);
	if (fd == NO_FD)
		return n;
	if (line->passed_fd != NO_FD) {
		replace(&fd, NO_FD);
		return -EPROTO;
	}
	line->passed_fd = fd;
	/* Nothing that was sent after the descriptor's own bytes is received with them. */
	line->passed_at = line->in_bytes + n - 1;
	return n;
}

static int make_room(struct vqp_line *line)
{
	size_t room = line->in_room * 2 + FILL_BYTES;
	char *grown;

	if (line->in_room - line->in_bytes >= FILL_BYTES)
		return 0;
	grown = realloc(line->in, room);
	if (!grown)
		return -ENOMEM;
	line->in = grown;
	line->in_room = room;
	return 0;
}

int vqp_line_fill(struct vqp_line *line)
{
	ssize_t n;

	do {
		int ret = make_room(line);

		if (ret)
			return ret;
		n = line->tls ? vqp_tls_recv(line->tls, line->in + line->in_bytes, line->in_room - line->in_bytes)
			      : receive(line);
		if (n < 0)
			return n == -EAGAIN || n == -EINTR ? 1 : n;
		line->in_bytes += n;
		/* No event tells of what remains of a record, which has at most 16 KiB. */
	} while (n && line->tls && vqp_tls_pending(line->tls));
	return n > 0;
}

/* Takes a line, or a part of one, and its descriptor off what has arrived. */
static void consume(struct vqp_line *line, size_t bytes)
{
	replace(&line->line_fd, NO_FD);
	if (line->passed_at < bytes) {
		line->line_fd = line->passed_fd;
		line->passed_fd = NO_FD;
	} else {
		line->passed_at -= bytes;
	}
	line->in_bytes -= bytes;
	memmove(line->in, line->in + bytes, line->in_bytes);
}

int vqp_line_next(struct vqp_line *line, json_t **object)
{
	char *newline = line->in_bytes ? memchr(line->in, '\n', line->in_bytes) : NULL;
	size_t bytes = newline ? (size_t)(newline - line->in) : line->in_bytes;
	bool skipped = line->skipping;

	if (skipped || bytes > line->max) {
		line->skipping = !newline;
		consume(line, newline ? bytes + 1 : bytes);
		replace(&line->line_fd, NO_FD);
		if (!skipped)
			return -EMSGSIZE;
		return newline ? vqp_line_next(line, object) : 0;
	}
	if (!newline)
		return 0;

	*object = json_loadb(line->in, bytes, JSON_REJECT_DUPLICATES, NULL);
	consume(line, bytes + 1);
	if (json_is_object(*object))
		return 1;
	json_decref(*object);
	*object = NULL;
	replace(&line->line_fd, NO_FD);
	return -EBADMSG;
}

int vqp_line_queue(struct vqp_line *line, const json_t *object)
{
	size_t unsent = line->out_bytes - line->out_done;
	size_t bytes = json_dumpb(object, NULL, 0, JSON_COMPACT);
	char *out = malloc(unsent + bytes + 1);

	if (!bytes || !out) {
		free(out);
		return -ENOMEM;
	}
	if (unsent)
		memcpy(out, line->out + line->out_done, unsent);
	json_dumpb(object, out + unsent, bytes, JSON_COMPACT);
	out[unsent + bytes] = '\n';
	free(line->out);
	line->out = out;
	line->out_bytes = unsent + bytes + 1;
	line->out_done = 0;
	return 0;
}

static ssize_t send_some(struct vqp_line *line, const char *data, size_t bytes)
{
	ssize_t n;

	if (line->tls)
		return vqp_tls_send(line->tls, data, bytes);
	do
		n = send(line->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int vqp_line_flush(struct vqp_line *line)
{
	while (vqp_line_unsent(line)) {
		ssize_t n = send_some(line, line->out + line->out_done, line->out_bytes - line->out_done);

		if (n < 0)
			return n == -EAGAIN ? 0 : n;
		line->out_done += n;
	}
	free(line->out);
	line->out = NULL;
	line->out_bytes = line->out_done = 0;
	return 0;
}

int vqp_line_call(struct vqp_line *line, const json_t *request, json_t **reply, int timeout_ms)
{
	uint64_t deadline = vqp_loop_now_ms() + timeout_ms;
	int ret = vqp_line_queue(line, request);

	while (!ret) {
		struct pollfd pfd = { .fd = line->fd, .events = POLLIN };
		int64_t left = deadline - vqp_loop_now_ms();

		ret = vqp_line_flush(line);
		if (ret)
			return ret;
		if (vqp_line_unsent(line))
			pfd.events |= POLLOUT;
		pfd.events = vqp_line_events(line, pfd.events);
		if (left <= 0 || poll(&pfd, 1, left) == 0)
			return -ETIMEDOUT;
		if (pfd.revents & ~POLLOUT) {
			int got = vqp_line_fill(line);

			if (got <= 0)
				return got ? got : -ECONNRESET;
			ret = vqp_line_next(line, reply);
		}
	}
	return ret > 0 ? 0 : ret;
}
