// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "deadline.h"

#include <stdio.h>
#include <string.h>

time_t fn_deadline_parse(const char *text)
{
	struct tm tm = { 0 };
	const char *rest;
	int hours, minutes;
	time_t when;
	char sign;

	if (!text)
		return 0;
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest)
		return 0;
	when = timegm(&tm);
	rest += strspn(rest, ".0123456789");
	if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) == 3 && sign != 'Z')
		when += (sign == '+' ? -60 : 60) * (hours * 60 + minutes);
	return when;
}
