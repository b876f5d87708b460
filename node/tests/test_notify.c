/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

/* The service manager is told `text`, and returned is what came with it, or -1. */
static int receive(int fd, const char *text)
{
	char got[64];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec data = { .iov_base = got, .iov_len = sizeof(got) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &message, 0);
	int passed = -1;

	assert_int_equal(n, strlen(text));
	assert_memory_equal(got, text, n);
	if (message.msg_controllen)
		memcpy(&passed, CMSG_DATA(&control.header), sizeof(passed));
	return passed;
}

static void assert_told(int fd)
{
	assert_int_equal(receive(fd, "READY=1"), -1);
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

static void assert_same_file(int a, int b)
{
	struct stat first, second;

	assert_int_equal(fstat(a, &first), 0);
	assert_int_equal(fstat(b, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_int_equal(first.st_dev, second.st_dev);
}

static void a_descriptor_is_kept_in_place_of_the_last(void **state)
{
	char name[64];
	int bytes = snprintf(name, sizeof(name), "@vqp-test-notify-%d", getpid()), manager, passed, pair[2];

	(void)state;
	setenv("NOTIFY_SOCKET", name, 1);
	name[0] = '\0';
	manager = listen_at(name, bytes);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(vqp_notify_keep(pair[0], "requests"), 1);
	assert_int_equal(receive(manager, "FDSTOREREMOVE=1\nFDNAME=requests"), -1);
	passed = receive(manager, "FDSTORE=1\nFDNAME=requests");
	assert_true(passed >= 0);
	assert_same_file(passed, pair[0]);
	close(passed);
	close(pair[0]);
	close(pair[1]);
	close(manager);
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(vqp_notify_keep(0, "requests"), 0);
}

/* Has this process start with `count` descriptors from 3 on, of these names, which are for the process `pid`. */
static void hand_over(pid_t pid, const char *count, const char *names)
{
	char text[16];

	for (int fd = 3; fd < 6; fd++)
		assert_int_equal(dup2(0, fd), fd);
	snprintf(text, sizeof(text), "%d", pid);
	setenv("LISTEN_PID", text, 1);
	setenv("LISTEN_FDS", count, 1);
	setenv("LISTEN_FDNAMES", names, 1);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void what_was_kept_is_found_by_its_name(void **state)
{
	(void)state;
	hand_over(getpid(), "3", "other:requests:requests");
	assert_int_equal(vqp_notify_kept("requests"), 4);
	assert_int_equal(fcntl(4, F_GETFD), FD_CLOEXEC);
	assert_false(is_open(3));
	assert_false(is_open(5));
	assert_null(getenv("LISTEN_PID"));
	assert_null(getenv("LISTEN_FDS"));
	assert_null(getenv("LISTEN_FDNAMES"));
	assert_int_equal(vqp_notify_kept("requests"), -1);
	close(4);
}

static void what_is_not_there_or_another_processs_is_not_found(void **state)
{
	(void)state;
	hand_over(getpid(), "2", "other");
	assert_int_equal(vqp_notify_kept("requests"), -1);
	assert_false(is_open(3));
	assert_false(is_open(4));
	hand_over(getppid(), "1", "requests");
	assert_int_equal(vqp_notify_kept("requests"), -1);
	assert_true(is_open(3));
	for (const char **count = (const char *[]){ "", "-1", "0", "17", "many", NULL }; *count; count++) {
		hand_over(getpid(), *count, "requests");
		assert_int_equal(vqp_notify_kept("requests"), -1);
		assert_true(is_open(3));
	}
	for (int fd = 3; fd < 6; fd++)
		close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_in_the_file_system_is_told),
		cmocka_unit_test(an_abstract_socket_is_told),
		cmocka_unit_test(without_a_service_manager_there_is_nothing_to_do),
		cmocka_unit_test(what_cannot_be_told_is_an_error),
		cmocka_unit_test(a_descriptor_is_kept_in_place_of_the_last),
		cmocka_unit_test(what_was_kept_is_found_by_its_name),
		cmocka_unit_test(what_is_not_there_or_another_processs_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
