/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The message that the sender sends and the receiver expects, from the input of a call. */
#ifndef FN_MESSAGE_H
#define FN_MESSAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the text "payload", or "bytes" bytes that follow from "seed". The caller frees it. NULL,
 * with the reason in *error, if the input has neither, or it is too long.
 */
uint8_t *message_make(const json_t *input, size_t *bytes, const char **error);

/* Returns the number of bytes, of the first `bytes`, that are not as expected. */
size_t message_count_bad(const uint8_t *data, const uint8_t *expected, size_t bytes);

#endif /* FN_MESSAGE_H */
