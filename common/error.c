// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "error.h"

int vqp_error_set(struct vqp_error *error, int code, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	free(error->text);
	*error = (struct vqp_error){ .code = code, .text = text };
	return code;
}

/* Without memory for the context the text stays as it was. */
int vqp_error_add_context(struct vqp_error *error, const char *format, ...)
{
	cleanup_free char *context = NULL;
	va_list args;
	char *text;
	int bytes;

	va_start(args, format);
	bytes = vasprintf(&context, format, args);
	va_end(args);
	if (bytes < 0) {
		context = NULL;
		return error->code;
	}
	if (asprintf(&text, "%s: %s", context, vqp_error_text(error)) < 0)
		return error->code;
	free(error->text);
	error->text = text;
	error->reason += bytes + 2;
	return error->code;
}

const char *vqp_error_text(const struct vqp_error *error)
{
	return error->text ? error->text : "out of memory";
}

const char *vqp_error_reason(const struct vqp_error *error)
{
	return vqp_error_text(error) + error->reason;
}

void vqp_error_clear(struct vqp_error *error)
{
	free(error->text);
	*error = (struct vqp_error){ 0 };
}

int vqp_error_by_name(const char *name)
{
	for (int err = 1; name && err < 200; err++) {
		const char *candidate = strerrorname_np(err);

		if (candidate && !strcmp(candidate, name))
			return err;
	}
	return EPROTO;
}
