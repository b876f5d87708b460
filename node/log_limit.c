/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "log_limit.h"

void vqp_log_limit_tick(struct vqp_log_limit *limit, uint64_t now_ms)
{
	if (now_ms - limit->began_ms < 1000)
		return;
	if (limit->left_out)
		vqp_log(limit->level, "%u more lines like these were left out", limit->left_out);
	*limit = (struct vqp_log_limit){ .began_ms = now_ms };
}

static void leave_out(struct vqp_log_limit *limit, int level)
{
	if (!limit->left_out++ || level < limit->level)
		limit->level = level;
}

void vqp_log_limited(struct vqp_log_limit *limit, uint64_t now_ms, int level, const char *format, ...)
{
	char line[VQP_LOG_LINE_MAX];
	va_list args;

	vqp_log_limit_tick(limit, now_ms);
	if (limit->lines == VQP_LOG_LIMIT_PER_S) {
		leave_out(limit, level);
		return;
	}
	limit->lines++;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	vqp_log(level, "%s", line);
}
