// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "kit.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "deadline.h"

#define FN_MAX_BODY_BYTES	(1U << 20)
#define FN_SOCKET_BACKLOG	16

struct fn_server {
	fn_handler handle;
	void *self;
	struct sockaddr_un address;	/* what we bind: the phony socket */
	char link[sizeof(((struct sockaddr_un *)0)->sun_path)];	/* what Fn waits for */
	int fd;
};

struct fn_request {
	char *body;
	size_t bytes;
	bool too_large;
};

static volatile sig_atomic_t fn_stopped;

static void fn_stop(int signal_number)
{
	(void)signal_number;
	fn_stopped = 1;
}

static int fn_fail(const char *what, const char *why)
{
	fprintf(stderr, "fn: %s: %s\n", what, why);
	return -1;
}

json_t *fn_error(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return json_pack("{s:s}", "error", text);
}

int fn_call_remaining_ms(const struct fn_call *call, int otherwise)
{
	time_t left;

	if (!call->deadline)
		return otherwise;
	left = call->deadline - time(NULL);
	if (left <= 0)
		return 0;
	return left > 3600 ? 3600 * 1000 : (int)left * 1000;
}

/*
 * Fn wants to see the name in FN_LISTENER appear only once the socket behind
 * it is bound, listening and open to everybody: so another name is bound, and
 * the awaited one becomes a relative link to it (the agent sees the directory
 * under another path). Linking is left to the caller, who links last.
 */
static int fn_server_bind(struct fn_server *server)
{
	const char *format = getenv("FN_FORMAT");
	const char *listener = getenv("FN_LISTENER");
	struct sockaddr_un *address = &server->address;
	const char *name;

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

	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0)
		return fn_fail("socket", strerror(errno));
	if (bind(server->fd, (struct sockaddr *)address, sizeof(*address)) ||
	    chmod(address->sun_path, 0666) ||
	    listen(server->fd, FN_SOCKET_BACKLOG))
		return fn_fail(address->sun_path, strerror(errno));
	return 0;
}

static int fn_server_announce(const struct fn_server *server)
{
	const char *target = strrchr(server->address.sun_path, '/') + 1;

	if (symlink(target, server->link))
		return fn_fail(server->link, strerror(errno));
	return 0;
}

static enum MHD_Result fn_reply(struct MHD_Connection *connection, unsigned int status,
				const json_t *reply)
{
	char *text = json_dumps(reply, JSON_COMPACT | JSON_ENCODE_ANY);
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!text)
		return MHD_NO;
	response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type", "application/json");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result fn_refuse(struct MHD_Connection *connection, unsigned int status,
				 const char *why)
{
	json_t *reply = fn_error("%s", why);
	enum MHD_Result result = fn_reply(connection, status, reply);

	json_decref(reply);
	return result;
}

static const char *fn_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result fn_answer(struct fn_server *server, struct MHD_Connection *connection,
				 const struct fn_request *request)
{
	const char *id = fn_header(connection, "Fn-Call-Id");
	struct fn_call call = {
		.id = id ? id : "",
		.deadline = fn_deadline_parse(fn_header(connection, "Fn-Deadline")),
	};
	enum MHD_Result result;
	json_error_t error;
	json_t *input, *reply;

	input = request->bytes ?
		json_loadb(request->body, request->bytes, JSON_DECODE_ANY, &error) : json_null();
	if (!input)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, error.text);
	call.input = input;
	reply = server->handle(server->self, &call);
	result = fn_reply(connection, json_object_get(reply, "error") ?
			  MHD_HTTP_BAD_GATEWAY : MHD_HTTP_OK, reply);
	json_decref(reply);
	json_decref(input);
	return result;
}

static void fn_request_append(struct fn_request *request, const char *data, size_t bytes)
{
	char *body;

	if (request->too_large || request->bytes + bytes > FN_MAX_BODY_BYTES) {
		request->too_large = true;
		return;
	}
	body = realloc(request->body, request->bytes + bytes);
	if (!body) {
		request->too_large = true;
		return;
	}
	memcpy(body + request->bytes, data, bytes);
	request->body = body;
	request->bytes += bytes;
}

static enum MHD_Result fn_access(void *arg, struct MHD_Connection *connection, const char *url,
				 const char *method, const char *version, const char *data,
				 size_t *data_bytes, void **state)
{
	struct fn_server *server = arg;
	struct fn_request *request = *state;

	(void)version;
	if (!request) {
		*state = calloc(1, sizeof(*request));
		return *state ? MHD_YES : MHD_NO;
	}
	if (*data_bytes) {
		fn_request_append(request, data, *data_bytes);
		*data_bytes = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/call"))
		return fn_refuse(connection, MHD_HTTP_NOT_FOUND, "only /call is served");
	if (strcmp(method, "POST"))
		return fn_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only POST is served");
	if (request->too_large)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, "the body is too large");
	return fn_answer(server, connection, request);
}

static void fn_completed(void *arg, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct fn_request *request = *state;

	(void)arg;
	(void)connection;
	(void)code;
	if (!request)
		return;
	free(request->body);
	free(request);
	*state = NULL;
}

int fn_serve(fn_handler handle, void *self)
{
	struct fn_server server = { .handle = handle, .self = self, .fd = -1 };
	struct sigaction stop = { .sa_handler = fn_stop };
	struct MHD_Daemon *daemon;

	if (fn_server_bind(&server))
		return EXIT_FAILURE;
	/* A container's first process gets only those signals it asks for. */
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, fn_access, &server,
				  MHD_OPTION_LISTEN_SOCKET, server.fd,
				  MHD_OPTION_NOTIFY_COMPLETED, fn_completed, NULL,
				  MHD_OPTION_END);
	if (!daemon) {
		fn_fail("MHD_start_daemon", strerror(errno));
		return EXIT_FAILURE;
	}
	if (!fn_server_announce(&server)) {
		while (!fn_stopped)
			MHD_run_wait(daemon, -1);
	}
	MHD_stop_daemon(daemon);
	unlink(server.link);
	unlink(server.address.sun_path);
	return fn_stopped ? EXIT_SUCCESS : EXIT_FAILURE;
}
