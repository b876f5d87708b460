/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "reply.h"

json_t *vqp_reply_error(int err, const char *format, ...)
{
	cleanup_free char *text = NULL;
	const char *name = strerrorname_np(abs(err));
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return NULL;
	}
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "errno", name ? name : "EPROTO", "error", text);
}

const char *vqp_reply_text(const json_t *reply)
{
	const char *text;

	if (json_is_true(json_object_get(reply, "ok")))
		return NULL;
	text = json_string_value(json_object_get(reply, "error"));
	return text ? text : "refused without a reason";
}

int vqp_reply_errno(const json_t *reply)
{
	return vqp_error_by_name(json_string_value(json_object_get(reply, "errno")));
}
