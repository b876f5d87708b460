/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "log.h"
#include "option.h"

uint32_t vqp_option_number(const char *option, const char *value, uint32_t min, uint32_t max)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 0);
	if (errno || end == value || *end || number < min || number > max)
		vqp_log_end(EX_USAGE, "%s takes a number from %u to %u, not '%s'", option, min, max, value);
	return number;
}

int vqp_option_parse_size(const char *text, int64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	int shift = 0;
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 0);
	if (errno || end == text || number < 0)
		return -EINVAL;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unit - units + 1);
		end++;
	}
	if (*end || number > INT64_MAX >> shift)
		return -EINVAL;
	*bytes = number << shift;
	return 0;
}
