/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "crio.h"
#include "file.h"
#include "handler.h"
#include "program.h"
#include "toml.h"

#define OWN_NAME	"50-vqp.conf"

static json_t *runtime_part(const json_t *json)
{
	return json_object_get(json_object_get(json, "crio"), "runtime");
}

/* ---- What the files say ---- */

static int read_file(const char *path, json_t *shown, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	json_auto_t *file = NULL;
	json_t *part, *into = ctl_handler_reach(ctl_handler_reach(shown, "crio"), "runtime");
	int ret = ctl_file_read(path, &text);

	if (ret)
		return vqp_error_set(error, ret, "cannot read %s: %s", path, strerror(-ret));
	file = text ? ctl_toml_parse(text, error) : NULL;
	if (!file)
		return text ? vqp_error_add_context(error, "%s", path) : 0;
	part = runtime_part(file);
	if (json_object_get(part, "default_runtime"))
		json_object_set(into, "default_runtime", json_object_get(part, "default_runtime"));
	return json_object_update(ctl_handler_reach(into, "runtimes"), json_object_get(part, "runtimes")) &&
	       json_object_get(part, "runtimes") ? vqp_error_set(error, -EINVAL, "%s: its runtimes are no tables", path) : 0;
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
	return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Is it a file, and not the one that vqp writes? Links are read, too. */
static bool is_others(const FTSENT *entry)
{
	const bool own = entry->fts_level == 1 && !strcmp(entry->fts_name, OWN_NAME);

	return !own && (entry->fts_info == FTS_F || entry->fts_info == FTS_SL);
}

/*
 * CRI-O reads all files of the directory and of those in it, whatever their names end in, in the order
 * of their names.
 */
int ctl_crio_look(struct ctl_site *site, struct vqp_error *error)
{
	char directory[PATH_MAX];
	FTSENT *entry;
	FTS *tree;
	int ret;

	site->shown = json_object();
	ret = read_file(site->config, site->shown, error);
	if (ret)
		return ret;
	snprintf(directory, sizeof(directory), "%s.d", site->config);
	tree = fts_open((char *const[]){ directory, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!tree)
		return vqp_error_set(error, -errno, "cannot read %s: %s", directory, strerror(errno));
	while (!ret && (entry = fts_read(tree)))
		if (is_others(entry))
			ret = read_file(entry->fts_path, site->shown, error);
	fts_close(tree);
	return ret;
}

/* ---- The file of vqp ---- */

bool ctl_crio_file(const struct ctl_site *site, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s.d/" OWN_NAME, site->config) < PATH_MAX;
}

/* Does the handler start programs like runc, and not virtual machines? */
static bool is_oci(const json_t *handler)
{
	const char *type = json_string_value(json_object_get(handler, "runtime_type"));

	return json_is_object(handler) && (!type || !*type || !strcmp(type, "oci"));
}

/* Returns the handler that vqp stands in for; NULL if the files say nothing of it. */
static const json_t *base_handler(const json_t *part, const char **name)
{
	const json_t *handlers = json_object_get(part, "runtimes");

	*name = json_string_value(json_object_get(part, "default_runtime"));
	if (*name && is_oci(json_object_get(handlers, *name)))
		return json_object_get(handlers, *name);
	*name = is_oci(json_object_get(handlers, "crun")) && !is_oci(json_object_get(handlers, "runc")) ? "crun" : "runc";
	return is_oci(json_object_get(handlers, *name)) ? json_object_get(handlers, *name) : NULL;
}

/* Makes the handler vqp. What names other programs in place of runtime_path is left out. */
static json_t *vqp_handler(const struct ctl_site *site, const json_t *base)
{
	static const char *const others[] = { "inherit_default_runtime", "platform_runtime_paths", "runtime_config_path" };
	json_t *handler = base ? json_deep_copy(base) : json_object();

	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++)
		json_object_del(handler, others[i]);
	if (!json_object_get(handler, "runtime_root"))
		json_object_set_new(handler, "runtime_root", json_string("/run/vqp-runtime"));
	json_object_set_new(handler, "runtime_type", json_string("oci"));
	if (!json_object_set_new(handler, "runtime_path", json_string(site->programs.runtime)))
		return handler;
	json_decref(handler);
	return NULL;
}

int ctl_crio_edit(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	const json_t *part = edit->site ? runtime_part(edit->site->shown) : NULL, *base;
	const char *standard = json_string_value(json_object_get(part, "default_runtime")), *name;
	cleanup_free char *lines = NULL;
	json_auto_t *handler = NULL;

	*after = NULL;
	if (edit->remove && standard && !strcmp(standard, CTL_HANDLER))
		return vqp_error_set(error, -EBUSY, "\"default_runtime\" is " CTL_HANDLER ": name another, or take it out, first");
	if (edit->remove)
		return 0;
	if (json_object_get(json_object_get(part, "runtimes"), CTL_HANDLER))
		return vqp_error_set(error, -EEXIST, "another file has a handler vqp that somebody else wrote: take that out first");
	base = base_handler(part, &name);
	if (ctl_site_starts(edit->site, name, json_string_value(json_object_get(base, "runtime_path")), error))
		return error->code;
	handler = vqp_handler(edit->site, base);
	lines = handler ? ctl_toml_print("crio.runtime.runtimes", CTL_HANDLER, handler) : NULL;
	if (lines && asprintf(after, CTL_WRITTEN_BY " crio\n%s", lines) >= 0)
		return 0;
	*after = NULL;
	return -ENOMEM;
}

/* ---- CRI-O's own view ---- */

int ctl_crio_verify(const struct ctl_site *site, struct vqp_error *error)
{
	char directory[PATH_MAX], crio[PATH_MAX];
	cleanup_free char *output = NULL;
	json_auto_t *shown = NULL;
	const char *path;

	if (!ctl_program_find("crio", crio))
		return 0;
	snprintf(directory, sizeof(directory), "%s.d", site->config);
	if (ctl_program_ask((const char *const[]){ crio, "--config", site->config, "--config-dir", directory, "config", NULL },
		    &output, error))
		return error->code;
	shown = ctl_toml_parse(output, error);
	if (!shown)
		return error->code;
	path = json_string_value(json_object_get(json_object_get(json_object_get(runtime_part(shown), "runtimes"), CTL_HANDLER), "runtime_path"));
	if (!path || strcmp(path, site->programs.runtime))
		return vqp_error_set(error, -EPROTO, "CRI-O would not have the handler");
	return 1;
}
