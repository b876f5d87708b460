/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Have the kernel fail the n-th allocation, or copy from or to user space, of this thread. */
#ifndef ALLOCFAIL_NTH_H
#define ALLOCFAIL_NTH_H

#include <stdbool.h>

/* Of every kind, also those that may sleep. What fails is logged, with the way there. */
void nth_setup(void);

void nth_arm(unsigned int nth);
/* How many are left until it, give or take one; 0: it came to that. */
unsigned int nth_left(void);
/* True: it came to that, and the call failed or had to do without. */
bool nth_disarm(void);

/* All allocations at once: what tries a second time is to fail, too. */
void nth_arm_all(void);
void nth_disarm_all(void);

#endif
