// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "contract.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deadline.h"

#define FN_SOCKET_BACKLOG	16

/*
 * Fn itself has no limit unless FN_MAX_REQUEST_SIZE is set. This is the value that its system tests
 * set, and that OCI Functions, which are Fn, document.
 */
#define FN_MAX_BODY_BYTES	(6U << 20)

/*
 * The name in FN_LISTENER must not appear before its socket is bound, is listening and is open to
 * all users. So another name is bound, and announce(), which comes last, makes the name a link to
 * it. The link is relative, because the agent sees the directory under another path.
 */
static int fn_listen(struct fn_server *server)
{
	const char *format = getenv("FN_FORMAT");
	const char *listener = getenv("FN_LISTENER");
	struct sockaddr_un *address = &server->address;
	const char *name;
	int fd;

	if (format && strcmp(format, "http-stream"))
		return fn_fail("FN_FORMAT is not http-stream", format);
	if (!listener || strncmp(listener, "unix:/", strlen("unix:/")))
		return fn_fail("FN_LISTENER is not unix:/PATH", listener ? listener : "unset");
	listener += strlen("unix:");
	name = strrchr(listener, '/') + 1;
	if (strlen(listener) + strlen("phony") >= sizeof(address->sun_path))
		return fn_fail("FN_LISTENER is too long", listener);

	strcpy(server->link, listener);
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), "%.*sphony%s",
		 (int)(name - listener), listener, name);
	unlink(server->link);
	unlink(address->sun_path);

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fn_fail("socket", strerror(errno));
	if (bind(fd, (struct sockaddr *)address, sizeof(*address)) ||
	    chmod(address->sun_path, 0666) || listen(fd, FN_SOCKET_BACKLOG)) {
		int error = errno;

		close(fd);
		return fn_fail(address->sun_path, strerror(error));
	}
	return fd;
}

static int fn_announce(const struct fn_server *server)
{
	const char *target = strrchr(server->address.sun_path, '/') + 1;

	return symlink(target, server->link) ? fn_fail(server->link, strerror(errno)) : 0;
}

static void fn_end(const struct fn_server *server)
{
	unlink(server->link);
	unlink(server->address.sun_path);
}

static json_t *fn_call_answer(struct fn_server *server, struct MHD_Connection *connection, const char *path,
			      const json_t *body, unsigned int *status)
{
	const char *id = fn_header(connection, "Fn-Call-Id");
	struct fn_call call = {
		.id = id ? id : "",
		.deadline = fn_deadline_parse(fn_header(connection, "Fn-Deadline")),
		.input = body,
	};
	json_t *answer;

	if (strcmp(path, "/call"))
		return NULL;
	answer = server->handle(server->self, &call);
	if (json_object_get(answer, "error"))
		*status = MHD_HTTP_BAD_GATEWAY;
	return answer;
}

const struct fn_contract fn_contract_fn = {
	.max_body_bytes = FN_MAX_BODY_BYTES,
	/* Fn's agent ends a container that answers with another status than 200, 502 or 504. */
	.too_large = MHD_HTTP_BAD_GATEWAY,
	.listen = fn_listen,
	.announce = fn_announce,
	.end = fn_end,
	.answer = fn_call_answer,
};
