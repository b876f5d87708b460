/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "containerd.h"
#include "containerd_config.h"
#include "handler.h"
#include "toml.h"
#include "toml_block.h"

#define IMPORT_NAME	"50-vqp.toml"
#define USUAL_IMPORT	"conf.d/*.toml"
#define FIRST_LINES	"version = 2\n"

static const char *first_lines(const struct ctl_site *site)
{
	return ctl_containerd_is_template(site) ? CTL_CONTAINERD_BASE_TEMPLATE "\n" : FIRST_LINES;
}

/* Refuses a file by which containerd does not serve Kubernetes. */
static int check_disabled(const json_t *json, struct vqp_error *error)
{
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(json, "disabled_plugins"), i, name)
		for (int version = 1; version <= CTL_CONTAINERD_VERSION_MAX; version++)
			if (json_is_string(name) && !strcmp(json_string_value(name), ctl_containerd_plugins[version]))
				return vqp_error_set(error, -EINVAL, "\"disabled_plugins\" has %s, without which there are "
						     "no handlers: take that out first", ctl_containerd_plugins[version]);
	return 0;
}

/* ---- The handler ---- */

/*
 * Returns the runtimes that a file lacks which says `file`: vqp and, if it has none yet, the one
 * that vqp stands in for. Up to containerd 1.7 a file that names a runtime has to name all, because
 * containerd's own does not count then.
 */
static json_t *lacking(const struct ctl_site *site, const json_t *file, struct vqp_error *error)
{
	int version = ctl_containerd_version(file);
	const char *name;
	json_t *runtimes = json_object();
	json_auto_t *base = ctl_containerd_base(site, file, &name);

	if (ctl_site_starts(site, name, ctl_containerd_binary(base), error)) {
		json_decref(runtimes);
		return NULL;
	}
	if (version < 3 && !json_object_size(json_object_get(ctl_containerd_part(file), "runtimes")))
		json_object_set(runtimes, name, base);
	if (!json_object_set_new(runtimes, CTL_HANDLER, ctl_containerd_vqp(site, base)))
		return runtimes;
	json_decref(runtimes);
	vqp_error_set(error, -ENOMEM, "out of memory");
	return NULL;
}

/* Returns lines that say these runtimes, behind `beginning`; NULL without memory. */
static char *runtime_lines(int version, const char *beginning, const json_t *runtimes)
{
	char *lines = strdup(beginning);
	const char *name;
	json_t *table;

	json_object_foreach((json_t *)runtimes, name, table) {
		cleanup_free char *parent = NULL, *said = NULL, *former = lines;

		if (!lines || asprintf(&parent, "plugins.\"%s\".containerd.runtimes", ctl_containerd_plugins[version]) < 0) {
			parent = NULL;
			return NULL;
		}
		said = ctl_toml_print(parent, name, table);
		if (!said || asprintf(&lines, "%s%s", former, said) < 0)
			return NULL;
	}
	return lines;
}

/* ---- The file ---- */

/* Is there something in the way of a handler? */
static int examine(const struct ctl_site *site, const json_t *file, bool has_ours, struct vqp_error *error)
{
	int version = ctl_containerd_version(file), ret;

	if (!version)
		return vqp_error_set(error, -EINVAL, "its version is not 1, 2 or 3, which are those that vqpctl can write");
	ret = check_disabled(site->shown ? site->shown : file, error);
	if (ret)
		return ret;
	if (json_object_get(json_object_get(ctl_containerd_part(file), "runtimes"), CTL_HANDLER))
		return vqp_error_set(error, -EEXIST, "it has a runtime vqp that somebody else wrote: take that out first");
	if (!has_ours && json_object_get(json_object_get(ctl_containerd_part(site->shown), "runtimes"), CTL_HANDLER))
		return vqp_error_set(error, -EEXIST, "a file that it imports has a runtime vqp that somebody else wrote: "
				     "take that out first");
	return 0;
}

/* Does the text begin with a comment which says that a program writes it anew? */
static bool is_generated(const char *text)
{
	while (*text == '#' || *text == '\n') {
		const char *end = strchrnul(text, '\n'), *says = strstr(text, "DO NOT EDIT");

		if (says && says < end)
			return true;
		text = *end ? end + 1 : end;
	}
	return false;
}

/* Does the text `after` say what `file` does, and these runtimes besides? */
static int check_added(const struct ctl_site *site, const json_t *file, const json_t *runtimes, const char *after,
		       struct vqp_error *error)
{
	json_auto_t *said = ctl_containerd_parse(site, after, error), *expected = json_deep_copy(file);
	int version = ctl_containerd_version(file);
	json_t *part = ctl_handler_reach(ctl_handler_reach(expected, "plugins"), ctl_containerd_plugins[version]);

	if (!said)
		return vqp_error_add_context(error, "nothing can be added at its end");
	if (!json_object_size(file))
		json_object_set_new(expected, "version", json_integer(version));
	part = ctl_handler_reach(ctl_handler_reach(part, "containerd"), "runtimes");
	if (json_object_update(part, (json_t *)runtimes) || !json_equal(said, expected))
		return vqp_error_set(error, -EINVAL, "what is added at its end would not be understood as runtimes");
	return 0;
}

static int add(const struct ctl_edit *edit, const char *rest, char **after, struct vqp_error *error)
{
	json_auto_t *file = ctl_containerd_parse(edit->site, rest, error), *runtimes = NULL;
	cleanup_free char *lines = NULL;
	bool has_ours = ctl_toml_block_is_in(edit->before), has_import;
	char import[PATH_MAX];
	int ret;

	if (!file)
		return error->code;
	has_import = ctl_containerd_import(edit->site, import);
	ret = examine(edit->site, file, has_ours || has_import, error);
	if (ret)
		return ret;
	if (edit->before && !has_ours && has_import) {
		*after = strdup(edit->before);
		return *after ? 0 : -ENOMEM;
	}
	if (is_generated(rest))
		return vqp_error_set(error, -EINVAL, "it is written anew by a program, and would lose the runtime: k3s and RKE2 "
				     "take a template, --config %s.tmpl", edit->site->config);
	runtimes = lacking(edit->site, file, error);
	if (!runtimes)
		return error->code;
	lines = runtime_lines(ctl_containerd_version(file), json_object_size(file) ? "" : FIRST_LINES, runtimes);
	if (!lines)
		return -ENOMEM;
	ret = ctl_toml_block_add(edit->before, first_lines(edit->site), lines, after, error);
	return ret ? ret : check_added(edit->site, file, runtimes, *after, error);
}

/* A node whose containers are all to be vqp's would have no runtime. */
static int check_default(const struct ctl_site *site, const char *text, struct vqp_error *error)
{
	cleanup_error struct vqp_error ignored = { 0 };
	json_auto_t *file = text ? ctl_containerd_parse(site, text, &ignored) : NULL;
	const char *name = json_string_value(json_object_get(ctl_containerd_part(file), "default_runtime_name"));

	if (!name || strcmp(name, CTL_HANDLER))
		return 0;
	return vqp_error_set(error, -EBUSY, "\"default_runtime_name\" is " CTL_HANDLER ": name another, or take it out, first");
}

/* Has a removal left a runtime that is vqp's, because the lines that mark it are not there any more? */
static int check_removed(const struct ctl_site *site, const char *text, struct vqp_error *error)
{
	cleanup_error struct vqp_error ignored = { 0 };
	json_auto_t *file = text ? ctl_containerd_parse(site, text, &ignored) : NULL;
	const char *binary = ctl_containerd_binary(json_object_get(json_object_get(ctl_containerd_part(file), "runtimes"), CTL_HANDLER));
	const char *name = binary ? strrchr(binary, '/') : NULL;

	if (!name || strcmp(name, "/vqp-runtime"))
		return 0;
	return vqp_error_set(error, -EEXIST, "its runtime " CTL_HANDLER " starts %s, and is not between the lines that configure "
			     "writes: take it out by hand", binary);
}

int ctl_containerd_edit(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	const char *start = first_lines(edit->site);
	cleanup_free char *rest = NULL;
	int ret;

	*after = NULL;
	if (edit->remove) {
		ret = check_default(edit->site, edit->before, error);
		if (!ret)
			ret = ctl_toml_block_remove(edit->before, edit->backup, start, after, error);
		if (!ret)
			ret = check_removed(edit->site, *after, error);
	} else {
		ret = ctl_toml_block_cut(edit->before ? edit->before : start, &rest, error);
		if (!ret)
			ret = add(edit, rest, after, error);
	}
	if (ret) {
		free(*after);
		*after = NULL;
	}
	return ret;
}

/* ---- A file that the main one imports ---- */

/* Finds the file of vqp in a directory that is imported as a whole; false if the pattern names none. */
static bool find_in(const struct ctl_site *site, const char *pattern, char path[PATH_MAX])
{
	const char *star = strrchr(pattern, '*');
	/* Of a relative path containerd takes the main file's directory. */
	int directory = *pattern == '/' ? 0 : (int)(strrchr(site->config, '/') + 1 - site->config);

	return star && star > pattern && star[-1] == '/' && !strcmp(star, "*.toml") && star == strpbrk(pattern, "*?[") &&
	       snprintf(path, PATH_MAX, "%.*s%.*s" IMPORT_NAME, directory, site->config, (int)(star - pattern), pattern) < PATH_MAX;
}

/* Finds the place in the directories that the main file imports; false behind the last one. */
static bool find_imported(const struct ctl_site *site, const json_t *file, unsigned int place, char path[PATH_MAX])
{
	const json_t *pattern;
	size_t i;

	json_array_foreach(json_object_get(file, "imports"), i, pattern)
		if (json_is_string(pattern) && find_in(site, json_string_value(pattern), path) && !place--)
			return true;
	return false;
}

bool ctl_containerd_import(const struct ctl_site *site, char path[PATH_MAX])
{
	cleanup_error struct vqp_error ignored = { 0 };
	json_auto_t *file = site->main ? ctl_containerd_parse(site, site->main, &ignored) : NULL;

	return ctl_containerd_version(file) == 3 && find_imported(site, file, 0, path);
}

bool ctl_containerd_former(const struct ctl_site *site, unsigned int place, char path[PATH_MAX])
{
	cleanup_error struct vqp_error ignored = { 0 };
	json_auto_t *file = site->main ? ctl_containerd_parse(site, site->main, &ignored) : NULL;

	return place ? find_imported(site, file, place - 1, path) : find_in(site, USUAL_IMPORT, path);
}

int ctl_containerd_edit_import(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	json_auto_t *file = NULL, *runtimes = NULL;
	bool added = json_object_get(json_object_get(ctl_containerd_part(edit->site->shown), "runtimes"), CTL_HANDLER);

	*after = NULL;
	/* A main file that was configured before it imported a directory keeps its own lines. */
	if (edit->remove || ctl_toml_block_is_in(edit->site->main))
		return 0;
	if (!edit->before && added)
		return vqp_error_set(error, -EEXIST, "there is a runtime vqp that somebody else wrote: take that out first");
	file = ctl_containerd_parse(edit->site, edit->site->main, error);
	runtimes = file ? lacking(edit->site, file, error) : NULL;
	if (!runtimes)
		return error->code;
	*after = runtime_lines(3, CTL_WRITTEN_BY " containerd\nversion = 3\n", runtimes);
	return *after ? 0 : -ENOMEM;
}
