/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "log.h"

static const char *const names[] = {
	[LOG_ERR] = "error", [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info", [LOG_DEBUG] = "debug",
};

static int lowest = LOG_INFO;	/* the level below which lines are left out */

/* JOURNAL_STREAM is inherited also by programs whose standard error is another file. */
static bool is_journal(void)
{
	const char *journal = getenv("JOURNAL_STREAM");
	char here[64];
	struct stat st;

	if (!journal || fstat(STDERR_FILENO, &st))
		return false;
	snprintf(here, sizeof(here), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return !strcmp(here, journal);
}

__attribute__((format(printf, 2, 0)))
static void put(int level, const char *format, va_list args)
{
	char line[VQP_LOG_LINE_MAX], prefix[8] = "";

	vsnprintf(line, sizeof(line), format, args);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (is_journal())
		snprintf(prefix, sizeof(prefix), "<%d>", level);
	fprintf(stderr, "%s%s: %s\n", prefix, program_invocation_short_name, line);
}

void vqp_log(int level, const char *format, ...)
{
	va_list args;

	if (level > lowest)
		return;
	va_start(args, format);
	put(level, format, args);
	va_end(args);
}

void vqp_log_end(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_ERR, format, args);
	va_end(args);
	exit(status);
}

void vqp_log_set_level(const char *name)
{
	for (int level = LOG_ERR; level <= LOG_DEBUG; level++)
		if (!strcmp(name, names[level])) {
			lowest = level;
			return;
		}
	vqp_log_end(EX_USAGE, "--log-level takes error, warning, notice, info or debug, not '%s'", name);
}
