/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the sender sends and the receiver expects, as the input of a call says. */
#ifndef FN_MESSAGE_H
#define FN_MESSAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The text "payload", or "bytes" of them that follow from "seed". To be given
 * to free(); NULL, with the reason in *error, if it is neither or too long.
 */
uint8_t *message_make(const json_t *input, size_t *bytes, const char **error);

/* How many of the first `bytes` bytes are not as expected. */
size_t message_count_bad(const uint8_t *data, const uint8_t *expected, size_t bytes);

#endif /* FN_MESSAGE_H */
