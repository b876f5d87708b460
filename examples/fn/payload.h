/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Bytes that follow from a seed, which the sender sends and the receiver expects. */
#ifndef FN_PAYLOAD_H
#define FN_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MAX_BYTES	(1U << 20)

void payload_fill(uint8_t *data, size_t bytes, uint64_t seed);

/* Returns the number of bytes that are not those of payload_fill(). */
size_t payload_count_bad(const uint8_t *data, size_t bytes, uint64_t seed);

#endif /* FN_PAYLOAD_H */
