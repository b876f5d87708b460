// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

int vqp_error_fail(char **error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return -err;
}
