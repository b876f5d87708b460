/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every unit test includes. */
#ifndef VQP_TESTS_UNIT_H
#define VQP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include <cmocka.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Reproducible random numbers (xorshift64*). */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

#endif
