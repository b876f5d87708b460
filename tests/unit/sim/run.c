// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "../random.h"
#include "memory.h"
#include "run.h"

/* After the measured time, messages that are under way may take so long. */
#define DRAIN_NS	5000000000ULL
#define STEPS		64		/* So often is the progress told. */

/* A run that is going on. */
struct run {
	const struct scenario *scenario;
	struct run_result *result;
	struct network network;
	struct flow *flows;
	struct tcp *tcps;
	u32 nflows, ntcps;
};

/* ---- The flows ---- */

static u64 run_start_ns(struct run *run, const struct scenario_group *group)
{
	return unit_random(&run->network.random) % group->start_ns;
}

static void run_make_group(struct run *run, u32 index)
{
	const struct scenario_group *group = &run->scenario->groups[index];

	for (u32 i = 0; i < group->count; i++) {
		const u32 from = scenario_host(&group->from, i), to = scenario_host(&group->to, i);

		if (group->model) {
			struct tcp *tcp = &run->tcps[run->ntcps++];

			tcp_init(tcp, &run->network, group->model, from, to, run->ntcps);
			tcp_start(tcp, run_start_ns(run, group));
		} else {
			struct flow *flow = &run->flows[run->nflows++];

			flow_init(flow, &run->network, &group->flow, run->nflows - 1, from, to,
				  &run->result->groups[index].took);
			flow_start(flow, run_start_ns(run, group));
		}
	}
}

static void run_begin(struct run *run, u64 seed)
{
	const struct scenario *scenario = run->scenario;
	u32 flows = 0, tcps = 0;

	for (u32 i = 0; i < scenario->ngroups; i++)
		*(scenario->groups[i].model ? &tcps : &flows) += scenario->groups[i].count;
	network_init(&run->network, &scenario->network, flows + 1, seed);
	run->network.from_ns = scenario->from_ns;
	run->network.until_ns = scenario->until_ns;
	run->flows = memory_take(flows, sizeof(*run->flows));
	run->tcps = memory_take(tcps, sizeof(*run->tcps));
	run->network.flows = run->flows;
	for (u32 i = 0; i < scenario->ngroups; i++)
		run_make_group(run, i);
}

static void run_finish(struct run *run)
{
	for (u32 i = 0; i < run->nflows; i++)
		flow_end(&run->flows[i]);
	for (u32 i = 0; i < run->ntcps; i++)
		tcp_end(&run->tcps[i]);
	network_end(&run->network);
	free(run->flows);
	free(run->tcps);
}

/* ---- Measuring ---- */

static void run_count_anew(struct run *run)
{
	network_count_anew(&run->network);
	for (u32 i = 0; i < run->nflows; i++)
		meter_count_anew(&run->flows[i].meter, run->network.events.now_ns);
	for (u32 i = 0; i < run->ntcps; i++)
		meter_count_anew(&run->tcps[i].meter, run->network.events.now_ns);
}

static void run_note_ports(struct run *run)
{
	struct run_result *result = run->result;

	for (u32 i = 0; i < run->network.nswitches; i++) {
		const struct network_switch *sw = &run->network.switches[i];

		for (u32 port = 0; port < sw->nports; port++) {
			const double mean = port_mean_queue(&sw->ports[port], run->scenario->from_ns);

			result->queue_mean = fmax(result->queue_mean, mean);
			if (sw->ports[port].most > result->queue_most)
				result->queue_most = sw->ports[port].most;
		}
	}
	for (u32 kind = 0; kind < PACKET_KINDS; kind++) {
		const struct port_counts counts = network_counts(&run->network, kind);

		result->counts[kind].packets += counts.packets;
		result->counts[kind].dropped += counts.dropped;
		result->counts[kind].lost += counts.lost;
		result->counts[kind].marked += counts.marked;
	}
}

static void run_note_meters(struct run *run)
{
	const u64 now_ns = run->network.events.now_ns;
	u32 flow = 0, tcp = 0;

	for (u32 i = 0; i < run->scenario->ngroups; i++) {
		const struct scenario_group *group = &run->scenario->groups[i];
		struct run_group *sum = &run->result->groups[i];
		double least = HUGE_VAL, most = 0;

		for (u32 n = 0; n < group->count; n++) {
			const struct meter *meter = group->model ? &run->tcps[tcp++].meter :
						    &run->flows[flow++].meter;
			const u64 starved_ns = meter_starved_ns(meter, now_ns);

			sum->bytes += meter->bytes;
			least = fmin(least, (double)meter->bytes);
			most = fmax(most, (double)meter->bytes);
			if (starved_ns > sum->starved_ns)
				sum->starved_ns = starved_ns;
		}
		least = most > 0 ? least / most : 0;
		if (!run->result->runs || least < sum->fairness)
			sum->fairness = least;
	}
}

static void run_note_flows(struct run *run)
{
	u32 flow = 0, tcp = 0;

	for (u32 i = 0; i < run->scenario->ngroups; i++) {
		const struct scenario_group *group = &run->scenario->groups[i];
		struct run_group *sum = &run->result->groups[i];

		for (u32 n = 0; n < group->count && !group->model; n++, flow++) {
			sum->completed += run->flows[flow].completed;
			sum->failed += run->flows[flow].failed;
			sum->sent += run->flows[flow].tx.packets_sent;
			sum->resent += run->flows[flow].tx.packets_resent;
			sum->timeouts += run->flows[flow].timeouts;
		}
		for (u32 n = 0; n < group->count && group->model; n++, tcp++) {
			sum->sent += run->tcps[tcp].sendings;
			sum->resent += run->tcps[tcp].sendings - run->tcps[tcp].next;
			sum->timeouts += run->tcps[tcp].timeouts;
		}
	}
}

/* ---- The run ---- */

static bool run_is_idle(const struct run *run)
{
	for (u32 i = 0; i < run->nflows; i++)
		if (!vqp_tx_idle(&run->flows[i].tx))
			return false;
	return true;
}

/* Messages that are under way finish; connections of TCP go on, of which nothing is told. */
static void run_drain(struct run *run)
{
	struct events *events = &run->network.events;
	const u64 until_ns = events->now_ns + DRAIN_NS;

	while (!run_is_idle(run) && events->now_ns < until_ns)
		events_run(events, events->now_ns + 1000000);
}

void run_scenario(const struct scenario *scenario, u64 seed, struct run_result *result,
		  run_progress_fn *progress, void *arg)
{
	const u64 length_ns = scenario->until_ns - scenario->from_ns;
	struct run run = { .scenario = scenario, .result = result };

	run_begin(&run, seed);
	events_run(&run.network.events, scenario->from_ns);
	run_count_anew(&run);
	for (u32 i = 1; i <= STEPS; i++) {
		events_run(&run.network.events, scenario->from_ns + length_ns * i / STEPS);
		if (progress)
			progress(arg, (double)i / STEPS);
	}
	run_note_ports(&run);
	run_note_meters(&run);
	run_drain(&run);
	run_note_flows(&run);
	result->runs++;
	run_finish(&run);
}

void run_end(struct run_result *result)
{
	for (u32 i = 0; i < SCENARIO_GROUPS_MAX; i++)
		samples_end(&result->groups[i].took);
	*result = (struct run_result){ 0 };
}
