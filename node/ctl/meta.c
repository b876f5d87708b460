/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl meta. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../line.h"
#include "../reply.h"
#include "ctl.h"

#define DEFAULT_PORT	"7471"
#define TIMEOUT_MS	5000

int ctl_meta_list(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "node_gid", "NODE" }, { "epoch", "EPOCH" }, { "lanes", "LANES" }, { "key", "KEY" },
		{ "addr", "ADDRESS" }, { "buckets", "BUCKETS" }, { 0 },
	};
	json_t *list;
	int ret = ctl_dump(args, VQP_CMD_META_GET, &list);

	return ret ? ret : ctl_print_table(args, list, columns);
}

/* Connects a socket, *fd. 0, or a negative errno value with *error set. */
static int connect_to(const char *server, int *fd, struct vqp_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	struct timeval timeout = { .tv_sec = TIMEOUT_MS / 1000 };	/* of connect(), too */
	cleanup_free char *host = NULL, *port = NULL;
	int err = EHOSTUNREACH;

	if (vqp_address_split(server, DEFAULT_PORT, &host, &port) || !host)
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
	if (*fd < 0)
		return vqp_error_set(error, -err, "meta server %s: %s: is vqp-metad running there?", server, strerror(err));
	return 0;
}

int ctl_meta_ask(const char *server, const char *op, json_t **answer, struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s}", "op", op);
	struct vqp_line line;
	int fd = -1, ret = connect_to(server, &fd, error);

	*answer = NULL;
	if (ret)
		return ret;
	vqp_line_init(&line, fd, VQP_LINE_REPLY_MAX);
	ret = vqp_line_call(&line, request, answer, TIMEOUT_MS);
	vqp_line_exit(&line);
	if (ret)
		return vqp_error_set(error, ret, "meta server %s: %s", server, strerror(-ret));
	if (vqp_reply_text(*answer)) {
		vqp_error_set(error, -EPROTO, "meta server %s: %s", server, vqp_reply_text(*answer));
		json_decref(*answer);
		*answer = NULL;
		return -EPROTO;
	}
	json_object_del(*answer, "ok");
	return 0;
}

int ctl_meta_set(const struct ctl_args *args)
{
	json_t *tables = json_array();
	json_auto_t *request = json_pack("{s:o}", "meta", tables);
	int ret = 0;

	for (int i = 0; i < args->nwords && !ret; i++) {
		cleanup_error struct vqp_error error = { 0 };
		json_t *info;

		ret = ctl_meta_ask(args->words[i], "hello", &info, &error);
		if (ret)
			ret = ctl_fail(args, ret, "%s", vqp_error_text(&error));
		else
			json_array_append_new(tables, info);
	}
	if (!ret)
		ret = ctl_do(args, VQP_CMD_META_SET, request, NULL);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_incref(request));
}
