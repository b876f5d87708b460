// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "memory.h"
#include "meter.h"

void meter_wait(struct meter *meter, u64 now_ns)
{
	if (meter->waiting)
		return;
	meter->waiting = true;
	meter->since_ns = now_ns;
}

u64 meter_starved_ns(const struct meter *meter, u64 now_ns)
{
	const u64 ns = meter->waiting ? now_ns - meter->since_ns : 0;

	return ns > meter->longest_ns ? ns : meter->longest_ns;
}

void meter_add(struct meter *meter, u32 bytes, u64 now_ns)
{
	meter->longest_ns = meter_starved_ns(meter, now_ns);
	meter->bytes += bytes;
	meter->since_ns = now_ns;
}

void meter_rest(struct meter *meter)
{
	meter->waiting = false;
}

void meter_count_anew(struct meter *meter, u64 now_ns)
{
	meter->bytes = 0;
	meter->since_ns = now_ns;
	meter->longest_ns = 0;
}

void samples_add(struct samples *samples, u64 value)
{
	samples->at = memory_grow(samples->at, samples->count, &samples->room, sizeof(*samples->at));
	samples->at[samples->count++] = value;
	samples->sorted = false;
}

static int samples_compare(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

u64 samples_percentile(struct samples *samples, double percent)
{
	size_t rank;

	if (!samples->count)
		return 0;
	if (!samples->sorted)
		qsort(samples->at, samples->count, sizeof(*samples->at), samples_compare);
	samples->sorted = true;
	rank = (size_t)ceil((double)samples->count * percent / 100);
	return samples->at[rank ? rank - 1 : 0];
}

void samples_end(struct samples *samples)
{
	free(samples->at);
	*samples = (struct samples){ 0 };
}
