/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../include/uapi/linux/vqp.h"
#include "../../common/cleanup.h"
#include "containerd.h"
#include "crio.h"
#include "daemon_json.h"
#include "engine.h"
#include "file.h"
#include "handler.h"
#include "program.h"
#include "toml.h"
#include "toml_block.h"

#define HOOK_TIMEOUT_S 30	/* longer than a call of vqpd may take */
#define PODMAN_CONFIG	"/etc/containers/containers.conf"
#define HOOK_IN_CONTAINER "/dev/vqp-hook"
#define CDI_KIND	"vqp.io/device"

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
			 "cdiVersion", "0.3.0", "kind", CDI_KIND, "devices",
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
	return edit->remove ? 0 : write_json(after, ctl_engine_cdi(&edit->site->programs));
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
					   "hook", "path", edit->site->programs.hook, "args", "vqp-hook", stage,
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
		CTL_WRITTEN_BY " podman\n"
		"[engine.runtimes]\n"
		"vqp = [\"%s\"]\n", edit->site->programs.runtime);
}

/* Does the text begin as those that configure writes, and cdi's and hooks' files cannot? */
static bool is_written(const char *text)
{
	return !strncmp(text, CTL_WRITTEN_BY, strlen(CTL_WRITTEN_BY));
}

static bool is_cdi(const char *text)
{
	json_auto_t *json = json_loads(text, 0, NULL);
	const char *kind = json_string_value(json_object_get(json, "kind"));

	return kind && !strcmp(kind, CDI_KIND);
}

static bool is_hook(const char *text)
{
	json_auto_t *json = json_loads(text, 0, NULL);
	const char *path = json_string_value(json_object_get(json_object_get(json, "hook"), "path"));
	const char *name = path ? strrchr(path, '/') : NULL;

	return name && !strcmp(name, "/vqp-hook");
}

/* ---- Files that are shared with others ---- */

static int edit_docker(const struct ctl_edit *edit, char **after, struct vqp_error *error)
{
	return edit->remove ? ctl_daemon_json_remove(edit->before, edit->backup, after, error)
			    : ctl_daemon_json_add(edit->before, edit->site->programs.runtime, after, error);
}

/* ---- What engines say before and afterwards ---- */

/* Beside a file that podman does not understand nothing takes effect. */
static int look_podman(struct ctl_site *site, struct vqp_error *error)
{
	json_auto_t *parsed = NULL;
	int ret = ctl_file_read(PODMAN_CONFIG, &site->main);

	if (ret)
		return vqp_error_set(error, ret, "cannot read " PODMAN_CONFIG ": %s", strerror(-ret));
	parsed = site->main ? ctl_toml_parse(site->main, error) : NULL;
	return site->main && !parsed ? vqp_error_add_context(error, PODMAN_CONFIG) : 0;
}

/* Docker before 23 cannot validate, and no version shows its runtimes without running. */
static int verify_docker(const struct ctl_site *site, struct vqp_error *error)
{
	cleanup_error struct vqp_error no_help = { 0 };
	cleanup_free char *help = NULL, *output = NULL;
	char dockerd[PATH_MAX];

	if (!ctl_program_find("dockerd", dockerd) ||
	    ctl_program_ask((const char *const[]){ dockerd, "--help", NULL }, &help, &no_help) || !strstr(help, "--validate"))
		return 0;
	return ctl_program_ask((const char *const[]){ dockerd, "--validate", "--config-file", site->config, NULL }, &output, error) ?
	       error->code : 1;
}

/* What podman says of its runtime: of vqp, or of the default one if `runtime` is NULL. */
static int ask_podman(const char *podman, const char *runtime, char **output, struct vqp_error *error)
{
	const char *option = runtime ? "--runtime" : NULL;
	const char *const vqp[] = { podman, option, runtime, "info", "--format", "{{.Host.OCIRuntime.Path}}", NULL };
	const char *const standard[] = { podman, "info", "--format", "{{.Host.OCIRuntime.Path}}", NULL };

	return ctl_program_ask(runtime ? vqp : standard, output, error);
}

static int verify_podman(const struct ctl_site *site, struct vqp_error *error)
{
	cleanup_error struct vqp_error ignored = { 0 };
	cleanup_free char *output = NULL, *other = NULL;
	char podman[PATH_MAX];

	if (!ctl_program_find("podman", podman))
		return 0;
	/* Where podman does not work at all, it says nothing of the runtime. */
	if (ask_podman(podman, CTL_HANDLER, &output, error)) {
		if (!ask_podman(podman, NULL, &other, &ignored))
			return error->code;
		vqp_error_clear(error);
		return 0;
	}
	output[strcspn(output, "\n")] = '\0';
	if (strcmp(output, site->programs.runtime))
		return vqp_error_set(error, -EPROTO, "podman would start %s as vqp: another of its files has a runtime vqp", output);
	return 1;
}

static bool find_main(const struct ctl_site *site, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s", site->config) < PATH_MAX;
}

#define CDI_FILE \
	{ .path = "/etc/cdi/vqp.json", .edit = edit_cdi, .is_ours = is_cdi }
#define HOOK_FILES \
	{ .path = "/usr/share/containers/oci/hooks.d/vqp-create.json", .edit = edit_create_hook, .is_ours = is_hook }, \
	{ .path = "/usr/share/containers/oci/hooks.d/vqp-poststop.json", .edit = edit_poststop_hook, .is_ours = is_hook }, \
	CDI_FILE
#define MAIN_FILE	.find = find_main, .shared = true

static const struct ctl_engine engines[] = {
	{
		.name = "docker", .config = "/etc/docker/daemon.json", .verified = "dockerd takes the file", .verify = verify_docker,
		.files = (const struct ctl_engine_file[]){
			{ MAIN_FILE, .edit = edit_docker, .is_ours = ctl_daemon_json_is_ours }, CDI_FILE, { 0 },
		},
		.then = "systemctl reload docker    (no container stops)",
		.then_removed = "systemctl restart docker    (a reload forgets no runtime; until then it still knows this one)",
	}, {
		.name = "containerd", .config = CTL_CONTAINERD_CONFIG, .verified = "containerd shows the runtime",
		.look = ctl_containerd_look, .verify = ctl_containerd_verify,
		.files = (const struct ctl_engine_file[]){
			{ MAIN_FILE, .edit = ctl_containerd_edit, .is_ours = ctl_toml_block_is_in },
			{ .find = ctl_containerd_import, .find_former = ctl_containerd_former, .edit = ctl_containerd_edit_import,
			  .is_ours = is_written }, { 0 },
		},
		.then = "systemctl restart containerd    (no container stops)",
		.then_removed = "systemctl restart containerd    (no container stops)",
	}, {
		.name = "podman", .verified = "podman shows the runtime", .look = look_podman, .verify = verify_podman,
		.files = (const struct ctl_engine_file[]){
			{ .path = "/etc/containers/containers.conf.d/50-vqp.conf", .edit = edit_podman, .is_ours = is_written }, HOOK_FILES, { 0 },
		},
	}, {
		.name = "crio", .config = CTL_CRIO_CONFIG, .verified = "CRI-O shows the runtime",
		.look = ctl_crio_look, .verify = ctl_crio_verify,
		.files = (const struct ctl_engine_file[]){
			{ .find = ctl_crio_file, .edit = ctl_crio_edit, .is_ours = is_written }, HOOK_FILES, { 0 },
		},
		.then = "systemctl restart crio    (no container stops)",
		.then_removed = "systemctl restart crio    (no container stops)",
	},
};

bool ctl_engine_file_find(const struct ctl_engine_file *file, const struct ctl_site *site, char path[PATH_MAX])
{
	return file->find ? file->find(site, path) : snprintf(path, PATH_MAX, "%s", file->path) < PATH_MAX;
}

int ctl_engine_file_edit(const struct ctl_engine_file *file, const struct ctl_edit *edit, char **after,
			 struct vqp_error *error)
{
	if (!edit->remove || file->shared || !edit->before || file->is_ours(edit->before))
		return file->edit(edit, after, error);
	*after = strdup(edit->before);
	return *after ? 0 : vqp_error_set(error, -ENOMEM, "out of memory");
}

static bool has_file(const struct ctl_engine *engine, const char *path)
{
	for (const struct ctl_engine_file *file = engine->files; file->edit; file++)
		if (file->path && !strcmp(file->path, path))
			return true;
	return false;
}

bool ctl_engine_file_has_part(const struct ctl_engine_file *file, const struct ctl_site *site, const char *before)
{
	cleanup_free char *after = NULL;
	cleanup_error struct vqp_error error = { 0 };

	return file->edit(&(struct ctl_edit){ .before = before, .site = site, .remove = true }, &after, &error) ||
	       !after || strcmp(before, after);
}

/*
 * An engine is configured if its own file exists and, if other programs share that, vqp has a part
 * of it.
 */
static bool is_configured(const struct ctl_engine *engine)
{
	const struct ctl_engine_file *own = engine->files;
	const struct ctl_site site = { .config = engine->config };
	cleanup_free char *before = NULL;
	char path[PATH_MAX];

	if (!ctl_engine_file_find(own, &site, path))
		return false;
	if (!own->shared)
		return !access(path, F_OK);
	return !ctl_file_read(path, &before) && before && ctl_engine_file_has_part(own, &site, before);
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
