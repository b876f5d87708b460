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
#include <strings.h>

#include "body.h"
#include "contract.h"

/*
 * The memory that a connection may have for the headers of a request. By default Fn takes 1 MiB of
 * headers (FN_MAX_REQUEST_HEADER_SIZE, http.DefaultMaxHeaderBytes) and passes them on, each with
 * "Fn-Http-H-" before its name; libmicrohttpd needs room for its own table of them besides.
 */
#define FN_CONNECTION_BYTES	(4U << 20)

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
				 const char *path, const struct fn_body *text)
{
	unsigned int status = MHD_HTTP_OK;
	enum MHD_Result result;
	json_error_t error;
	json_t *body, *reply;

	body = text->bytes ? json_loadb(text->data, text->bytes, JSON_DECODE_ANY, &error) :
		json_null();
	if (!body)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, error.text);
	reply = server->contract->answer(server, connection, path, body, &status);
	result = reply ? fn_reply(connection, status, reply) :
		fn_refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such path");
	json_decref(reply);
	json_decref(body);
	return result;
}

static enum MHD_Result fn_refuse_too_large(const struct fn_server *server,
					   struct MHD_Connection *connection)
{
	char why[64];

	snprintf(why, sizeof(why), "the body is too large: more than %zu bytes",
		 server->contract->max_body_bytes);
	return fn_refuse(connection, server->contract->too_large, why);
}

/*
 * A client that waits for "100 Continue" is refused before it sends a body that is too large. One
 * that does not wait is refused when it has sent the body, because it may not look at an answer
 * before.
 */
static bool fn_can_refuse_at_once(const struct fn_server *server, struct MHD_Connection *connection)
{
	const char *expect = fn_header(connection, "Expect");
	const char *bytes = fn_header(connection, "Content-Length");

	return expect && !strcasecmp(expect, "100-continue") && bytes &&
		strtoull(bytes, NULL, 10) > server->contract->max_body_bytes;
}

/* A request whose headers alone have come. */
static enum MHD_Result fn_begin(const struct fn_server *server, struct MHD_Connection *connection,
				void **state)
{
	struct fn_body *body = calloc(1, sizeof(*body));

	if (!body)
		return MHD_NO;
	body->max_bytes = server->contract->max_body_bytes;
	*state = body;
	return fn_can_refuse_at_once(server, connection) ?
		fn_refuse_too_large(server, connection) : MHD_YES;
}

static enum MHD_Result fn_access(void *arg, struct MHD_Connection *connection, const char *url,
				 const char *method, const char *version, const char *data,
				 size_t *data_bytes, void **state)
{
	struct fn_server *server = arg;
	struct fn_body *body = *state;

	(void)version;
	if (!body)
		return fn_begin(server, connection, state);
	if (*data_bytes) {
		fn_body_append(body, data, *data_bytes);
		*data_bytes = 0;
		return MHD_YES;
	}
	if (strcmp(method, "POST"))
		return fn_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only POST is served");
	if (body->error == E2BIG)
		return fn_refuse_too_large(server, connection);
	if (body->error)
		return fn_refuse(connection, MHD_HTTP_BAD_GATEWAY, "no memory for the body");
	return fn_answer(server, connection, url, body);
}

static void fn_completed(void *arg, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct fn_body *body = *state;

	(void)arg;
	(void)connection;
	(void)code;
	if (!body)
		return;
	fn_body_free(body);
	free(body);
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
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)FN_CONNECTION_BYTES,
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
