// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <err.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cover.h"

#define KCOV_PATH	"/sys/kernel/debug/kcov"
#define KCOV_WORDS	(64 << 10)
#define MODULE_BYTES	(4UL << 20)	/* of code, at most */
#define KEPT_MAX	4096

struct cover {
	unsigned long base, bytes;	/* of the module */
	atomic_ulong reached, kept;
	_Atomic uint8_t hit[MODULE_BYTES];
	struct program programs[KEPT_MAX];
};

/* This worker's. */
static struct cover *shared;
static unsigned long *buffers[PROGRAM_THREADS];
static int fds[PROGRAM_THREADS];
static bool fresh;			/* threads only ever set it */
static int first_free_fd = 3;

static bool find_module(unsigned long *base, unsigned long *bytes)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "vqp ", 4))
			continue;
		*bytes = strtoul(line + 4, NULL, 10);
		*base = strtoul(strstr(line, " 0x") ?: "0", NULL, 16);
		found = *base;
	}
	if (file)
		fclose(file);
	return found;
}

struct cover *cover_open(void)
{
	unsigned long base, bytes;
	struct cover *cover;

	if (access(KCOV_PATH, R_OK | W_OK))
		return NULL;
	if (!find_module(&base, &bytes))
		errx(1, "the module is not loaded");
	cover = mmap(NULL, sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cover == MAP_FAILED)
		err(1, "mmap");
	cover->base = base;
	cover->bytes = bytes < MODULE_BYTES ? bytes : MODULE_BYTES;
	return cover;
}

void cover_attach(struct cover *cover)
{
	int i;

	for (i = 0; cover && i < PROGRAM_THREADS; i++) {
		fds[i] = open(KCOV_PATH, O_RDWR | O_CLOEXEC);
		if (fds[i] < 0 || ioctl(fds[i], KCOV_INIT_TRACE, KCOV_WORDS))
			err(1, KCOV_PATH);
		buffers[i] = mmap(NULL, KCOV_WORDS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (buffers[i] == MAP_FAILED)
			err(1, "mmap of " KCOV_PATH);
	}
	shared = cover;
	first_free_fd = dup(0);
	if (first_free_fd < 0)
		err(1, "dup");
	close(first_free_fd);
}

int cover_first_free_fd(void)
{
	return first_free_fd;
}

void cover_begin(uint8_t index)
{
	if (!shared)
		return;
	__atomic_store_n(&buffers[index][0], 0, __ATOMIC_RELAXED);
	if (ioctl(fds[index], KCOV_ENABLE, KCOV_TRACE_PC))
		err(1, "KCOV_ENABLE");
}

void cover_end(uint8_t index)
{
	unsigned long i, n, at;

	if (!shared)
		return;
	if (ioctl(fds[index], KCOV_DISABLE, 0))
		err(1, "KCOV_DISABLE");
	n = __atomic_load_n(&buffers[index][0], __ATOMIC_RELAXED);
	for (i = 1; i <= n; i++) {
		at = buffers[index][i] - shared->base;
		if (at >= shared->bytes || atomic_load_explicit(&shared->hit[at], memory_order_relaxed))
			continue;
		if (!atomic_exchange(&shared->hit[at], 1)) {
			atomic_fetch_add(&shared->reached, 1);
			__atomic_store_n(&fresh, true, __ATOMIC_RELAXED);
		}
	}
}

bool cover_judge(const struct program *program)
{
	unsigned long at;

	if (!__atomic_exchange_n(&fresh, false, __ATOMIC_RELAXED))
		return false;
	at = atomic_load(&shared->kept);
	/* Two workers may write to one place: either program will do. */
	if (at < KEPT_MAX) {
		shared->programs[at] = *program;
		atomic_store(&shared->kept, at + 1);
	}
	return true;
}

bool cover_pick(struct rnd *r, struct program *program)
{
	unsigned long kept = shared ? atomic_load(&shared->kept) : 0;

	if (!kept)
		return false;
	*program = shared->programs[rnd_below(r, (uint32_t)kept)];
	return program_valid(program);
}

unsigned long cover_reached(const struct cover *cover)
{
	return cover ? atomic_load(&cover->reached) : 0;
}

unsigned long cover_kept(const struct cover *cover)
{
	return cover ? atomic_load(&cover->kept) : 0;
}
