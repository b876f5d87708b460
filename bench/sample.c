// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sample.h"

#include <math.h>
#include <stdlib.h>

void sample_add(struct sample *sample, double us)
{
	if (sample->count < SAMPLE_MAX)
		sample->us[sample->count++] = us;
}

int sample_add_line(struct sample *sample, const char *line)
{
	int count = 0;
	char *end;

	for (;;) {
		unsigned long long ns = strtoull(line, &end, 10);

		if (end == line)
			return count;
		sample_add(sample, ns / 1000.0);
		line = end;
		count++;
	}
}

static int sample_compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

double sample_median(struct sample *sample)
{
	int middle = sample->count / 2;
	double median;

	if (!sample->count)
		return 0;
	qsort(sample->us, sample->count, sizeof(sample->us[0]), sample_compare);
	median = sample->us[middle];
	if (sample->count % 2 == 0)
		median = (median + sample->us[middle - 1]) / 2;
	return round(median * 100) / 100;
}
