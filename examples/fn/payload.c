// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "payload.h"

/* xorshift64*, by which each byte depends on the seed and on its place. */
static uint64_t payload_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static uint64_t payload_start(uint64_t seed)
{
	return seed * 2 + 1;	/* xorshift must not begin with zero. */
}

void payload_fill(uint8_t *data, size_t bytes, uint64_t seed)
{
	uint64_t state = payload_start(seed);

	for (size_t i = 0; i < bytes; i++)
		data[i] = payload_next(&state) >> 56;
}

size_t payload_count_bad(const uint8_t *data, size_t bytes, uint64_t seed)
{
	uint64_t state = payload_start(seed);
	size_t bad = 0;

	for (size_t i = 0; i < bytes; i++)
		bad += data[i] != (uint8_t)(payload_next(&state) >> 56);
	return bad;
}
