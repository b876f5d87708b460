// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <libgen.h>
#include <stdarg.h>
#include <string.h>
#include "memory.h"
#include "scenario.h"

#define HOSTS_MAX	1024
#define FLOWS_MAX	4096
#define SECOND_NS	1000000000ULL

/*
 * What a file need not say: links of a data centre, with what NIC and switch take of a packet's
 * time; processors that are good for the link; and the ticks of Debian's kernels.
 */
static const struct network_cfg scenario_network = {
	.leaves = 1, .paths = 4,
	.host_link = { .mbps = 100000, .delay_ns = 2000, .limit = 512 },
	.path_link = { .mbps = 100000, .delay_ns = 2000, .limit = 512 },
	.buffer_share = 1,
	.host = {
		.service_ns = 100, .jitter_ns = 2000, .stall_every_ns = 10000000,
		.stall_ns = 50000, .tick_ns = 4000000,
	},
};

__attribute__((format(printf, 2, 3)))
static bool scenario_fail(char **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		abort();
	va_end(args);
	return false;
}

/* json_unpack_ex() has said why. */
static bool scenario_fail_json(char **error, const char *where, const json_error_t *json)
{
	return scenario_fail(error, "%s: %s", where, json->text);
}

/* ---- The network ---- */

static bool scenario_check_network(const struct network_cfg *cfg, char **error)
{
	if (cfg->hosts < 2 || cfg->hosts > HOSTS_MAX)
		return scenario_fail(error, "network: hosts is not from 2 to %d", HOSTS_MAX);
	if (cfg->leaves < 1 || cfg->leaves > 2)
		return scenario_fail(error, "network: leaves is neither 1 nor 2");
	if (cfg->paths < 1 || cfg->paths > 64)
		return scenario_fail(error, "network: paths is not from 1 to 64");
	if (!(cfg->grey_loss >= 0 && cfg->grey_loss <= 1))
		return scenario_fail(error, "network: grey_loss is not from 0 to 1");
	if (cfg->host_link.mbps < 1 || cfg->host_link.mbps > 1000000)
		return scenario_fail(error, "network: mbps is not from 1 to 1000000");
	if (!(cfg->buffer_share > 0))
		return scenario_fail(error, "network: buffer_share is not above 0");
	return true;
}

static bool scenario_unpack_network(struct network_cfg *cfg, json_t *json, char **error)
{
	json_int_t mbps = (json_int_t)cfg->host_link.mbps;
	json_int_t delay_ns = (json_int_t)cfg->host_link.delay_ns;
	int limit = (int)cfg->host_link.limit, mark_from = 0;
	int hosts, leaves = (int)cfg->leaves, paths = (int)cfg->paths, buffer = 0;
	json_error_t why;

	if (json_unpack_ex(json, &why, 0, "{s:i, s?i, s?i, s?I, s?I, s?i, s?i, s?i, s?F, s?F !}",
			   "hosts", &hosts, "leaves", &leaves, "paths", &paths, "mbps", &mbps,
			   "delay_ns", &delay_ns, "queue_packets", &limit, "mark_from", &mark_from,
			   "buffer_packets", &buffer, "buffer_share", &cfg->buffer_share,
			   "grey_loss", &cfg->grey_loss))
		return scenario_fail_json(error, "network", &why);
	if (delay_ns < 0 || limit < 0 || mark_from < 0 || buffer < 0 || mbps < 0)
		return scenario_fail(error, "network: a number is negative");
	cfg->hosts = (u32)hosts;
	cfg->leaves = (u32)leaves;
	cfg->paths = (u32)paths;
	cfg->buffer_packets = (u32)buffer;
	cfg->host_link.mbps = (u64)mbps;
	cfg->host_link.delay_ns = (u64)delay_ns;
	cfg->host_link.limit = (u32)limit;
	cfg->host_link.mark_from = (u32)mark_from;
	cfg->path_link = cfg->host_link;
	return scenario_check_network(cfg, error);
}

static bool scenario_unpack_host(struct host_cfg *cfg, json_t *json, char **error)
{
	struct {
		const char *name;
		u64 *value;
	} values[] = {
		{ "service_ns", &cfg->service_ns }, { "jitter_ns", &cfg->jitter_ns },
		{ "stall_every_ns", &cfg->stall_every_ns }, { "stall_ns", &cfg->stall_ns },
		{ "tick_ns", &cfg->tick_ns },
	};
	const char *key;
	json_t *value;

	json_object_foreach(json, key, value) {
		size_t i = 0;

		while (i < sizeof(values) / sizeof(*values) && strcmp(values[i].name, key) != 0)
			i++;
		if (i == sizeof(values) / sizeof(*values))
			return scenario_fail(error, "host: no such thing as %s", key);
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return scenario_fail(error, "host: %s is no number of nanoseconds", key);
		*values[i].value = (u64)json_integer_value(value);
	}
	return true;
}

/* ---- Groups ---- */

static const struct tcp_model *scenario_model(const char *kind)
{
	const struct tcp_model *models[] = { &tcp_reno, &tcp_cubic, &tcp_dctcp };

	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (!strcmp(models[i]->name, kind))
			return models[i];
	return NULL;
}

static u8 scenario_op(const char *kind)
{
	if (!strcmp(kind, "write"))
		return VQP_OP_WRITE;
	if (!strcmp(kind, "read"))
		return VQP_OP_READ;
	return !strcmp(kind, "send") ? VQP_OP_SEND : 0;
}

static bool scenario_check_hosts(const struct scenario *scenario, const char *group, int first,
				 int last, struct scenario_hosts *hosts, char **error)
{
	if (first < 0 || first > last || (u32)last >= scenario->network.hosts)
		return scenario_fail(error, "group %s: no hosts from %d to %d", group, first, last);
	*hosts = (struct scenario_hosts){ (u32)first, (u32)last };
	return true;
}

static bool scenario_check_group(struct scenario_group *group, char **error)
{
	const bool vqp = !group->model;

	if (vqp && !group->flow.op)
		return scenario_fail(error, "group %s: %s is no kind of flow", group->name, group->kind);
	if (vqp && (!group->flow.bytes || group->flow.bytes > VQP_WIRE_MSG_MAX))
		return scenario_fail(error, "group %s: bytes is not from 1 to %u", group->name,
				     VQP_WIRE_MSG_MAX);
	if (vqp && (!group->flow.depth || group->flow.depth > 256))
		return scenario_fail(error, "group %s: depth is not from 1 to 256", group->name);
	if (!group->count || group->count > FLOWS_MAX)
		return scenario_fail(error, "group %s: flows is not from 1 to %d", group->name, FLOWS_MAX);
	for (u32 i = 0; i < group->count; i++)
		if (scenario_host(&group->from, i) == scenario_host(&group->to, i))
			return scenario_fail(error, "group %s: flow %u leads from host %u to itself",
					     group->name, i, scenario_host(&group->from, i));
	return true;
}

static bool scenario_unpack_group(struct scenario *scenario, json_t *json, char **error)
{
	struct scenario_group *group = &scenario->groups[scenario->ngroups];
	int flows = 1, bytes = 0, depth = 1, messages = 0, pause_us = 0, start_us = 10;
	int from[2], to[2];
	json_error_t why;

	if (json_unpack_ex(json, &why, 0, "{s:s, s:s, s?i, s?i, s?i, s?i, s?i, s?i, s:[ii!], s:[ii!] !}",
			   "name", &group->name, "kind", &group->kind, "flows", &flows,
			   "bytes", &bytes, "depth", &depth, "messages", &messages,
			   "pause_us", &pause_us, "start_us", &start_us, "from", &from[0], &from[1],
			   "to", &to[0], &to[1]))
		return scenario_fail_json(error, "a group", &why);
	if (flows < 0 || bytes < 0 || depth < 0 || messages < 0 || pause_us < 0 || start_us < 1)
		return scenario_fail(error, "group %s: a number is too small", group->name);
	group->model = scenario_model(group->kind);
	group->flow = (struct flow_cfg) {
		.op = scenario_op(group->kind), .bytes = (u32)bytes, .depth = (u32)depth,
		.pause_ns = (u64)pause_us * 1000, .messages = (u32)messages,
	};
	group->count = (u32)flows;
	group->start_ns = (u64)start_us * 1000;
	if (!scenario_check_hosts(scenario, group->name, from[0], from[1], &group->from, error) ||
	    !scenario_check_hosts(scenario, group->name, to[0], to[1], &group->to, error) ||
	    !scenario_check_group(group, error))
		return false;
	scenario->ngroups++;
	return true;
}

/* ---- The file ---- */

static bool scenario_unpack(struct scenario *scenario, char **error)
{
	json_t *network, *host = NULL, *groups, *aims = NULL, *group;
	int seeds = 1, duration_us, from_us = 0;
	const char *about;
	json_error_t why;
	size_t i;

	if (json_unpack_ex(scenario->json, &why, 0, "{s:s, s?i, s:i, s?i, s:o, s?o, s:o, s?o !}",
			   "about", &about, "seeds", &seeds, "duration_us", &duration_us,
			   "from_us", &from_us, "network", &network, "host", &host,
			   "groups", &groups, "aims", &aims))
		return scenario_fail_json(error, "the scenario", &why);
	if (seeds < 1 || from_us < 0 || duration_us <= from_us)
		return scenario_fail(error, "seeds, from_us or duration_us is too small");
	if (!json_is_array(groups) || !json_array_size(groups) ||
	    json_array_size(groups) > SCENARIO_GROUPS_MAX)
		return scenario_fail(error, "groups is no array of 1 to %d", SCENARIO_GROUPS_MAX);
	scenario->seeds = (u32)seeds;
	scenario->from_ns = (u64)from_us * 1000;
	scenario->until_ns = (u64)duration_us * 1000;
	scenario->network = scenario_network;
	if (!scenario_unpack_network(&scenario->network, network, error) ||
	    (host && !scenario_unpack_host(&scenario->network.host, host, error)))
		return false;
	json_array_foreach(groups, i, group)
		if (!scenario_unpack_group(scenario, group, error))
			return false;
	return true;
}

/* Unpack what was read. If it could not be, `why` says so. */
static bool scenario_take(struct scenario *scenario, json_t *json, const json_error_t *why,
			  char **error)
{
	char *text = NULL;
	bool ok;

	scenario->json = json;
	if (!json)
		return scenario_fail(error, "%s: line %d: %s", scenario->name, why->line, why->text);
	ok = scenario_unpack(scenario, &text);
	if (!ok)
		scenario_fail(error, "%s: %s", scenario->name, text);
	free(text);
	return ok;
}

bool scenario_parse(struct scenario *scenario, const char *name, const char *text, char **error)
{
	json_error_t why;

	*scenario = (struct scenario){ .name = strdup(name) };
	memory_check(scenario->name);
	return scenario_take(scenario, json_loads(text, JSON_REJECT_DUPLICATES, &why), &why, error);
}

bool scenario_read(struct scenario *scenario, const char *path, char **error)
{
	char *copy = strdup(path), *end;
	json_error_t why;

	memory_check(copy);
	*scenario = (struct scenario){ .name = strdup(basename(copy)) };
	memory_check(scenario->name);
	free(copy);
	end = strrchr(scenario->name, '.');
	if (end)
		*end = '\0';
	return scenario_take(scenario, json_load_file(path, JSON_REJECT_DUPLICATES, &why), &why,
			     error);
}

void scenario_end(struct scenario *scenario)
{
	json_decref(scenario->json);
	free(scenario->name);
}
