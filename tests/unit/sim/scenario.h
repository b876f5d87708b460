/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A scenario: a network, and groups of flows that are alike. It is read from a file of JSON. */
#ifndef VQP_SIM_SCENARIO_H
#define VQP_SIM_SCENARIO_H

#include <jansson.h>
#include "flow.h"
#include "network.h"
#include "tcp.h"

#define SCENARIO_GROUPS_MAX	8

/* Hosts from `first` to `last`, over which the flows of a group are distributed in turn. */
struct scenario_hosts {
	u32 first, last;
};

struct scenario_group {
	const char *name;
	const char *kind;		/* as the file has it */
	const struct tcp_model *model;	/* NULL: flows of vqp */
	struct flow_cfg flow;		/* unless `model` */
	u32 count;			/* flows */
	struct scenario_hosts from, to;
	u64 start_ns;			/* The flows begin before this, at random. */
};

struct scenario {
	char *name;			/* that of the file, without what is before and behind */
	json_t *json;			/* the file; it owns the other strings */
	u32 seeds;			/* It is run with the seeds 1 to this. */
	u64 from_ns, until_ns;		/* What is measured is in between. */
	struct network_cfg network;
	struct scenario_group groups[SCENARIO_GROUPS_MAX];
	u32 ngroups;
};

/* Read the file. Returns false, with *error set to what is wrong and where; it is to be freed. */
bool scenario_read(struct scenario *scenario, const char *path, char **error);
/* The same of what a file contains. */
bool scenario_parse(struct scenario *scenario, const char *name, const char *text, char **error);
/* Of a scenario that was read, or could not be. */
void scenario_end(struct scenario *scenario);

/* The hosts of a flow of the group. */
static inline u32 scenario_host(const struct scenario_hosts *hosts, u32 flow)
{
	return hosts->first + flow % (hosts->last - hosts->first + 1);
}

#endif
