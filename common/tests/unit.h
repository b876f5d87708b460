/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_TESTS_UNIT_H
#define VQP_COMMON_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>
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

#define UNIT_PASSED_MAX	4

/* Sends a text over a Unix socket, and with it the descriptor `passed`, `count` times. */
static inline void unit_send(int fd, const char *text, int passed, size_t count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(UNIT_PASSED_MAX * sizeof(int))];
	} control = { .header = { CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec data = { .iov_base = (char *)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	assert_true(count <= UNIT_PASSED_MAX);
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(passed), &passed, sizeof(passed));
	if (count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &message, 0), strlen(text));
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
