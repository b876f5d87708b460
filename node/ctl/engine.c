/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../include/uapi/linux/vqp.h"
#include "../../common/cleanup.h"
#include "daemon_json.h"
#include "engine.h"
#include "file.h"
#include "toml_block.h"

#define HOOK_TIMEOUT_S 30	/* longer than a call of vqpd may take */
#define HOOK_IN_CONTAINER "/dev/vqp-hook"

__attribute__((format(printf, 2, 3)))
static int write_text(char **after, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(after, format, list);
	va_end(list);
	if (n >= 0)
		return 0;
	*after = NULL;
	return -ENOMEM;
}

/* Writes `json`, which is consumed, to a text. */
static int write_json(char **after, json_t *json)
{
	cleanup_free char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;

	json_decref(json);
	*after = NULL;
	return text ? write_text(after, "%s\n", text) : -ENOMEM;
}

/* ---- Files that are vqp's alone ---- */

/* Returns a hook, with `option` as an argument unless it is NULL. */
static json_t *cdi_hook(const char *path, const char *stage, const char *option)
{
	return json_pack("{s:s, s:s, s:[s, s, s*], s:i}", "hookName", stage, "path", path,
			 "args", "vqp-hook", stage, option, "timeout", HOOK_TIMEOUT_S);
}

/*
 * Version 0.3.0 has all of these fields, and older versions of podman take no newer one. The device
 * has no numbers here, so that they are looked up when a container is made: they change when the
 * module is loaded anew. The hook is mounted, because startContainer runs in the container. It is
 * mounted in /dev, which is in memory: elsewhere an empty file would stay in the container's root
 * file system.
 */
json_t *ctl_engine_cdi(const struct ctl_programs *programs)
{
	return json_pack("{s:s, s:s, s:[{s:s, s:{s:[{s:s, s:s}], s:[{s:s, s:s, s:[s, s, s, s]}], s:[o, o, o]}}]}",
			 "cdiVersion", "0.3.0", "kind", "vqp.io/device", "devices",
			 "name", "vqp", "containerEdits",
			 "deviceNodes", "path", VQP_DEVICE_PATH, "permissions", "rw",
			 "mounts", "hostPath", programs->hook, "containerPath", HOOK_IN_CONTAINER,
			 "options", "ro", "nosuid", "nodev", "bind",
			 "hooks", cdi_hook(programs->hook, "createRuntime", "await"),
			 cdi_hook(HOOK_IN_CONTAINER, "startContainer", NULL),
			 cdi_hook(programs->hook, "poststop", NULL));
}

static int edit_cdi(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	(void)error;
	*after = NULL;
	return edit->remove ? 0 : write_json(after, ctl_engine_cdi(edit->programs));
}

/*
 * Edits the file of a hook that runs for containers with an annotation of vqp, by whatever runtime.
 */
static int edit_hook(const struct ctl_edit *edit, const char *stage, char **after)
{
	*after = NULL;
	if (edit->remove)
		return 0;
	return write_json(after, json_pack("{s:s, s:{s:s, s:[s, s], s:i}, s:{s:{s:s}}, s:[s]}", "version", "1.0.0",
					   "hook", "path", edit->programs->hook, "args", "vqp-hook", stage,
					   "timeout", HOOK_TIMEOUT_S,
					   "when", "annotations", "^io\\.vqp\\.[a-z_]+$", "^.", "stages", stage));
}

static int edit_create_hook(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	(void)error;
	return edit_hook(edit, "createRuntime", after);
}

static int edit_poststop_hook(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	(void)error;
	return edit_hook(edit, "poststop", after);
}

static int edit_podman(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	(void)error;
	*after = NULL;
	return edit->remove ? 0 : write_text(after,
		"# Written by vqpctl configure podman\n"
		"[engine.runtimes]\n"
		"vqp = [\"%s\"]\n", edit->programs->runtime);
}

static int edit_crio(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	(void)error;
	*after = NULL;
	return edit->remove ? 0 : write_text(after,
		"# Written by vqpctl configure crio\n"
		"[crio.runtime.runtimes.vqp]\n"
		"runtime_path = \"%s\"\n"
		"runtime_type = \"oci\"\n"
		"runtime_root = \"/run/vqp-runtime\"\n", edit->programs->runtime);
}

/* ---- Files that are shared with others ---- */

static int edit_docker(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	return edit->remove ? ctl_daemon_json_remove(edit->before, edit->backup, after, error)
			    : ctl_daemon_json_add(edit->before, edit->programs->runtime, after, error);
}

/*
 * Edits a block in containerd's own file, and not in a directory that it imports: up to 1.7 an
 * imported file with a plugin replaces all that the main file says of that plugin. vqp-runtime gets
 * the options of runc, or else its containers would be in other cgroups than their pods
 * (SystemdCgroup).
 */
static int edit_containerd(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	const char *plugin = ctl_toml_version(edit->before) == 3 ? "io.containerd.cri.v1.runtime"
								 : "io.containerd.grpc.v1.cri";
	cleanup_free char *standard = NULL, *block = NULL, *options = NULL;

	*after = NULL;
	if (edit->remove)
		return ctl_toml_block_remove(edit->before, edit->backup, after, error);
	if (ctl_toml_table_copy(edit->before, "containerd.runtimes.runc.options", "BinaryName", &options) ||
	    write_text(&standard,
		       "[plugins.\"%s\".containerd.runtimes.runc]\n"
		       "runtime_type = \"io.containerd.runc.v2\"\n", plugin) ||
	    write_text(&block,
		       "[plugins.\"%s\".containerd.runtimes.vqp]\n"
		       "runtime_type = \"io.containerd.runc.v2\"\n"
		       "pod_annotations = [\"io.vqp.*\"]\n"
		       "[plugins.\"%s\".containerd.runtimes.vqp.options]\n"
		       "BinaryName = \"%s\"\n"
		       "%s", plugin, plugin, edit->programs->runtime, options))
		return -ENOMEM;
	return ctl_toml_block_add(edit->before, standard, block, after, error);
}

#define CDI_FILE \
	{ "/etc/cdi/vqp.json", false, edit_cdi }
#define HOOK_FILES \
	{ "/usr/share/containers/oci/hooks.d/vqp-create.json", false, edit_create_hook }, \
	{ "/usr/share/containers/oci/hooks.d/vqp-poststop.json", false, edit_poststop_hook }, \
	CDI_FILE

static const struct ctl_engine engines[] = {
	{ "docker", (const struct ctl_engine_file[]){
		{ "/etc/docker/daemon.json", true, edit_docker }, CDI_FILE, { 0 },
	}, "systemctl reload docker    (no container stops)",
	   "systemctl restart docker    (a reload forgets no runtime; until then it still knows this one)" },
	{ "containerd", (const struct ctl_engine_file[]){
		{ "/etc/containerd/config.toml", true, edit_containerd }, { 0 },
	}, "containerd config dump | grep vqp-runtime && systemctl restart containerd    (no container stops)",
	   "systemctl restart containerd    (no container stops)" },
	{ "podman", (const struct ctl_engine_file[]){
		{ "/etc/containers/containers.conf.d/50-vqp.conf", false, edit_podman }, HOOK_FILES, { 0 },
	}, NULL, NULL },
	{ "crio", (const struct ctl_engine_file[]){
		{ "/etc/crio/crio.conf.d/50-vqp.conf", false, edit_crio }, HOOK_FILES, { 0 },
	}, "systemctl restart crio    (no container stops)", "systemctl restart crio    (no container stops)" },
};

static bool has_file(const struct ctl_engine *engine, const char *path)
{
	const struct ctl_engine_file *file = engine->files;

	while (file->path && strcmp(file->path, path))
		file++;
	return file->path;
}

/*
 * An engine is configured if its own file exists and, if other programs share that, vqp has a part
 * of it.
 */
static bool is_configured(const struct ctl_engine *engine)
{
	const struct ctl_engine_file *own = engine->files;
	cleanup_free char *before = NULL, *after = NULL;
	cleanup_error struct vqp_error error = { 0 };

	if (!own->shared)
		return !access(own->path, F_OK);
	if (ctl_file_read(own->path, &before) || !before)
		return false;
	/* A part that cannot be removed is there, too. */
	return own->edit(&(struct ctl_edit){ .before = before, .remove = true }, &after, &error) ||
	       !after || strcmp(before, after);
}

bool ctl_engine_others_have(const struct ctl_engine *engine, const char *path)
{
	for (unsigned int i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (&engines[i] != engine && has_file(&engines[i], path) && is_configured(&engines[i]))
			return true;
	return false;
}

const struct ctl_engine *ctl_engine_find(const char *name)
{
	for (unsigned int i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}
