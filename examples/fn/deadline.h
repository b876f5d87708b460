/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef FN_DEADLINE_H
#define FN_DEADLINE_H

#include <time.h>

/* A time as in RFC 3339, as Go prints it; fractions of a second are dropped. 0: NULL, or no such time. */
time_t fn_deadline_parse(const char *text);

#endif /* FN_DEADLINE_H */
