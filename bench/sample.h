/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Times of one thing, of which the median counts. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#define SAMPLE_MAX	2048

struct sample {
	double us[SAMPLE_MAX];
	int count;
};

/* Times beyond SAMPLE_MAX are not kept. */
void sample_add(struct sample *sample, double us);

/* Add the nanoseconds on a line. Returns how many there were. */
int sample_add_line(struct sample *sample, const char *line);

/* The median in microseconds, rounded to tens of nanoseconds. Sorts the sample. */
double sample_median(struct sample *sample);

#endif /* BENCH_SAMPLE_H */
