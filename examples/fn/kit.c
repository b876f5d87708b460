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

#include "contract.h"

#define FN_MAX_BODY_BYTES	(1U << 20)

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

int fn_fail(const char *what, const char *why)
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

const char *fn_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result fn_answer(struct fn_server *server, struct MHD_Connection *connection,
				 const char *path, const struct fn_request *request)
{
	unsigned int status = MHD_HTTP_OK;
	enum MHD_Result result;
	json_error_t error;
	json_t *body, *reply;

	body = request->bytes ?
		json_loadb(request->body, request->bytes, JSON_DECODE_ANY, &error) : json_null();
	if (!body)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, error.text);
	reply = server->contract->answer(server, connection, path, body, &status);
	result = reply ? fn_reply(connection, status, reply) :
		fn_refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such path");
	json_decref(reply);
	json_decref(body);
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
	if (strcmp(method, "POST"))
		return fn_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only POST is served");
	if (request->too_large)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, "the body is too large");
	return fn_answer(server, connection, url, request);
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

static int fn_serve(const struct fn_contract *contract, fn_handler handle, void *self)
{
	struct fn_server server = { .contract = contract, .handle = handle, .self = self };
	struct sigaction stop = { .sa_handler = fn_stop };
	int fd = contract->listen(&server);
	struct MHD_Daemon *daemon;

	if (fd < 0)
		return EXIT_FAILURE;
	/* A container's first process gets only the signals that it has handlers for. */
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, fn_access, &server,
				  MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_NOTIFY_COMPLETED, fn_completed, NULL,
				  MHD_OPTION_END);
	if (!daemon) {
		fn_fail("MHD_start_daemon", strerror(errno));
		return EXIT_FAILURE;
	}
	if (!contract->announce(&server)) {
		while (!fn_stopped)
			MHD_run_wait(daemon, -1);
	}
	MHD_stop_daemon(daemon);
	contract->end(&server);
	return fn_stopped ? EXIT_SUCCESS : EXIT_FAILURE;
}

int fn_main(int argc, char **argv, fn_handler handle, void *self)
{
	if (argc == 1)
		return fn_serve(&fn_contract_fn, handle, self);
	if (argc == 2 && !strcmp(argv[1], "openwhisk"))
		return fn_serve(&fn_contract_openwhisk, handle, self);
	fprintf(stderr, "usage: %s [openwhisk]\n", argv[0]);
	return 2;
}
