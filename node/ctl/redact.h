/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Texts without their secrets. Of configurations the values of known keys stay, which hold no
 * secrets, and all others are left out: so is what is not understood.
 */
#ifndef VQPCTL_REDACT_H
#define VQPCTL_REDACT_H

#include <jansson.h>

#define CTL_REDACTED "(left out)"

/* Each returns a new text; NULL without memory. */

/* JSON. A text that is none is left out. */
char *ctl_redact_json(const char *text);

/*
 * Returns a copy of what vqpctl itself says, in which only the strings are left out that may have a
 * secret in them, as of an engine's file that they quote.
 */
json_t *ctl_redact_strings(const json_t *value);

/* Lines as KEY = VALUE and [TABLE], as of TOML. Comments, tables in a line,
 * values of several lines, and whatever else stands in a value's line are left out. */
char *ctl_redact_toml(const char *text);

/* Lines that programs have printed. Those with a word such as "password" are left out. */
char *ctl_redact_lines(const char *text);

#endif
