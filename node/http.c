/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "server.h"

#define CONNECTIONS_MAX	32
#define TIMEOUT_S	10

void vqp_http_describe(FILE *out, const char *name, const char *type, const char *what)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, what, name, type);
}

void vqp_http_number(FILE *out, const char *name, const char *type, const char *what, int64_t number)
{
	vqp_http_describe(out, name, type, what);
	fprintf(out, "%s %" PRId64 "\n", name, number);
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned int status, char *text, size_t bytes)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result serve(void *data, struct MHD_Connection *connection, const char *url, const char *method,
			     const char *version, const char *upload, size_t *upload_bytes, void **state)
{
	const struct vqp_http *http = data;
	unsigned int status = MHD_HTTP_OK;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)version, (void)upload, (void)upload_bytes, (void)state;
	if (!out)
		return MHD_NO;
	/* For HEAD the library leaves the text out. */
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		fputs("GET and HEAD only\n", out);
	} else if (!strcmp(url, "/metrics")) {
		http->metrics(http->owner, out);
	} else if (!strcmp(url, "/healthz")) {
		fputs("ok\n", out);
	} else {
		status = MHD_HTTP_NOT_FOUND;
		fprintf(out, "metrics are at /metrics, and whether %s serves at /healthz\n", program_invocation_short_name);
	}
	if (fclose(out)) {
		free(text);
		return MHD_NO;
	}
	return respond(connection, status, text, bytes);
}

static void ready(struct vqp_watch *watch, uint32_t events)
{
	struct vqp_http *http = (struct vqp_http *)((char *)watch - offsetof(struct vqp_http, watch));

	(void)events;
	MHD_run(http->daemon);
}

int vqp_http_start(struct vqp_http *http, struct vqp_loop *loop, const char *addr, const char *default_port)
{
	int fd = vqp_server_bind_tcp(addr, default_port, true);

	if (fd < 0)
		return fd;
	if (listen(fd, SOMAXCONN)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	errno = 0;
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, serve, http, MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
					MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_END);
	if (!http->daemon)
		return errno ? -errno : -EIO;	/* The daemon ends, and the socket with it. */
	http->loop = loop;
	http->watch.fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	http->watch.ready = ready;
	return vqp_loop_add(loop, &http->watch, EPOLLIN);
}

void vqp_http_tick(struct vqp_http *http)
{
	if (http->daemon)
		MHD_run(http->daemon);
}

void vqp_http_stop(struct vqp_http *http)
{
	if (!http->daemon)
		return;
	vqp_loop_remove(http->loop, &http->watch);
	MHD_stop_daemon(http->daemon);
}
