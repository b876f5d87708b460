/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lines of the log that others cause, and must not be able to fill it with. */
#ifndef VQP_NODE_LOG_LIMIT_H
#define VQP_NODE_LOG_LIMIT_H

#include <stdint.h>

#include "log.h"

#define VQP_LOG_LIMIT_PER_S	10

/* All zero: nothing has been logged. */
struct vqp_log_limit {
	uint64_t began_ms;		/* when the second began that is counted */
	unsigned int lines;		/* those that were written in it */
	unsigned int left_out;		/* those that were not, which has not been told yet */
	int level;			/* the most urgent level of those */
};

/* Writes a line, as vqp_log() does, if no more than so many were written in this second; else counts it. */
__attribute__((format(printf, 4, 5)))
void vqp_log_limited(struct vqp_log_limit *limit, uint64_t now_ms, int level, const char *format, ...);

/* Is called from time to time: tells how many lines were left out. */
void vqp_log_limit_tick(struct vqp_log_limit *limit, uint64_t now_ms);

#endif
