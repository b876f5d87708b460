/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What starts containers: engines' configurations, CNI network lists. */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "doctor.h"
#include "engine.h"
#include "file.h"
#include "program.h"

#define PLUGIN		"vqp"
#define PROGRAMS	"vqp-"	/* The names of programs that engines start begin with it. */

/* The engines, and a question to each that is answered by what it has read, not by its files. */
static const struct {
	const char *name;
	const char *argv[4];	/* none for an engine that reads its files for each container */
	const char *remedy;
	bool cni;		/* It attaches containers to the first list in LISTS. */
} engines[] = {
	{ "docker", { "docker", "info", "--format", "{{json .Runtimes}}" }, "systemctl reload docker", false },
	{ "containerd", { "containerd", "config", "dump" }, "containerd config dump | grep vqp-runtime; an imported file may "
	  "replace the handler (docs/operate.md)", true },
	{ "podman", { 0 }, NULL, false },
	{ "crio", { 0 }, NULL, true },
};

#define NENGINES (sizeof(engines) / sizeof(*engines))

/* ---- Engines ---- */

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

const char *ctl_doctor_next_program(const char *text, char path[PATH_MAX])
{
	const char *end;

	for (text = strstr(text, "\"/"); text; text = strstr(end, "\"/")) {
		text++;
		end = text + strcspn(text, "\"\n");
		snprintf(path, PATH_MAX, "%.*s", (int)(end - text), text);
		/* In /dev it is the container's, and in /run a directory of CRI-O's. */
		if (!starts(path, "/dev/") && !starts(path, "/run/") && starts(strrchr(path, '/') + 1, PROGRAMS))
			return end;
	}
	return NULL;
}

/* Reads a file below the root; NULL if it is not there. */
static char *read_below(const struct ctl_doctor *d, const char *path, int *ret)
{
	char full[PATH_MAX], *text;

	*ret = ctl_file_read(ctl_doctor_path(d, path, full), &text);
	return *ret ? NULL : text;
}

/* Is there a part of vqp's in the file? What cannot be read counts as one. */
static bool has_part(const struct ctl_doctor *d, const struct ctl_site *site, const struct ctl_engine_file *file)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	int ret;

	if (!ctl_engine_file_find(file, site, path))
		return false;
	text = read_below(d, path, &ret);
	return text ? ctl_engine_file_has_part(file, site, text) : ret;
}

/* Is the file one that only this engine reads, by which the engine knows the runtime? */
static bool is_own(const struct ctl_engine *engine, const struct ctl_engine_file *file)
{
	return file == engine->files || file->find;
}

/* Reads what tells where the engine's files are; the caller frees site->main. */
static void read_site(const struct ctl_doctor *d, const struct ctl_engine *engine, struct ctl_site *site)
{
	int ret;

	*site = (struct ctl_site){ .config = engine->config };
	if (site->config)
		site->main = read_below(d, site->config, &ret);
}

static bool is_configured(const struct ctl_doctor *d, const struct ctl_engine *engine)
{
	struct ctl_site site;
	bool configured = false;

	read_site(d, engine, &site);
	for (const struct ctl_engine_file *file = engine->files; file->edit; file++)
		configured |= is_own(engine, file) && has_part(d, &site, file);
	free(site.main);
	return configured;
}

/* Looks whether a file names programs that are there. Returns whether all is well. */
static bool look_at_file(struct ctl_doctor *d, const char *id, const char *path, const char *configure)
{
	char program[PATH_MAX], full[PATH_MAX];
	cleanup_free char *text = NULL;
	const char *rest;
	int ret;

	text = read_below(d, path, &ret);
	if (ret) {
		ctl_doctor_find(d, ret == -EACCES ? CTL_UNTRIED : CTL_FAILS, id, path, ret == -EACCES ? "run as root" : "mend the file",
				"cannot be read: %s", strerror(-ret));
		return false;
	}
	rest = text ? ctl_doctor_next_program(text, program) : NULL;
	if (!rest) {
		ctl_doctor_find(d, CTL_FAILS, id, path, configure, text ? "names no program of vqp" : "is not there");
		return false;
	}
	for (; rest; rest = ctl_doctor_next_program(rest, program)) {
		if (!access(ctl_doctor_path(d, program, full), X_OK))
			continue;
		ctl_doctor_find(d, CTL_FAILS, id, path, configure, "names %s, which is not there or cannot be executed", program);
		return false;
	}
	return true;
}

/* Has the engine read its configuration? One that does not answer is not vqp's concern. */
static bool has_read(struct ctl_doctor *d, const char *id, unsigned int engine)
{
	const char *argv[5] = { 0 };
	cleanup_free char *text = NULL;

	memcpy(argv, engines[engine].argv, sizeof(engines[engine].argv));
	if (!*argv || *d->root || ctl_program_run(argv, CTL_PROGRAM_LIMIT_MS, &text, NULL) || strstr(text, "vqp") ||
	    !strstr(text, "runc"))
		return true;
	ctl_doctor_find(d, CTL_FAILS, id, NULL, engines[engine].remedy, "%s does not know the runtime vqp, which its file has",
			engines[engine].name);
	return false;
}

static void look_at_engine(struct ctl_doctor *d, unsigned int engine)
{
	const char *name = engines[engine].name;
	const struct ctl_engine *known = ctl_engine_find(name);
	char id[32], configure[64], path[PATH_MAX];
	struct ctl_site site;
	bool well = true;

	snprintf(id, sizeof(id), "engine.%s", name);
	snprintf(configure, sizeof(configure), "make install, or vqpctl configure %s", name);
	if (!is_configured(d, known)) {
		ctl_doctor_find(d, CTL_OK, id, NULL, NULL, "not configured: vqpctl configure %s", name);
		return;
	}
	read_site(d, known, &site);
	for (const struct ctl_engine_file *file = known->files; file->edit; file++)
		/* An engine with several files of its own knows the runtime by one of them. */
		if (ctl_engine_file_find(file, &site, path) && (!file->find || has_part(d, &site, file)))
			well &= look_at_file(d, id, path, configure);
	free(site.main);
	if (well && has_read(d, id, engine))
		ctl_doctor_find(d, CTL_OK, id, NULL, NULL, "configured, with programs that are there");
}

void ctl_doctor_engines(struct ctl_doctor *d)
{
	for (unsigned int i = 0; i < NENGINES; i++)
		look_at_engine(d, i);
}

/* ---- CNI network lists ---- */

static bool is_of_type(const json_t *plugin, const char *type)
{
	const char *found = json_string_value(json_object_get(plugin, "type"));

	return found && !strcmp(found, type);
}

int ctl_doctor_list_has(const char *text, const char *type)
{
	json_auto_t *list = json_loads(text, 0, NULL);
	const json_t *plugins = json_object_get(list, "plugins"), *plugin;
	size_t i;

	/* A file of one plugin is not a list, and has no other plugin. */
	if (json_is_string(json_object_get(list, "type")))
		return is_of_type(list, type);
	if (!json_is_array(plugins))
		return -EINVAL;
	json_array_foreach(plugins, i, plugin)
		if (is_of_type(plugin, type))
			return 1;
	return 0;
}

/* Returns the engine whose handler takes its VQP namespaces from CNI; NULL if none is configured. */
static const char *cni_engine(const struct ctl_doctor *d)
{
	for (unsigned int i = 0; i < NENGINES; i++)
		if (engines[i].cni && is_configured(d, ctl_engine_find(engines[i].name)))
			return engines[i].name;
	return NULL;
}

/*
 * Judges a list; `engine` uses it, if it is not NULL. Returns whether it has the plugin.
 */
static bool look_at_list(struct ctl_doctor *d, const char *path, const char *engine)
{
	cleanup_free char *text = NULL;
	int ret, has;

	text = read_below(d, path, &ret);
	has = text ? ctl_doctor_list_has(text, PLUGIN) : -EINVAL;
	if (ret)
		ctl_doctor_find(d, CTL_UNTRIED, "cni.list", path, "run as root", "cannot be read: %s", strerror(-ret));
	else if (has < 0)
		ctl_doctor_find(d, engine ? CTL_FAILS : CTL_LIMITED, "cni.list", path, "mend the file", "is no CNI network list");
	else if (!has && engine)
		ctl_doctor_find(d, CTL_FAILS, "cni.list", path, "add {\"type\": \"vqp\"} at the end of its plugins (man vqp-cni)",
				"%s uses it, and it has no plugin vqp: containers get no VQP namespace", engine);
	else
		ctl_doctor_find(d, CTL_OK, "cni.list", path, NULL, has ? "has the plugin vqp" : "has no plugin vqp, and needs none");
	return has > 0;
}

static void look_at_plugin(struct ctl_doctor *d)
{
	static const char *const directories[] = { "/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni" };
	char path[PATH_MAX], full[PATH_MAX];

	for (unsigned int i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		snprintf(path, sizeof(path), "%s/" PLUGIN, directories[i]);
		if (!access(ctl_doctor_path(d, path, full), X_OK)) {
			ctl_doctor_find(d, CTL_OK, "cni.plugin", NULL, NULL, "%s", path);
			return;
		}
	}
	ctl_doctor_find(d, CTL_FAILS, "cni.plugin", NULL, "make -C cni-plugin install CNI_BIN=DIRECTORY",
			"a CNI list has the plugin vqp, and no directory of plugins has it");
}

void ctl_doctor_lists(struct ctl_doctor *d)
{
	const char *engine = cni_engine(d);
	char pattern[PATH_MAX];
	bool any = false;
	glob_t found;

	if (!glob(ctl_doctor_path(d, "/etc/cni/net.d/*.{conf,conflist,json}", pattern), GLOB_BRACE, NULL, &found)) {
		size_t first = 0;

		/* Engines take the first one by its name, of whatever kind. */
		for (size_t i = 1; i < found.gl_pathc; i++)
			if (strcmp(found.gl_pathv[i], found.gl_pathv[first]) < 0)
				first = i;
		for (size_t i = 0; i < found.gl_pathc; i++)
			any |= look_at_list(d, found.gl_pathv[i] + strlen(d->root), i == first ? engine : NULL);
		globfree(&found);
	} else if (engine) {
		ctl_doctor_find(d, CTL_FAILS, "cni.list", NULL, "write one, with the plugin vqp at its end (man vqp-cni)",
				"%s is configured for vqp, and /etc/cni/net.d has no network list", engine);
	}
	if (any)
		look_at_plugin(d);
}
