/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Numbers that a seed determines: splitmix64. */
#ifndef VQP_FUZZ_RANDOM_H
#define VQP_FUZZ_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rnd {
	uint64_t state;
};

static inline uint64_t rnd_u64(struct rnd *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline uint32_t rnd_u32(struct rnd *r)
{
	return (uint32_t)rnd_u64(r);
}

static inline uint32_t rnd_below(struct rnd *r, uint32_t n)
{
	return (uint32_t)(((rnd_u64(r) >> 32) * n) >> 32);
}

static inline bool rnd_percent(struct rnd *r, uint32_t percent)
{
	return rnd_below(r, 100) < percent;
}

/* A value at which arithmetic and checks tend to change their minds. */
static inline uint64_t rnd_edge(struct rnd *r)
{
	uint64_t bit = 1ULL << rnd_below(r, 64);

	switch (rnd_below(r, 6)) {
	case 0: return 0;
	case 1: return bit;
	case 2: return bit - 1;
	case 3: return bit + 1;
	case 4: return 0 - bit;
	default: return rnd_u64(r);
	}
}

#endif
