/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What every fuzz target includes: LLVMFuzzerTestOneInput() is its only function that others call. */
#ifndef VQP_TESTS_FUZZ_H
#define VQP_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* What must hold whatever the input; the fuzzer keeps the input for which it does not. */
#define fuzz_check(condition) do {							\
	if (!(condition)) {								\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);	\
		abort();								\
	}										\
} while (0)

/* An input that is read from its beginning. After its end there are only zeros. */
struct fuzz {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint32_t fuzz_number(struct fuzz *in, unsigned int bytes)
{
	uint32_t number = 0;

	while (bytes--)
		number = number << 8 | fuzz_byte(in);
	return number;
}

/* 0 to n - 1 */
static inline uint32_t fuzz_below(struct fuzz *in, uint32_t n)
{
	return fuzz_number(in, n > 256 ? 2 : 1) % n;
}

/* Small, of either sign, now and then anything. */
static inline uint32_t fuzz_delta(struct fuzz *in)
{
	const int8_t delta = fuzz_byte(in);

	return delta == INT8_MIN ? fuzz_number(in, 4) : (uint32_t)(int32_t)delta;
}

#endif
