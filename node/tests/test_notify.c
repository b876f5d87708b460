/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "../notify.h"

/* A service manager's socket whose name has `bytes` bytes. */
static int listen_at(const char *name, size_t bytes)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(addr.sun_path, name, bytes);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, offsetof(struct sockaddr_un, sun_path) + bytes), 0);
	return fd;
}

static void assert_told(int fd)
{
	char text[32];
	ssize_t n = recv(fd, text, sizeof(text), 0);

	assert_int_equal(n, strlen("READY=1"));
	assert_memory_equal(text, "READY=1", n);
	close(fd);
}

static void a_socket_in_the_file_system_is_told(void **state)
{
	char directory[] = "/tmp/vqp-test-XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/notify", directory);
	fd = listen_at(path, strlen(path));
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(vqp_notify_ready(), 0);
	assert_told(fd);
	unlink(path);
	rmdir(directory);
}

static void an_abstract_socket_is_told(void **state)
{
	char name[64];
	int bytes = snprintf(name, sizeof(name), "@vqp-test-notify-%d", getpid()), fd;

	(void)state;
	setenv("NOTIFY_SOCKET", name, 1);
	name[0] = '\0';
	fd = listen_at(name, bytes);
	assert_int_equal(vqp_notify_ready(), 0);
	assert_told(fd);
}

static void without_a_service_manager_there_is_nothing_to_do(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(vqp_notify_ready(), 0);
}

static void what_cannot_be_told_is_an_error(void **state)
{
	char path[200] = "/";

	(void)state;
	setenv("NOTIFY_SOCKET", "/nowhere/to/be/found", 1);
	assert_int_equal(vqp_notify_ready(), -ENOENT);
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	assert_int_equal(vqp_notify_ready(), -EAFNOSUPPORT);
	memset(path + 1, 'x', sizeof(path) - 2);
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(vqp_notify_ready(), -EAFNOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_in_the_file_system_is_told),
		cmocka_unit_test(an_abstract_socket_is_told),
		cmocka_unit_test(without_a_service_manager_there_is_nothing_to_do),
		cmocka_unit_test(what_cannot_be_told_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
