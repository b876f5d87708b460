// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ServerlessBench TestCase5, second function: waits for a payload, with RDMA resources of its own,
 * and checks it.
 *
 * {"do": "prepare", "bytes": n, "seed": s}, or with "payload" like the sender's, gives {"target":
 * what a sender must know, "setup_ns": from opening the device to the posted receive}. Then
 * {"do": "check"} gives {"bytes": received, "bad": those that are not as expected}.
 */
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "message.h"
#include "transport.h"
#include "worker.h"

#define RECEIVE_TIMEOUT_MS	20000
#define CALL_TIMEOUT_MS		10000

static void receiver_check(int fd, const struct transport *t, const uint8_t *expected, size_t bytes)
{
	size_t compared = t->bytes < bytes ? t->bytes : bytes;

	fn_worker_say(fd, json_pack("{s:I, s:I}", "bytes", (json_int_t)t->bytes, "bad",
				    (json_int_t)message_count_bad(t->data, expected, compared)));
}

static void receiver_wait(int fd, const uint8_t *expected, size_t bytes)
{
	char target[TRANSPORT_TARGET_MAX];
	struct transport t;
	uint64_t start = transport_now_ns();

	if (transport_listen(&t, bytes, target)) {
		fn_worker_say(fd, fn_error("%s", t.error));
	} else {
		uint64_t listening = transport_now_ns();

		fn_worker_say(fd, json_pack("{s:s, s:I}", "target", target,
					    "setup_ns", (json_int_t)(listening - start)));
		if (transport_receive(&t, RECEIVE_TIMEOUT_MS))
			fn_worker_say(fd, fn_error("%s", t.error));
		else
			receiver_check(fd, &t, expected, bytes);
	}
	transport_close(&t);
}

static void receiver_run(int fd, const json_t *input)
{
	const char *error;
	size_t bytes;
	uint8_t *expected = message_make(input, &bytes, &error);

	if (!expected) {
		fn_worker_say(fd, fn_error("%s", error));
		return;
	}
	receiver_wait(fd, expected, bytes);
	free(expected);
}

static json_t *receiver_call(void *self, const struct fn_call *call)
{
	const char *what = json_string_value(json_object_get(call->input, "do"));
	int timeout_ms = fn_call_remaining_ms(call, CALL_TIMEOUT_MS);
	struct fn_worker *worker = self;
	json_t *answer;

	if (what && !strcmp(what, "prepare")) {
		fn_worker_stop(worker);
		if (fn_worker_start(worker, receiver_run, call->input))
			return fn_error("no worker process");
		return fn_worker_hear(worker, timeout_ms);
	}
	if (what && !strcmp(what, "check") && worker->pid) {
		answer = fn_worker_hear(worker, timeout_ms);
		fn_worker_stop(worker);
		return answer;
	}
	return fn_error("do \"prepare\" first, then \"check\"");
}

int main(int argc, char **argv)
{
	struct fn_worker worker = { 0 };
	int status = fn_main(argc, argv, receiver_call, &worker);

	fn_worker_stop(&worker);
	return status;
}
