/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The log of a daemon: lines on standard error, each with a level of syslog(3). Where that is the
 * journal, a line begins with its level as sd-daemon(3) has it, which the journal takes off.
 */
#ifndef VQP_NODE_LOG_H
#define VQP_NODE_LOG_H

#include <syslog.h>

#define VQP_LOG_LINE_MAX	1024	/* bytes; the rest of a line is left out */

/*
 * Writes a line, unless it is below the level that was set. What comes from others may be among the
 * arguments: control characters become question marks.
 */
__attribute__((format(printf, 2, 3)))
void vqp_log(int level, const char *format, ...);

/* Writes why the program ends, which is an error, and exits. */
__attribute__((noreturn, format(printf, 2, 3)))
void vqp_log_end(int status, const char *format, ...);

/*
 * Leaves out lines below a level from then on: error, warning, notice, info, as at first, or debug.
 * Exits with EX_USAGE if `name` is none of these.
 */
void vqp_log_set_level(const char *name);

#endif
