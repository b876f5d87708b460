// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FN_BODY_MIN_BYTES	4096

static bool fn_body_fail(struct fn_body *body, int error)
{
	fn_body_free(body);
	body->error = error;
	return false;
}

/* Makes room for `bytes` bytes. Doubling keeps the copies of a long body few. */
static bool fn_body_grow(struct fn_body *body, size_t bytes)
{
	size_t larger = body->allocated ? body->allocated : FN_BODY_MIN_BYTES;
	char *data;

	while (larger < bytes)
		larger *= 2;
	if (larger == body->allocated)
		return true;
	data = realloc(body->data, larger);
	if (!data)
		return false;
	body->data = data;
	body->allocated = larger;
	return true;
}

bool fn_body_append(struct fn_body *body, const char *data, size_t bytes)
{
	if (body->error)
		return false;
	if (bytes > body->max_bytes - body->bytes)
		return fn_body_fail(body, E2BIG);
	if (!fn_body_grow(body, body->bytes + bytes))
		return fn_body_fail(body, ENOMEM);
	memcpy(body->data + body->bytes, data, bytes);
	body->bytes += bytes;
	return true;
}

void fn_body_free(struct fn_body *body)
{
	free(body->data);
	body->data = NULL;
	body->bytes = 0;
	body->allocated = 0;
}
