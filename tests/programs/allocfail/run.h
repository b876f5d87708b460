/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One system call, and every way in which it can run out of memory. */
#ifndef ALLOCFAIL_RUN_H
#define ALLOCFAIL_RUN_H

#include <stdbool.h>
#include "stage.h"

struct run_case {
	const char *name;
	void (*prepare)(struct stage *s, const struct run_case *c);	/* exits on failure */
	int (*call)(struct stage *s, const struct run_case *c);		/* 0 or an errno value */
	void (*verify)(struct stage *s, const struct run_case *c);	/* that it did what it should; exits */
	/* After a failure, in place of the check that nothing has changed. */
	void (*partly)(struct stage *s, const struct run_case *c);
	void (*end)(struct stage *s);	/* however it went; NULL: stage_end() is enough */
	/*
	 * The functions, with a space behind each, whose allocations may fail unnoticed. "FUNCTION:* "
	 * is all that the kernel does for that one of the module's.
	 */
	const char *optional;
	int also;		/* an errno value by which the call may say that there is no memory, too; or 0 */
	bool far;		/* it is about the other node */
	unsigned int starve;	/* how often to fail all allocations together; 0: once */
	uint32_t opcode, flags, count;	/* of posts */
	size_t bytes;			/* of memory */
};

/* As prepare() or verify(), where there is nothing to do. */
void run_nothing(struct stage *s, const struct run_case *c);

extern const struct run_case calls[], posts[], sockets[], commands[];	/* the last one's name is NULL */

/*
 * Fail the first allocation, the second, and so on, until there is none left,
 * and then all together; returns how many there were. Exits when something is wrong.
 */
unsigned int run_case(const struct run_case *c);

#endif
