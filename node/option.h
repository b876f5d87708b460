/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values of command line options. */
#ifndef VQP_NODE_OPTION_H
#define VQP_NODE_OPTION_H

#include <stdint.h>

/* Exits with EX_USAGE and a text that names `option`, unless min <= value <= max. */
uint32_t vqp_option_number(const char *option, const char *value, uint32_t min, uint32_t max);

/*
 * Parses a number, with K, M, G or T for powers of 1024. 0; -EINVAL if it is none, or is 2^63 or
 * more.
 */
int vqp_option_parse_size(const char *text, int64_t *bytes);

#endif
