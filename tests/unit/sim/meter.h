/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is measured: how much of a flow gets through, how long it starves, and how long messages
 * take.
 */
#ifndef VQP_SIM_METER_H
#define VQP_SIM_METER_H

#include <linux/types.h>

/* What one flow has got through. Zeroed, that is nothing. */
struct meter {
	u64 bytes;
	bool waiting;			/* Something is under way. */
	u64 since_ns;			/* with `waiting`: Nothing has got through since. */
	u64 longest_ns;			/* the longest time for which nothing did */
};

/* Something is under way from now on. */
void meter_wait(struct meter *meter, u64 now_ns);
/* So much has got through. */
void meter_add(struct meter *meter, u32 bytes, u64 now_ns);
/* Nothing is under way any more. */
void meter_rest(struct meter *meter);
/* Forget what was before. */
void meter_count_anew(struct meter *meter, u64 now_ns);
/* The longest time up to now for which nothing got through. */
u64 meter_starved_ns(const struct meter *meter, u64 now_ns);

/* Numbers, of which percentiles are wanted. Zeroed, there are none. */
struct samples {
	u64 *at;
	size_t count, room;
	bool sorted;
};

void samples_add(struct samples *samples, u64 value);
/* The smallest sample that is no less than so many per cent of them; 0 if there is none. */
u64 samples_percentile(struct samples *samples, double percent);
void samples_end(struct samples *samples);

#endif
