/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reproducible random numbers (xorshift64*). The state must not be 0. */
#ifndef VQP_TESTS_UNIT_RANDOM_H
#define VQP_TESTS_UNIT_RANDOM_H

#include <stdint.h>

static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* At least 0 and below 1. */
static inline double unit_random_share(uint64_t *state)
{
	return (double)(unit_random(state) >> 11) * 0x1p-53;
}

#endif
