// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static void set(struct vqp_error *error, enum vqp_error_code code, const char *format, va_list args)
{
	vqp_error_clear(error);
	error->code = code;
	if (vasprintf(&error->msg, format, args) < 0)
		error->msg = NULL;
}

int vqp_error_set(struct vqp_error *error, enum vqp_error_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(error, code, format, args);
	va_end(args);
	return code;
}

int vqp_error_detail(struct vqp_error *error, enum vqp_error_code code, const char *details,
		     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(error, code, format, args);
	va_end(args);
	error->details = details ? strdup(details) : NULL;
	return code;
}

int vqp_error_print(const struct vqp_error *error, const char *cni_version, FILE *out)
{
	json_auto_t *object = json_pack("{s:s, s:i, s:s, s:s*}", "cniVersion", cni_version,
					"code", error->code,
					"msg", error->msg ? error->msg : "out of memory",
					"details", error->details);

	/* A message may quote bytes that are not UTF-8, which jansson refuses. */
	if (!object)
		object = json_pack("{s:s, s:i, s:s}", "cniVersion", cni_version, "code", error->code,
				   "msg", "the error quotes bytes that are not UTF-8");
	if (!object || json_dumpf(object, out, JSON_INDENT(4)) || fputc('\n', out) == EOF)
		return EOF;
	return fflush(out);
}

void vqp_error_clear(struct vqp_error *error)
{
	free(error->msg);
	free(error->details);
	*error = (struct vqp_error){ 0 };
}
