/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies to and from memory that other processors access meanwhile. memcpy() may be one string
 * instruction, which promises them nothing of its order, and which may tear words. These copies
 * promise what programs expect of NICs:
 *
 * - a copy of at most VQP_COPY_WORDS_BYTES accesses each naturally aligned word of 8 bytes, and
 *   each of 4, 2 or 1 at either end, as one;
 * - a copy into such memory writes the word with the last byte after all others, so that a program
 *   which waits for that byte finds the rest in place.
 */
#ifndef VQP_MEM_COPY_H
#define VQP_MEM_COPY_H

#include <linux/types.h>

#define VQP_COPY_WORDS_BYTES	64U

/* Copy from memory that others write. Any context. */
void vqp_copy_from(void *dst, const void *shared, u32 bytes);
/* Copy into memory that others read, from any memory. Any context. */
void vqp_copy_to(void *shared, const void *src, u32 bytes);

#endif
