// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "contract.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WHISK_PORT	8080
#define WHISK_BACKLOG	16

/*
 * The longest body is that of /init, with the action's code, of which OpenWhisk allows 48 MiB
 * (whisk.exec-size-limit, and "codeSize" in its docs/reference.md). The code of a binary action is
 * in base64. Beside it are names, and parameters that become environment variables, of which 1 MiB
 * is allowed. A body of /run has 1 MiB of parameters, or as many as the operator has raised
 * whisk.activation.payload.max to. Both are bounded alike, as by OpenWhisk's runtime of nodejs.
 */
#define WHISK_MAX_CODE_BYTES	(48U << 20)
#define WHISK_MAX_OTHER_BYTES	(2U << 20)
#define WHISK_MAX_BODY_BYTES	(WHISK_MAX_CODE_BYTES / 3 * 4 + WHISK_MAX_OTHER_BYTES)

/* The line that ends the log of an activation, on both streams. */
static const char whisk_end_of_log[] = "XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX\n";

static int whisk_listen(struct fn_server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(WHISK_PORT) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)server;
	if (fd < 0)
		return fn_fail("socket", strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, WHISK_BACKLOG)) {
		int error = errno;

		close(fd);
		return fn_fail("port 8080", strerror(error));
	}
	return fd;
}

static int whisk_announce(const struct fn_server *server)
{
	(void)server;
	return 0;
}

static void whisk_end(const struct fn_server *server)
{
	(void)server;
}

static json_t *whisk_refuse(unsigned int *status, unsigned int refusal, const char *why)
{
	*status = refusal;
	return fn_error("%s", why);
}

/* Initializes the action. Its code is in the image, so that only its environment is new. */
static json_t *whisk_init(struct fn_server *server, const json_t *body, unsigned int *status)
{
	const json_t *value = json_object_get(body, "value");
	const char *name;
	json_t *setting;

	if (server->initialized)
		return whisk_refuse(status, MHD_HTTP_FORBIDDEN, "the action cannot be initialized twice");
	if (!json_is_object(value))
		return whisk_refuse(status, MHD_HTTP_BAD_REQUEST, "\"value\" must be an object");
	json_object_foreach(json_object_get(value, "env"), name, setting)
		if (json_is_string(setting))
			setenv(name, json_string_value(setting), 1);
	server->initialized = true;
	return json_pack("{s:b}", "ok", 1);
}

/* Parses a deadline in milliseconds, which is a text or a number. Returns 0 if there is none. */
static time_t whisk_deadline(const json_t *deadline)
{
	const char *text = json_string_value(deadline);

	return (text ? strtoll(text, NULL, 10) : json_integer_value(deadline)) / 1000;
}

static json_t *whisk_activate(struct fn_server *server, const struct fn_call *call)
{
	json_t *answer = server->handle(server->self, call);

	fputs(whisk_end_of_log, stdout);
	fflush(stdout);
	fputs(whisk_end_of_log, stderr);
	return answer;
}

static json_t *whisk_run(struct fn_server *server, const json_t *body, unsigned int *status)
{
	const char *id = json_string_value(json_object_get(body, "activation_id"));
	struct fn_call call = {
		.id = id ? id : "",
		.deadline = whisk_deadline(json_object_get(body, "deadline")),
		.input = json_object_get(body, "value"),
	};

	if (!server->initialized)
		return whisk_refuse(status, MHD_HTTP_FORBIDDEN, "the action has not been initialized");
	if (!json_is_object(call.input))
		return whisk_refuse(status, MHD_HTTP_BAD_REQUEST, "\"value\" must be an object");
	/* cppcheck-suppress returnDanglingLifetime ; an answer does not refer to the call */
	return whisk_activate(server, &call);
}

static json_t *whisk_answer(struct fn_server *server, struct MHD_Connection *connection, const char *path,
			    const json_t *body, unsigned int *status)
{
	(void)connection;
	if (!strcmp(path, "/init"))
		return whisk_init(server, body, status);
	if (!strcmp(path, "/run"))
		return whisk_run(server, body, status);
	return NULL;
}

const struct fn_contract fn_contract_openwhisk = {
	.max_body_bytes = WHISK_MAX_BODY_BYTES,
	.too_large = MHD_HTTP_CONTENT_TOO_LARGE,
	.listen = whisk_listen,
	.announce = whisk_announce,
	.end = whisk_end,
	.answer = whisk_answer,
};
