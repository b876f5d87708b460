/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_TESTS_UNIT_H
#define VQP_COMMON_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <sys/socket.h>
#include <unistd.h>

/* A JSON object from its text. */
static inline json_t *unit_json(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

static inline void unit_assert_string(const json_t *object, const char *name, const char *expected)
{
	const char *text = json_string_value(json_object_get(object, name));

	assert_non_null(text);
	assert_string_equal(text, expected);
}

/*
 * Ends a stream, so that the other end sees it at once. close() alone does not: while others read
 * /proc/PID/fd, the file stays open.
 */
static inline void unit_hang_up(int fd)
{
	shutdown(fd, SHUT_RDWR);
	close(fd);
}

#endif
