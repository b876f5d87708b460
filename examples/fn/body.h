/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The body of a request or of an answer, which comes in parts and has a limit. */
#ifndef FN_BODY_H
#define FN_BODY_H

#include <stdbool.h>
#include <stddef.h>

struct fn_body {
	char *data;		/* the bytes so far; NULL if there are none */
	size_t bytes;
	size_t allocated;	/* the bytes that `data` has room for */
	size_t max_bytes;	/* the limit; set before the first part is added */
	int error;		/* E2BIG beyond the limit, ENOMEM without memory, else 0 */
};

/*
 * Adds a part. False, with `error` set, if the body is beyond its limit or there is no memory: the
 * bytes so far are freed then, and further parts are dropped.
 */
bool fn_body_append(struct fn_body *body, const char *data, size_t bytes);

void fn_body_free(struct fn_body *body);

#endif /* FN_BODY_H */
