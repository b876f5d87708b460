/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the kernel's log says of a failure that was asked for. */
#ifndef ALLOCFAIL_REPORT_H
#define ALLOCFAIL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

enum report_kind {
	REPORT_QUIET,		/* nothing: the caller asked for no warning, since it can do without */
	REPORT_MEMORY,
	REPORT_USERCOPY,
};

struct report {
	enum report_kind kind;
	bool in_module;		/* vqp is on the way there */
	bool fallback;		/* of the allocator, to smaller slabs; or it was a page fault of the program's, which comes again */
	char function[128];	/* which wanted memory, and after a ':' the one of the kernel's that it called for that */
	uint64_t way;		/* the same for the same way there */
};

void report_setup(void);

/* What is logged from now on is read by report_read(). */
void report_begin(void);
void report_read(struct report *report);

#endif
