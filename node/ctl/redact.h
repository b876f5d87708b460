/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Texts without their secrets. Of configurations the values of known keys stay, which hold no
 * secrets, and all others are left out: so is what is not understood.
 */
#ifndef VQPCTL_REDACT_H
#define VQPCTL_REDACT_H

#define CTL_REDACTED "(left out)"

/* Each returns a new text; NULL without memory. */

/* JSON. A text that is none is left out. */
char *ctl_redact_json(const char *text);

/* Lines as KEY = VALUE and [TABLE], as of TOML. Comments and values of several lines are left out. */
char *ctl_redact_toml(const char *text);

/* Lines that programs have printed. Those with a word such as "password" are left out. */
char *ctl_redact_lines(const char *text);

#endif
