// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What vqpd may answer to its clients, in pieces: the last byte says how large they are. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/client.h"
#include "json.h"

const char *const fuzz_words[] = {
	"ok", "errno", "error", "EEXIST", "EADDRINUSE", "EPROTO", "ENOENT", "gid", "tenant", "published", "", NULL,
};

static struct fuzz answer;
static uint8_t piece;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t room, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return dup(STDERR_FILENO);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	(void)fd;
	(void)to;
	(void)bytes;
	return 0;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	const char *data = message->msg_iov->iov_base;
	const size_t bytes = message->msg_iov->iov_len;

	(void)fd;
	(void)flags;
	fuzz_check(message->msg_iovlen == 1 && !message->msg_control);
	fuzz_check(memchr(data, '\n', bytes) == data + bytes - 1);
	return bytes;
}

ssize_t __wrap_recv(int fd, void *data, size_t room, int flags)
{
	size_t bytes = 1 + piece % 64;

	(void)fd;
	(void)flags;
	fuzz_check(room);
	if (piece > 200)
		bytes = answer.left;
	if (bytes > answer.left)
		bytes = answer.left;
	if (bytes > room)
		bytes = room;
	memcpy(data, answer.at, bytes);
	answer.at += bytes;
	answer.left -= bytes;
	return bytes;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	fuzz_check(n == 1 && timeout_ms > 0);
	fds->revents = POLLIN;
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	json_t *request = json_pack("{s:s}", "op", "status"), *reply;
	struct vqp_error error = { 0 };
	int ret;

	answer = (struct fuzz){ data, bytes };
	piece = bytes ? data[bytes - 1] : 0;
	ret = vqpd_call("/vqpd.sock", request, -1, &reply, &error);
	fuzz_check((ret == 0) == (reply != NULL));
	fuzz_check((ret != 0) == (error.text != NULL));
	fuzz_check(!reply || json_is_true(json_object_get(reply, "ok")));
	vqp_error_clear(&error);
	json_decref(reply);
	json_decref(request);
	return 0;
}
