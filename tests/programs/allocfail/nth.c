// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "nth.h"
#include "main.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define STACK_BYTES	(512 << 10)
#define HEAP_BYTES	(4 << 20)

static int nth_fd = -1, all_fd = -1;

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(errno, "%s: is this a kernel with fault injection?", path);
	close(fd);
}

static void put_attr(const char *attr, const char *knob, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", attr, knob);
	put(path, text);
}

/*
 * What this process touches while it is armed is there already: a page fault
 * that finds no memory would come again and again.
 */
static void touch_memory(void)
{
	volatile char stack[STACK_BYTES];
	void *heap;
	size_t i;

	for (i = 0; i < sizeof(stack); i += 4096)
		stack[i] = 0;
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	heap = calloc(1, HEAP_BYTES);
	if (!heap || mlockall(MCL_CURRENT))
		die(errno, "locking memory");
	free(heap);
}

void nth_setup(void)
{
	static const char *const attrs[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	size_t i;

	touch_memory();
	put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	put(DEBUGFS "fail_page_alloc/min-order", "0");
	for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		put_attr(attrs[i], "verbose", "2");
		put_attr(attrs[i], "task-filter", "Y");
		put_attr(attrs[i], "times", "-1");
	}
	put_attr("failslab", "probability", "100");
	put_attr("fail_page_alloc", "probability", "100");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	all_fd = open("/proc/thread-self/make-it-fail", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || all_fd < 0)
		die(errno, "/proc/thread-self");
}

void nth_arm(unsigned int nth)
{
	char text[16];
	int bytes = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_fd, text, bytes, 0) != bytes)
		die(errno, "arming");
}

/* This copies, too: while it is armed, it may be what fails. */
unsigned int nth_left(void)
{
	char text[16] = "";

	return pread(nth_fd, text, sizeof(text) - 1, 0) > 0 ? strtoul(text, NULL, 10) : 1;
}

/* So do these. */
bool nth_disarm(void)
{
	bool failed = !nth_left();
	int tries = 2;

	while (pwrite(nth_fd, "0", 1, 0) != 1)
		if (!--tries)
			die(errno, "disarming");
	return failed;
}

void nth_arm_all(void)
{
	if (pwrite(all_fd, "1", 1, 0) != 1)
		die(errno, "arming");
}

void nth_disarm_all(void)
{
	if (pwrite(all_fd, "0", 1, 0) != 1)
		die(errno, "disarming");
}
