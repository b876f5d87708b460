/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../line.h"
#include "../reply.h"
#include "ask.h"

#define TIMEOUT_MS	5000

/* Connects a socket, *fd. 0, or a negative errno value with *error set. */
static int connect_to(const char *server, int *fd, struct vqp_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	struct timeval timeout = { .tv_sec = TIMEOUT_MS / 1000 };	/* of connect(), too */
	cleanup_free char *host = NULL, *port = NULL;
	int err = EHOSTUNREACH;

	if (vqp_address_split(server, VQP_METAD_PORT, &host, &port) || !host)
		return vqp_error_set(error, -EINVAL, "a meta server is HOST[:PORT], not '%s'", server);
	if (getaddrinfo(host, port, &hints, &list))
		return vqp_error_set(error, -EHOSTUNREACH, "%s: no such host", server);
	for (const struct addrinfo *to = list; to && *fd < 0; to = to->ai_next) {
		*fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (*fd < 0)
			continue;
		setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		if (!connect(*fd, to->ai_addr, to->ai_addrlen))
			continue;
		err = errno == EINPROGRESS ? ETIMEDOUT : errno;
		close(*fd);
		*fd = -1;
	}
	freeaddrinfo(list);
	if (*fd >= 0)
		fcntl(*fd, F_SETFL, O_NONBLOCK);
	if (*fd < 0)
		return vqp_error_set(error, -err, "meta server %s: %s: is vqp-metad running there?", server, strerror(err));
	return 0;
}

static const char *reason(int err)
{
	return err == -EKEYREJECTED ? VQP_TLS_KEY_REJECTED : strerror(-err);
}

int vqp_metad_ask(const char *server, const char *op, const struct vqp_tls_key *key, json_t **answer,
		  struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s}", "op", op);
	struct vqp_line line;
	int fd = -1, ret = connect_to(server, &fd, error);

	*answer = NULL;
	if (ret)
		return ret;
	vqp_line_init(&line, fd, VQP_LINE_REPLY_MAX);
	ret = vqp_line_secure(&line, key, false);
	if (!ret)
		ret = vqp_line_call(&line, request, answer, TIMEOUT_MS);
	vqp_line_exit(&line);
	if (ret)
		return vqp_error_set(error, ret, "meta server %s: %s", server, reason(ret));
	if (!vqp_reply_text(*answer))
		return 0;
	vqp_error_set(error, -EPROTO, "meta server %s: %s", server, vqp_reply_text(*answer));
	json_decref(*answer);
	*answer = NULL;
	return -EPROTO;
}
