// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <math.h>
#include "memory.h"
#include "run.h"

/* The payload of full packets, of what they take on the wire; headers of a WRITE. */
#define PAYLOAD_SHARE_VQP	(3952.0 / (3952 + 28 + 16 + 90))
#define PAYLOAD_SHARE_TCP	((double)TCP_MSS / (TCP_MSS + TCP_OVERHEAD))

static double report_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* To six significant digits, which are easy to read and to compare. */
static json_t *report_number(double value)
{
	const double digits = value != 0 ? pow(10, 5 - floor(log10(fabs(value)))) : 1;
	json_t *number = json_real(round(value * digits) / digits);

	memory_check(number);
	return number;
}

/*
 * The time in which the messages of all flows would come that are under way to one host, if its
 * link brought nothing but their payload. READs bring it to the host where they begin.
 */
static double report_ideal_us(const struct scenario *scenario, const struct scenario_group *group)
{
	const struct scenario_hosts *hosts = group->flow.op == VQP_OP_READ ? &group->from : &group->to;
	double *bytes = memory_take(scenario->network.hosts, sizeof(*bytes));
	double most = 0;

	for (u32 i = 0; i < group->count; i++) {
		double *of_host = &bytes[scenario_host(hosts, i)];

		*of_host += (double)group->flow.bytes * group->flow.depth;
		most = fmax(most, *of_host);
	}
	free(bytes);
	return most * 8 / (double)scenario->network.host_link.mbps;
}

static json_t *report_group(const struct scenario *scenario, u32 index, struct run_result *result)
{
	const struct scenario_group *group = &scenario->groups[index];
	struct run_group *sum = &result->groups[index];
	const double seconds = (double)(scenario->until_ns - scenario->from_ns) / 1e9 * result->runs;
	const double mbps = report_share((double)sum->bytes * 8 / 1e6, seconds);
	const double line = (double)scenario->network.host_link.mbps *
			    (group->model ? PAYLOAD_SHARE_TCP : PAYLOAD_SHARE_VQP);
	json_t *json = json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:I}",
		"name", group->name, "kind", group->kind, "flows", (json_int_t)group->count,
		"fairness", report_number(sum->fairness),
		"starved_ms", report_number((double)sum->starved_ns / 1e6),
		"resent_share", report_number(report_share((double)sum->resent, (double)sum->sent)),
		"timeouts", (json_int_t)sum->timeouts);

	memory_check(json);
	/* Flows whose messages are counted have no goodput: they end before the time does. */
	if (!group->flow.messages) {
		json_object_set_new(json, "goodput_mbps", report_number(mbps));
		json_object_set_new(json, "line_share", report_number(mbps / line));
	}
	if (group->model)
		return json;
	json_object_set_new(json, "completed", json_integer((json_int_t)sum->completed));
	json_object_set_new(json, "failed", json_integer((json_int_t)sum->failed));
	json_object_set_new(json, "ideal_us", report_number(report_ideal_us(scenario, group)));
	json_object_set_new(json, "p50_us",
			    report_number((double)samples_percentile(&sum->took, 50) / 1e3));
	json_object_set_new(json, "p99_us",
			    report_number((double)samples_percentile(&sum->took, 99) / 1e3));
	json_object_set_new(json, "max_us",
			    report_number((double)samples_percentile(&sum->took, 100) / 1e3));
	return json;
}

static json_t *report_packets(const struct port_counts *counts)
{
	const double packets = (double)counts->packets;
	json_t *json = json_pack("{s:I, s:o, s:o, s:o}", "packets", (json_int_t)counts->packets,
		"drop_share", report_number(report_share((double)counts->dropped, packets)),
		"lost_share", report_number(report_share((double)counts->lost, packets)),
		"marked_share", report_number(report_share((double)counts->marked, packets)));

	memory_check(json);
	return json;
}

/* What TCP had of all that came through; -1 if it was alone, or not there. */
static double report_tcp_share(const struct scenario *scenario, const struct run_result *result)
{
	double bytes[2] = { 0 };
	bool there[2] = { false };

	for (u32 i = 0; i < scenario->ngroups; i++) {
		bytes[!!scenario->groups[i].model] += (double)result->groups[i].bytes;
		there[!!scenario->groups[i].model] = true;
	}
	return there[0] && there[1] ? report_share(bytes[1], bytes[0] + bytes[1]) : -1;
}

json_t *run_report(const struct scenario *scenario, struct run_result *result)
{
	const double tcp_share = report_tcp_share(scenario, result);
	json_t *aims = json_object_get(scenario->json, "aims"), *groups = json_array();
	json_t *json = json_pack("{s:s, s:O, s:I, s:o, s:o, s:o, s:o, s:I, s:o}",
		"name", scenario->name, "about", json_object_get(scenario->json, "about"),
		"seeds", (json_int_t)result->runs,
		"measured_ms", report_number((double)(scenario->until_ns - scenario->from_ns) / 1e6),
		"vqp", report_packets(&result->counts[PACKET_VQP]),
		"tcp", report_packets(&result->counts[PACKET_TCP]),
		"queue_mean", report_number(result->queue_mean),
		"queue_most", (json_int_t)result->queue_most, "groups", groups);

	memory_check(json);
	for (u32 i = 0; i < scenario->ngroups; i++)
		json_array_append_new(groups, report_group(scenario, i, result));
	if (tcp_share >= 0)
		json_object_set_new(json, "tcp_share", report_number(tcp_share));
	json_object_set_new(json, "aims", aims ? json_incref(aims) : json_array());
	return json;
}
