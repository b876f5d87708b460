/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Lines on standard error that others cause, and must not be able to fill the log with. */
#ifndef VQP_NODE_LOG_H
#define VQP_NODE_LOG_H

#include <stdint.h>

#define VQP_LOG_LINES_PER_S	10
#define VQP_LOG_LINE_MAX	512	/* bytes; the rest of a line is left out */

/* All zero: nothing has been logged. */
struct vqp_log {
	uint64_t began_ms;		/* when the second began that is counted */
	unsigned int lines;		/* those that were written in it */
	unsigned int left_out;		/* those that were not, which has not been told yet */
};

/*
 * Writes a line, if no more than VQP_LOG_LINES_PER_S were written in this second, or else counts it.
 * What comes from others may be among the arguments: control characters become question marks.
 */
__attribute__((format(printf, 3, 4)))
void vqp_log_line(struct vqp_log *log, uint64_t now_ms, const char *format, ...);

/* Is called from time to time: tells how many lines were left out. */
void vqp_log_tick(struct vqp_log *log, uint64_t now_ms);

#endif
