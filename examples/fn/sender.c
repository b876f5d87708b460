// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ServerlessBench TestCase5, first function: builds a payload and sends it to the second function,
 * with RDMA resources of its own.
 *
 * {"target": T, "bytes": n, "seed": s}, or {"target": T, "payload": text}, gives {"bytes": n,
 * "setup_ns": from opening the device to a registered payload, "connect_ns": queue pair and
 * connection, "push_ns": from the post to the remote acknowledgement}.
 */
#include <stdlib.h>

#include "kit.h"
#include "message.h"
#include "transport.h"
#include "worker.h"

#define SEND_TIMEOUT_MS		5000
#define CALL_TIMEOUT_MS		10000

static json_t *sender_push(const char *target, uint8_t *payload, size_t bytes)
{
	struct transport t;
	uint64_t start, opened, connected, pushed;
	json_t *answer;

	start = transport_now_ns();
	if (transport_open(&t, payload, bytes))
		goto fail;
	opened = transport_now_ns();
	if (transport_connect(&t, target))
		goto fail;
	connected = transport_now_ns();
	if (transport_send(&t, SEND_TIMEOUT_MS))
		goto fail;
	pushed = transport_now_ns();
	answer = json_pack("{s:I, s:I, s:I, s:I}", "bytes", (json_int_t)bytes,
			   "setup_ns", (json_int_t)(opened - start),
			   "connect_ns", (json_int_t)(connected - opened),
			   "push_ns", (json_int_t)(pushed - connected));
	transport_close(&t);
	return answer;
fail:
	answer = fn_error("%s", t.error);
	transport_close(&t);
	return answer;
}

static void sender_run(int fd, const json_t *input)
{
	const char *target = json_string_value(json_object_get(input, "target")), *error;
	uint8_t *payload;
	size_t bytes;

	if (!target) {
		fn_worker_say(fd, fn_error("target missing"));
		return;
	}
	payload = message_make(input, &bytes, &error);
	if (!payload) {
		fn_worker_say(fd, fn_error("%s", error));
		return;
	}
	fn_worker_say(fd, sender_push(target, payload, bytes));
	free(payload);
}

static json_t *sender_call(void *self, const struct fn_call *call)
{
	struct fn_worker worker;
	json_t *answer;

	(void)self;
	if (fn_worker_start(&worker, sender_run, call->input))
		return fn_error("no worker process");
	answer = fn_worker_hear(&worker, fn_call_remaining_ms(call, CALL_TIMEOUT_MS));
	fn_worker_stop(&worker);
	return answer;
}

int main(int argc, char **argv)
{
	return fn_main(argc, argv, sender_call, NULL);
}
