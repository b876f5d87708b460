/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs of a scenario, and what they show, of all seeds together. */
#ifndef VQP_SIM_RUN_H
#define VQP_SIM_RUN_H

#include "scenario.h"

/* What the flows of a group have done. */
struct run_group {
	struct samples took;		/* what messages took, in ns */
	u64 bytes;			/* that came through in the measured time */
	u64 completed, failed;		/* messages */
	u64 sent, resent;		/* packets with requests; segments of TCP */
	u64 timeouts;
	/* of one seed: what the slowest flow got through, of what the fastest did */
	double fairness;
	u64 starved_ns;			/* the longest time for which any flow got nothing through */
};

/* Zeroed, there were no runs. */
struct run_result {
	u32 runs;
	struct run_group groups[SCENARIO_GROUPS_MAX];
	struct port_counts counts[PACKET_KINDS];
	/* Of the port to a host, or of a spine, whose queue was the longest on average. */
	double queue_mean;
	u32 queue_most;
};

/* Called from time to time with the share of a run that is done. */
typedef void run_progress_fn(void *arg, double done);

/* Run the scenario with the seed, and add what that shows. `progress` may be NULL. */
void run_scenario(const struct scenario *scenario, u64 seed, struct run_result *result,
		  run_progress_fn *progress, void *arg);

/* What all this shows, as an object of JSON. */
json_t *run_report(const struct scenario *scenario, struct run_result *result);

void run_end(struct run_result *result);

#endif
