/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For targets whose input is JSON, one value per line: with json.c linked, the
 * fuzzer changes members and elements rather than bytes. Most of what it makes
 * is JSON, and uses the target's words as names and strings.
 */
#ifndef VQP_TESTS_FUZZ_JSON_H
#define VQP_TESTS_FUZZ_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "fuzz.h"

/* The target's words, NULL at the end. */
extern const char *const fuzz_words[];

/* The next line as JSON in *json, which may be NULL: it is none. False at the end. */
static inline bool fuzz_line(struct fuzz *in, json_t **json)
{
	const uint8_t *newline = in->left ? memchr(in->at, '\n', in->left) : NULL;
	const size_t bytes = newline ? (size_t)(newline - in->at) : in->left;

	if (!in->left)
		return false;
	*json = json_loadb((const char *)in->at, bytes, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	in->at += bytes;
	in->left -= bytes;
	if (newline) {
		in->at++;
		in->left--;
	}
	return true;
}

#endif
