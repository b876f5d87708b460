// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "vqpt.h"

/* Every 8 bytes tell the pattern and their place in it. */
static uint64_t pattern_word(uint64_t seed, uint64_t index)
{
	uint64_t word = (seed * 0x9e3779b97f4a7c15ULL) ^ (index + 1);

	word *= 0xbf58476d1ce4e5b9ULL;
	return word ^ (word >> 31);
}

void vqpt_pattern_fill(void *memory, uint64_t bytes, uint64_t seed)
{
	char *at = memory;
	uint64_t i, word;

	for (i = 0; i * 8 < bytes; i++) {
		word = pattern_word(seed, i);
		memcpy(at + i * 8, &word, bytes - i * 8 < 8 ? bytes - i * 8 : 8);
	}
}

uint64_t vqpt_pattern_check(const void *memory, uint64_t bytes, uint64_t seed)
{
	const char *at = memory;
	uint64_t i, word, len, j;

	for (i = 0; i * 8 < bytes; i++) {
		word = pattern_word(seed, i);
		len = bytes - i * 8 < 8 ? bytes - i * 8 : 8;
		if (!memcmp(at + i * 8, &word, len))
			continue;
		for (j = 0; at[i * 8 + j] == ((const char *)&word)[j]; j++)
			;
		return i * 8 + j;
	}
	return bytes;
}
