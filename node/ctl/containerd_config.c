/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "containerd_config.h"
#include "handler.h"
#include "toml.h"

#define ANNOTATIONS	"io.vqp.*"

const char *const ctl_containerd_plugins[] = {
	NULL, "cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime",
};

/* ---- What a configuration says ---- */

int ctl_containerd_version(const json_t *json)
{
	const json_t *version = json_object_get(json, "version");

	if (!version)
		return json_object_size(json) ? 1 : 2;
	if (!json_is_integer(version) || json_integer_value(version) < 1 || json_integer_value(version) > CTL_CONTAINERD_VERSION_MAX)
		return 0;
	return (int)json_integer_value(version);
}

bool ctl_containerd_is_newer(const json_t *json)
{
	return json_integer_value(json_object_get(json, "version")) > CTL_CONTAINERD_VERSION_MAX;
}

/*
 * Of a version that is not known yet the newest plugin counts that is there: containerd shows its
 * configuration in its newest version, whatever that of the file is.
 */
json_t *ctl_containerd_part(const json_t *json)
{
	const json_t *plugins = json_object_get(json, "plugins");
	int version = ctl_containerd_version(json);

	if (ctl_containerd_is_newer(json))
		for (version = CTL_CONTAINERD_VERSION_MAX; version && !json_object_get(plugins, ctl_containerd_plugins[version]);)
			version--;
	return version ? json_object_get(json_object_get(plugins, ctl_containerd_plugins[version]), "containerd") : NULL;
}

static const char *default_name(const json_t *part)
{
	const char *name = json_string_value(json_object_get(part, "default_runtime_name"));

	return name && *name && strcmp(name, CTL_HANDLER) ? name : "runc";
}

static bool starts_runc(const json_t *runtime)
{
	const char *type = json_string_value(json_object_get(runtime, "runtime_type"));

	return type && !strncmp(type, "io.containerd.runc.", strlen("io.containerd.runc."));
}

/* ---- The handler ---- */

/*
 * Returns what is set in a table of runtimes or of one. containerd names a sandboxer for its own
 * runc that is also taken where none is named.
 */
json_t *ctl_containerd_what_is_set(const json_t *table)
{
	static const char *const keys[] = { "sandbox_mode", "sandboxer" };
	json_t *set = ctl_handler_what_is_set(table), *value;
	const char *name;

	for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *mode = json_string_value(json_object_get(set, keys[i]));

		if (mode && !strcmp(mode, "podsandbox"))
			json_object_del(set, keys[i]);
	}
	json_object_foreach(set, name, value)
		if (json_is_object(value))
			json_object_set_new_nocheck(set, name, ctl_containerd_what_is_set(value));
	return set;
}

/*
 * Returns the table of the runtime that vqp stands in for, without what is not set: the default one
 * or, if that does not start runc or the like, runc. *name is its name.
 */
json_t *ctl_containerd_base(const struct ctl_site *site, const json_t *file, const char **name)
{
	const json_t *known = site->shown ? site->shown : file, *part, *table;
	json_t *set;

	part = ctl_containerd_part(known);
	*name = default_name(part);
	table = json_object_get(json_object_get(part, "runtimes"), *name);
	if (!starts_runc(table)) {
		*name = "runc";
		table = json_object_get(json_object_get(part, "runtimes"), *name);
	}
	set = starts_runc(table) ? ctl_containerd_what_is_set(table) : json_object();
	if (!json_object_get(set, "runtime_type"))
		json_object_set_new(set, "runtime_type", json_string("io.containerd.runc.v2"));
	return set;
}

const char *ctl_containerd_binary(const json_t *runtime)
{
	return json_string_value(json_object_get(json_object_get(runtime, "options"), "BinaryName"));
}

/* Makes the table of vqp of that of the runtime which it stands in for. */
json_t *ctl_containerd_vqp(const struct ctl_site *site, const json_t *base)
{
	json_t *table = json_deep_copy(base), *options = json_object_get(table, "options"), *annotations = json_object_get(table, "pod_annotations");
	bool failed = !table;

	if (!options && !json_object_set_new(table, "options", json_object()))
		options = json_object_get(table, "options");
	failed |= json_object_set_new(options, "BinaryName", json_string(site->programs.runtime));
	if (!annotations && !json_object_set_new(table, "pod_annotations", json_array()))
		annotations = json_object_get(table, "pod_annotations");
	if (!ctl_handler_lists(annotations, ANNOTATIONS))
		failed |= json_array_append_new(annotations, json_string(ANNOTATIONS));
	if (!failed)
		return table;
	json_decref(table);
	return NULL;
}

/* ---- Templates ---- */

bool ctl_containerd_is_template(const struct ctl_site *site)
{
	size_t length = strlen(site->config);

	return length > 5 && !strcmp(site->config + length - 5, ".tmpl");
}

/*
 * Returns the text as containerd reads it: a template has what was generated of it in place of the
 * line that stands for that.
 */
char *ctl_containerd_as_read(const struct ctl_site *site, const char *text, struct vqp_error *error)
{
	const char *base = strstr(text, CTL_CONTAINERD_BASE_TEMPLATE);
	char *read = NULL;

	if (!ctl_containerd_is_template(site))
		return strdup(text);
	if (!site->generated || !base || strstr(base + 1, "{{") || strstr(text, "{{") != base) {
		vqp_error_set(error, -EINVAL, "a template is understood if it has one action, " CTL_CONTAINERD_BASE_TEMPLATE);
		return NULL;
	}
	if (asprintf(&read, "%.*s%s%s", (int)(base - text), text, site->generated, base + strlen(CTL_CONTAINERD_BASE_TEMPLATE)) >= 0)
		return read;
	vqp_error_set(error, -ENOMEM, "out of memory");
	return NULL;
}

json_t *ctl_containerd_parse(const struct ctl_site *site, const char *text, struct vqp_error *error)
{
	cleanup_free char *read = ctl_containerd_as_read(site, text, error);

	return read ? ctl_toml_parse(read, error) : NULL;
}
