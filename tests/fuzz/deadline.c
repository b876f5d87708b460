// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Deadlines of Fn calls: what is taken is within the years that four digits can say. */
#include "../../examples/fn/deadline.h"
#include "fuzz.h"

#define DAY_S		86400LL
#define YEAR_0		(-62167219200LL)	/* 0000-01-01T00:00:00Z */
#define YEAR_10000	253402300800LL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	time_t when;

	fuzz_check(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	when = fn_deadline_parse(text);
	/* an hour and a minute of two digits each may move it */
	fuzz_check(when >= YEAR_0 - 5 * DAY_S && when <= YEAR_10000 + 5 * DAY_S);
	free(text);
	return 0;
}
