/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef FN_DEADLINE_H
#define FN_DEADLINE_H

#include <time.h>

/*
 * Parses a time of RFC 3339, as Go prints it, and drops fractions of a second. Returns 0 for NULL,
 * and for a text that is no such time.
 */
time_t fn_deadline_parse(const char *text);

#endif /* FN_DEADLINE_H */
