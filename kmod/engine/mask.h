/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A set of packets of a flow. Bit n stands for the n-th packet from a certain PSN on. */
#ifndef VQP_ENGINE_MASK_H
#define VQP_ENGINE_MASK_H

#include <linux/types.h>

#define VQP_MASK_BITS	128
#define VQP_MASK_WORDS	(VQP_MASK_BITS / 64)

struct vqp_mask {
	u64 words[VQP_MASK_WORDS];
};

static inline bool vqp_mask_has(const struct vqp_mask *mask, u32 bit)
{
	return mask->words[bit / 64] >> (bit % 64) & 1;
}

static inline void vqp_mask_set(struct vqp_mask *mask, u32 bit)
{
	mask->words[bit / 64] |= 1ULL << (bit % 64);
}

static inline void vqp_mask_clear(struct vqp_mask *mask, u32 bit)
{
	mask->words[bit / 64] &= ~(1ULL << (bit % 64));
}

static inline bool vqp_mask_any(const struct vqp_mask *mask)
{
	return mask->words[0] | mask->words[1];
}

/* All bits below `n`, which is at most VQP_MASK_BITS. */
static inline struct vqp_mask vqp_mask_below(u32 n)
{
	struct vqp_mask mask;

	mask.words[0] = n < 64 ? (1ULL << n) - 1 : ~0ULL;
	mask.words[1] = n <= 64 ? 0 : ~0ULL >> (VQP_MASK_BITS - n);
	return mask;
}

/* Move the beginning of the mask by n packets: bit n becomes bit 0. */
static inline void vqp_mask_advance(struct vqp_mask *mask, u32 n)
{
	if (n >= 64) {
		mask->words[0] = n < VQP_MASK_BITS ? mask->words[1] >> (n - 64) : 0;
		mask->words[1] = 0;
	} else if (n) {
		mask->words[0] = mask->words[0] >> n | mask->words[1] << (64 - n);
		mask->words[1] >>= n;
	}
}

static inline u32 vqp_mask_count(const struct vqp_mask *mask)
{
	u32 n = 0, i;
	u64 left;

	for (i = 0; i < VQP_MASK_WORDS; i++)
		for (left = mask->words[i]; left; left &= left - 1)
			n++;
	return n;
}

/* One more than the last bit that is set, or 0. */
static inline u32 vqp_mask_end(const struct vqp_mask *mask)
{
	u32 end = VQP_MASK_BITS;

	while (end && !vqp_mask_has(mask, end - 1))
		end--;
	return end;
}

/* The first bit that is set at or after `from`, or VQP_MASK_BITS. */
static inline u32 vqp_mask_next(const struct vqp_mask *mask, u32 from)
{
	while (from < VQP_MASK_BITS && !vqp_mask_has(mask, from))
		from++;
	return from;
}

#endif
