/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The daemons: their units, versions and answers; meta servers and announced addresses. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/client.h"
#include "../tls.h"
#include "ctl.h"
#include "doctor.h"
#include "program.h"

#define BUCKET_ENTRIES	7	/* kmod/engine/bucket.h */
#define NEARLY_FULL	0.75	/* Above this, entries have to be moved, and lookups cost more. */

/* ---- Units ---- */

/* Has the output of systemctl show this line? */
static bool says(const char *text, const char *line)
{
	const char *found = strstr(text, line);

	return found && (found == text || found[-1] == '\n') && strchr("\n", found[strlen(line)]);
}

void ctl_doctor_judge_unit(struct ctl_doctor *d, const char *unit, bool needed, const char *shown)
{
	bool active = says(shown, "ActiveState=active"), enabled = says(shown, "UnitFileState=enabled");
	char start[64], log[64], id[32];

	snprintf(id, sizeof(id), "unit.%s", unit);
	snprintf(start, sizeof(start), "systemctl enable --now %s", unit);
	snprintf(log, sizeof(log), "journalctl --unit %s", unit);
	if (says(shown, "ActiveState=failed") || says(shown, "SubState=auto-restart"))
		ctl_doctor_find(d, CTL_FAILS, id, NULL, log, "%s has failed", unit);
	else if (enabled && !active)
		ctl_doctor_find(d, CTL_FAILS, id, NULL, start, "%s is enabled, and does not run", unit);
	else if (active && !enabled)
		ctl_doctor_find(d, CTL_LIMITED, id, NULL, start, "%s runs, but the next boot will not start it", unit);
	else if (!active && needed)
		ctl_doctor_find(d, CTL_LIMITED, id, NULL, start, "%s is not enabled, or has no unit", unit);
	else
		ctl_doctor_find(d, CTL_OK, id, NULL, NULL, active ? "%s runs, and is enabled" : "%s is not used here", unit);
}

static void look_at_unit(struct ctl_doctor *d, const char *unit, bool needed)
{
	cleanup_free char *shown = NULL;

	if (!ctl_program_run((const char *const[]){ "systemctl", "show", "--property", "ActiveState,SubState,UnitFileState",
						    unit, NULL }, CTL_PROGRAM_LIMIT_MS, &shown, NULL))
		ctl_doctor_judge_unit(d, unit, needed, shown);
	else
		ctl_doctor_find(d, CTL_UNTRIED, "unit", unit, "systemctl status", "systemctl does not answer");
}

/* Compares the version of a program that is installed beside this one. */
static void look_at_program(struct ctl_doctor *d, const char *own_version, const char *name)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash + 1, name);
	if (access(path, X_OK)) {
		ctl_doctor_find(d, CTL_LIMITED, "version", name, "make install", "%s is not there", path);
		return;
	}
	if (ctl_program_run((const char *const[]){ path, "--version", NULL }, CTL_PROGRAM_LIMIT_MS, &text, NULL) || !text)
		ctl_doctor_find(d, CTL_UNTRIED, "version", name, "make install", "%s does not tell its version", path);
	else if (!strstr(text, own_version))
		ctl_doctor_find(d, CTL_LIMITED, "version", name, "make install; systemctl restart vqpd",
				"%s is \"%.*s\", and vqpctl is of %s", path, (int)strcspn(text, "\n"), text, own_version);
	else
		ctl_doctor_find(d, CTL_OK, "version", name, NULL, "%s", own_version);
}

void ctl_doctor_units(struct ctl_doctor *d)
{
	json_auto_t *versions = ctl_versions();
	char path[PATH_MAX];

	look_at_program(d, ctl_string(versions, "vqp"), "vqpd");
	look_at_program(d, ctl_string(versions, "vqp"), "vqp-metad");
	if (access(ctl_doctor_path(d, "/run/systemd/system", path), F_OK)) {
		ctl_doctor_find(d, CTL_UNTRIED, "unit", NULL, "have your init start vqpd, and vqp-metad on one to three nodes",
				"this machine's init is not systemd");
		return;
	}
	look_at_unit(d, "vqpd", true);
	look_at_unit(d, "vqp-metad", false);
}

/* ---- vqpd ---- */

static int ask_vqpd(const struct ctl_doctor *d, const char *op, json_t **answer, struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s}", "op", op);

	return vqpd_call(d->socket, request, -1, answer, error);
}

static json_t *key_of(const json_t *entry)
{
	return json_sprintf("%lld %s", (long long)json_integer_value(json_object_get(entry, "tenant")), ctl_string(entry, "gid"));
}

/* Adds the node of each entry to `nodes`, by tenant and address. */
static void note_nodes(const json_t *entries, json_t *nodes)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		json_auto_t *key = key_of(entry);

		json_object_set(nodes, json_string_value(key), json_object_get(entry, "node_gid"));
	}
}

static void look_at_room(struct ctl_doctor *d, const char *server, const json_t *hello, const json_t *entries)
{
	double room = (double)json_integer_value(json_object_get(hello, "buckets")) * BUCKET_ENTRIES;
	size_t used = json_array_size(entries);

	ctl_doctor_find(d, (double)used > room * NEARLY_FULL ? CTL_LIMITED : CTL_OK, "meta.room", server,
			"start vqp-metad with twice the --buckets (/etc/default/vqp-metad)",
			"%zu addresses in a table for %.0f", used, room);
}

static void look_at_server(struct ctl_doctor *d, const json_t *meta, json_t *nodes)
{
	json_auto_t *hello = NULL, *list = NULL;
	cleanup_error struct vqp_error error = { 0 };
	const char *server = ctl_string(meta, "server");

	if (ctl_meta_ask(server, "hello", &hello, &error) || ctl_meta_ask(server, "list", &list, &error)) {
		ctl_doctor_find(d, CTL_FAILS, "meta.answers", server, "there: systemctl status vqp-metad; from here: ping, and its port",
				"%s", vqp_error_text(&error));
		return;
	}
	if (json_is_true(json_object_get(meta, "up")))
		ctl_doctor_find(d, CTL_OK, "meta.answers", server, NULL, "the meta server answers");
	else
		ctl_doctor_find(d, CTL_FAILS, "meta.answers", server, "journalctl --unit vqpd", "the meta server answers, but not vqpd: %s",
				ctl_string(meta, "error"));
	look_at_room(d, server, hello, json_object_get(list, "entries"));
	note_nodes(json_object_get(list, "entries"), nodes);
}

/* Are this node's addresses announced, and as this node's? */
static void look_at_addresses(struct ctl_doctor *d, const json_t *own, const json_t *namespaces, const json_t *nodes)
{
	const json_t *namespace;
	size_t i, count = 0;

	if (!*ctl_string(own, "node_gid"))
		return;
	json_array_foreach(namespaces, i, namespace) {
		json_auto_t *key = key_of(namespace);
		const char *node = ctl_string(nodes, json_string_value(key));

		if (!json_integer_value(json_object_get(namespace, "tenant")))
			continue;
		count++;
		if (*node && strcmp(node, ctl_string(own, "node_gid")))
			ctl_doctor_find(d, CTL_FAILS, "address.taken", ctl_string(namespace, "gid"),
					"give one of the two another address; the newer one is found",
					"tenant %lld's address is announced by the node %s, too",
					(long long)json_integer_value(json_object_get(namespace, "tenant")), node);
		else if (!*node || !json_is_true(json_object_get(namespace, "published")))
			ctl_doctor_find(d, CTL_LIMITED, "address.announced", ctl_string(namespace, "gid"), "journalctl --unit vqpd",
					"no meta server knows tenant %lld's address yet",
					(long long)json_integer_value(json_object_get(namespace, "tenant")));
	}
	ctl_doctor_find(d, CTL_OK, "address.count", NULL, NULL, "%zu addresses of containers", count);
}

static void look_at_cluster(struct ctl_doctor *d, const json_t *status)
{
	const json_t *metas = json_object_get(status, "meta"), *meta;
	json_auto_t *list = NULL, *nodes = json_object();
	cleanup_error struct vqp_error error = { 0 };
	size_t i;

	json_array_foreach(metas, i, meta)
		look_at_server(d, meta, nodes);
	if (!json_array_size(metas))
		ctl_doctor_find(d, CTL_LIMITED, "meta.named", NULL, "VQPD_OPTIONS=\"--meta HOST\" in /etc/default/vqpd",
				"vqpd knows no meta server: containers of other nodes are not found");
	else if (!json_is_true(json_object_get(status, "meta_key")))
		ctl_doctor_find(d, CTL_LIMITED, "meta.key", VQP_TLS_KEY_FILE, "make one, copy it to all nodes, and start the daemons anew: README, \"On a real node\"",
				"vqpd has no key: whoever reaches a meta server can take over addresses");
	else
		ctl_doctor_find(d, CTL_OK, "meta.key", VQP_TLS_KEY_FILE, NULL, "meta servers are asked by TLS alone");
	/* Without an answer of a meta server, its absence is the finding. */
	if (json_object_size(nodes) && !ask_vqpd(d, "list", &list, &error))
		look_at_addresses(d, json_object_get(status, "node"), json_object_get(list, "namespaces"), nodes);
}

/* The finding policy.file is of what vqpctl reads; vqpd may be of another version, or be kept from the file. */
static void look_at_policy(struct ctl_doctor *d, const json_t *policy)
{
	const char *reason = ctl_string(policy, "error");

	if (*reason)
		ctl_doctor_find(d, CTL_FAILS, "policy.vqpd", NULL, "vqpctl policy check", "vqpd has no policy: %s", reason);
	else if (policy)
		ctl_doctor_find(d, CTL_OK, "policy.vqpd", NULL, NULL, "vqpd has read %s", ctl_string(policy, "file"));
}

void ctl_doctor_vqpd(struct ctl_doctor *d)
{
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *status = NULL;
	int ret = ask_vqpd(d, "status", &status, &error);

	if (ret) {
		ctl_doctor_find_error(d, ret == -EACCES ? CTL_UNTRIED : CTL_FAILS, "vqpd.answers", NULL, vqp_error_text(&error));
		return;
	}
	ctl_doctor_find(d, CTL_OK, "vqpd.answers", NULL, NULL, "vqpd answers");
	look_at_policy(d, json_object_get(status, "policy"));
	look_at_cluster(d, status);
}
