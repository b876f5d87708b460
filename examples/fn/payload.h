/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the sender sends and the receiver expects: bytes that follow from a seed. */
#ifndef FN_PAYLOAD_H
#define FN_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MAX_BYTES	(1U << 20)

void payload_fill(uint8_t *data, size_t bytes, uint64_t seed);

/* How many of the bytes are not what payload_fill() wrote. */
size_t payload_count_bad(const uint8_t *data, size_t bytes, uint64_t seed);

#endif /* FN_PAYLOAD_H */
