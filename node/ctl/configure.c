/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The commands vqpctl configure and vqpctl cdi. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../policy.h"
#include "change.h"
#include "ctl.h"
#include "engine.h"
#include "policy.h"

#define FILES_MAX	16

struct plan {
	const struct ctl_engine *engine;
	struct ctl_site site;
	struct ctl_change changes[FILES_MAX + 1];	/* The policy may be the last one. */
	unsigned int count, engines;	/* all changes, and those of the engine's files */
	struct ctl_policy_draft draft;	/* of the policy, if there was none */
	bool verified;	/* The engine has said that the runtime is in effect. */
};

static void free_plan(struct plan *plan)
{
	for (unsigned int i = 0; i < plan->count; i++)
		ctl_change_free(&plan->changes[i]);
	free(plan->site.main);
	free(plan->site.generated);
	json_decref(plan->site.shown);
	ctl_policy_draft_clear(&plan->draft);
}

#define cleanup_plan	__attribute__((cleanup(free_plan)))

/* Finds a program beside vqpctl or, if that is PREFIX/sbin/vqpctl, in PREFIX/bin. */
static int find_program(const struct ctl_args *args, const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX - 32], beside[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", own, sizeof(own) - 1);
	static const char *const places[] = { "", "../bin/" };

	own[bytes < 0 ? 0 : bytes] = '\0';
	if (strrchr(own, '/'))
		strrchr(own, '/')[1] = '\0';
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(beside, sizeof(beside), "%s%s%s", own, places[i], name);
		if (realpath(beside, path) && !access(path, X_OK))
			break;
		*path = '\0';
	}
	if (!*path)
		return ctl_fail(args, ENOENT, "no %s in %s or %s../bin: make install", name, own, own);
	/* The path will stand between quotes in three languages. */
	for (const char *c = path; *c; c++)
		if (*c < ' ' || strchr("\"\\\177", *c))
			return ctl_fail(args, EINVAL, "the path %s has characters that engines' files cannot", path);
	return 0;
}

static int find_programs(const struct ctl_args *args, struct ctl_programs *programs)
{
	int ret = find_program(args, "vqp-runtime", programs->runtime);

	return ret ? ret : find_program(args, "vqp-hook", programs->hook);
}

static int plan_change(const struct ctl_args *args, const struct ctl_site *site, const struct ctl_engine_file *file,
		       const char *path, struct ctl_change *change)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret = ctl_change_read(change, path, file->shared, &error);

	if (ret)
		return ctl_fail(args, ret, "%s", vqp_error_text(&error));
	change->removes = args->remove;
	change->has_part = change->before && file->is_ours(change->before);
	change->stale = change->backup && file->is_ours(change->backup);
	ret = ctl_engine_file_edit(file, &(struct ctl_edit){ .before = change->before, .backup = change->backup,
							     .site = site, .remove = args->remove },
				   &change->after, &error);
	return ret ? ctl_fail(args, ret, "%s: %s", path, vqp_error_text(&error)) : 0;
}

/*
 * Finds out what the edits depend on. A removal works without the programs, which may have been
 * removed already, and with files that the engine does not understand.
 */
static int look(const struct ctl_args *args, const struct ctl_engine *engine, struct ctl_site *site)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret;

	if (args->config && !engine->config)
		return ctl_fail(args, EINVAL, "%s takes no --config", engine->name);
	if (args->config && *args->config != '/')
		return ctl_fail(args, EINVAL, "--config takes an absolute path, not '%s'", args->config);
	site->config = args->config ? args->config : engine->config;
	ret = args->remove ? 0 : find_programs(args, &site->programs);
	if (ret)
		return ret;
	ret = args->remove ? 0 : ctl_site_find_real(site, &error);
	if (!ret && engine->look)
		ret = engine->look(site, &error);
	return ret && !args->remove ? ctl_fail(args, ret, "%s", vqp_error_text(&error)) : 0;
}

static bool is_planned(const struct plan *plan, const char *path)
{
	for (unsigned int i = 0; i < plan->count; i++)
		if (!strcmp(plan->changes[i].path, path))
			return true;
	return false;
}

/* Plans the removal of a file that is still where an earlier configure has written it. */
static int plan_former(const struct ctl_args *args, struct plan *plan, const struct ctl_engine_file *file)
{
	char path[PATH_MAX];
	int ret = 0;

	for (unsigned int i = 0; !ret && plan->count < FILES_MAX && file->find_former(&plan->site, i, path); i++)
		if (!access(path, F_OK) && !is_planned(plan, path))
			ret = plan_change(args, &plan->site, file, path, &plan->changes[plan->count++]);
	return ret;
}

/* Without a policy no container would get a VQP namespace. One that is there stays, and so does this one. */
static int plan_policy(const struct ctl_args *args, struct plan *plan)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret;

	plan->engines = plan->count;
	if (args->remove || !access(VQP_POLICY_FILE, F_OK))
		return 0;
	ret = ctl_policy_draft_make(&plan->draft, "", &error);
	if (!ret)
		ret = ctl_policy_plan(&plan->draft, &plan->changes[plan->count++], &error);
	return ret ? ctl_fail(args, ret, "%s", vqp_error_text(&error)) : 0;
}

static int make_plan(const struct ctl_args *args, struct plan *plan)
{
	char path[PATH_MAX];
	int ret;

	plan->engine = ctl_engine_find(args->words[0]);
	if (!plan->engine)
		return ctl_fail(args, EINVAL, "no engine '%s': docker, containerd, podman or crio", args->words[0]);
	ret = look(args, plan->engine, &plan->site);
	for (const struct ctl_engine_file *file = plan->engine->files; !ret && file->edit; file++) {
		if (ctl_engine_file_find(file, &plan->site, path) && !(args->remove && ctl_engine_others_have(plan->engine, path)))
			ret = plan_change(args, &plan->site, file, path, &plan->changes[plan->count++]);
		if (!ret && args->remove && file->find_former)
			ret = plan_former(args, plan, file);
	}
	return ret ? ret : plan_policy(args, plan);
}

static int verify(const void *plan, struct vqp_error *error)
{
	return ((const struct plan *)plan)->engine->verify(&((const struct plan *)plan)->site, error);
}

/*
 * Makes the changes, and asks the engine what it makes of them. What it does not take is taken
 * back, so that a restart of the engine does not fail.
 */
static int carry_out(struct plan *plan, bool removes, struct vqp_error *error)
{
	int ret = ctl_changes_make(plan->changes, plan->count, removes ? NULL : verify, plan, error);

	plan->verified = ret > 0;
	return ret < 0 ? ret : 0;
}

static const char *action(const struct ctl_change *change)
{
	if (!ctl_change_differs(change))
		return "unchanged";
	if (!change->after)
		return "removed";
	return change->before ? "changed" : "written";
}

static const char *what_then(const struct ctl_args *args, const struct plan *plan)
{
	bool any = false;

	for (unsigned int i = 0; i < plan->engines; i++)
		any |= ctl_change_differs(&plan->changes[i]);
	if (!any)
		return NULL;
	return args->remove ? plan->engine->then_removed : plan->engine->then;
}

static int print_plan(const struct ctl_args *args, const struct plan *plan)
{
	const char *then = what_then(args, plan);

	for (unsigned int i = 0; i < plan->count; i++) {
		const struct ctl_change *change = &plan->changes[i];

		printf("%s: %s%s", change->path, args->dry_run ? "would be " : "", action(change));
		if (ctl_change_leaves_backup(change))
			printf(", as it was: %s", change->backup_path);
		puts("");
		if (args->dry_run && change->after && ctl_change_differs(change))
			printf("%s\n", change->after);
	}
	ctl_policy_print_draft(&plan->draft);
	if (!args->dry_run && !args->remove)
		printf(plan->verified ? "verified: %s\n" : "not verified: no program here has said that %s\n",
		       plan->engine->verified);
	if (then)
		printf("%s: %s\n", args->dry_run ? "Then" : "Now", then);
	return 0;
}

static int print_plan_json(const struct ctl_args *args, const struct plan *plan)
{
	json_t *files = json_array();

	for (unsigned int i = 0; i < plan->count; i++) {
		const struct ctl_change *change = &plan->changes[i];

		json_array_append_new(files, json_pack("{s:s, s:s, s:s*, s:s*}", "path", change->path,
						       "action", action(change),
						       "backup", ctl_change_leaves_backup(change) ? change->backup_path : NULL,
						       "text", args->dry_run ? change->after : NULL));
	}
	return ctl_print_json(json_pack("{s:b, s:b, s:b, s:o, s:s*, s:O*}", "ok", 1, "dry_run", args->dry_run,
					"verified", plan->verified, "files", files,
					"then", what_then(args, plan), "policy_notes", plan->draft.notes));
}

int ctl_configure(const struct ctl_args *args)
{
	cleanup_plan struct plan plan = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	int ret = make_plan(args, &plan);

	if (ret)
		return ret;
	ret = args->dry_run ? 0 : carry_out(&plan, args->remove, &error);
	if (ret)
		return ctl_fail(args, ret, "%s", vqp_error_text(&error));
	return args->json ? print_plan_json(args, &plan) : print_plan(args, &plan);
}

int ctl_cdi(const struct ctl_args *args)
{
	struct ctl_programs programs;
	int ret = find_programs(args, &programs);

	return ret ? ret : ctl_print_json(ctl_engine_cdi(&programs));
}
