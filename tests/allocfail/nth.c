// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nth.h"
#include "main.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define STACK_BYTES	(512 << 10)

static int nth_fd = -1;

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(errno, "%s: is this a kernel with fault injection?", path);
	close(fd);
}

/* A call that is armed must not be the first to touch it. */
static void touch_stack(void)
{
	volatile char stack[STACK_BYTES];
	size_t i;

	for (i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 0;
}

void nth_setup(void)
{
	static const char *const attrs[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	char path[64];
	size_t i;

	touch_stack();
	put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	put(DEBUGFS "fail_page_alloc/min-order", "0");
	for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/verbose", attrs[i]);
		put(path, "2");
	}
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die(errno, "/proc/thread-self/fail-nth");
}

void nth_arm(unsigned int nth)
{
	char text[16];
	int bytes = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_fd, text, bytes, 0) != bytes)
		die(errno, "arming");
}

/* These calls copy, too: while it is armed they may be what fails. */
bool nth_disarm(void)
{
	char text[16] = "";
	bool failed = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';
	int tries = 2;

	while (pwrite(nth_fd, "0", 1, 0) != 1)
		if (!--tries)
			die(errno, "disarming");
	return failed;
}
