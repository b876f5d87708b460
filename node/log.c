/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>

#include "log.h"

void vqp_log_tick(struct vqp_log *log, uint64_t now_ms)
{
	if (now_ms - log->began_ms < 1000)
		return;
	if (log->left_out)
		warnx("%u more lines like these were left out", log->left_out);
	*log = (struct vqp_log){ .began_ms = now_ms };
}

void vqp_log_line(struct vqp_log *log, uint64_t now_ms, const char *format, ...)
{
	char line[VQP_LOG_LINE_MAX];
	va_list args;

	vqp_log_tick(log, now_ms);
	if (log->lines == VQP_LOG_LINES_PER_S) {
		log->left_out++;
		return;
	}
	log->lines++;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	warnx("%s", line);
}
