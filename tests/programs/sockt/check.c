// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* How a case ends that does not go as it should. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sockt.h"

int check_limit_s(void)
{
	const char *text = getenv("SOCKT_LIMIT_S");
	int limit = text ? atoi(text) : 0;

	return limit > 0 ? limit : 90;
}

void check_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	printf("# %s:%d: %s\n", base ? base + 1 : file, line, text);
	fflush(stdout);
	_exit(1);
}

void check_skip(const char *format, ...)
{
	va_list ap;

	printf("# skipped: ");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(77);
}

double check_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

pid_t check_fork(void)
{
	fflush(stdout);
	return NEED(fork());
}

void check_child(pid_t pid)
{
	int status;

	WANT_EQ(waitpid(pid, &status, 0), pid);
	WANT_EQ(status, 0);
}
