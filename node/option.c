/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "option.h"

uint32_t vqp_option_number(const char *option, const char *value, uint32_t min, uint32_t max)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 0);
	if (errno || end == value || *end || number < min || number > max)
		errx(EX_USAGE, "%s takes a number from %u to %u, not '%s'", option, min, max, value);
	return number;
}
