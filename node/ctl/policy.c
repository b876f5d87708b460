/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The commands vqpctl policy init and vqpctl policy check. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "file.h"
#include "policy.h"
#include "policy_old.h"

#define cleanup_change	__attribute__((cleanup(ctl_change_free)))

/* ---- vqpctl policy init ---- */

int ctl_policy_plan(const struct ctl_policy_draft *draft, struct ctl_change *change, struct vqp_error *error)
{
	int ret = ctl_change_read(change, VQP_POLICY_FILE, false, error);

	if (ret)
		return ret;
	change->after = strdup(draft->text);
	return change->after ? 0 : vqp_error_set(error, -ENOMEM, "out of memory");
}

void ctl_policy_print_draft(const struct ctl_policy_draft *draft)
{
	const json_t *item;
	size_t i;

	json_array_foreach(draft->rules, i, item) {
		cleanup_free char *rule = json_dumps(json_object_get(item, "rule"), 0);

		printf("  rule %zu: %s\n          %s\n", i + 1, rule ? rule : "?", json_string_value(json_object_get(item, "why")));
	}
	json_array_foreach(draft->notes, i, item)
		printf("  note: %s\n", json_string_value(item));
}

static const char *action(const struct ctl_change *change)
{
	if (!ctl_change_differs(change))
		return "unchanged";
	return change->before ? "replaced" : "written";
}

static int tell(const struct ctl_args *args, const struct ctl_policy_draft *draft, const struct ctl_change *change)
{
	if (args->json)
		return ctl_print_json(json_pack("{s:b, s:s, s:s, s:O, s:O}", "ok", 1, "path", change->path, "action", action(change),
						"rules", draft->rules, "notes", draft->notes));
	printf("%s: %s\n", change->path, action(change));
	ctl_policy_print_draft(draft);
	return 0;
}

int ctl_policy_init(const struct ctl_args *args)
{
	cleanup_draft struct ctl_policy_draft draft = { 0 };
	cleanup_change struct ctl_change change = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	int ret = ctl_policy_draft_make(&draft, "", &error);

	if (!ret)
		ret = ctl_policy_plan(&draft, &change, &error);
	if (ret)
		return ctl_fail(args, ret, "%s", vqp_error_text(&error));
	if (change.before && ctl_change_differs(&change) && !args->force)
		return ctl_fail(args, EEXIST, "%s is there, and is not what would be written now: --force replaces it", change.path);
	ret = ctl_changes_make(&change, 1, NULL, NULL, &error);
	return ret ? ctl_fail(args, ret, "%s", vqp_error_text(&error)) : tell(args, &draft, &change);
}

/* ---- vqpctl policy check ---- */

/* Reads a file that is not the node's policy yet, of whatever owner. */
static int read_file(const char *path, struct vqp_policy *policy, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	int ret = ctl_file_read(path, &text);

	if (!ret && !text)
		ret = -ENOENT;
	if (ret)
		return vqp_error_set(error, ret, "cannot read %s: %s", path, strerror(-ret));
	if (strlen(text) > VQP_CONFIG_MAX_BYTES)
		return vqp_error_set(error, -EFBIG, "%s is longer than %u bytes", path, VQP_CONFIG_MAX_BYTES);
	ret = vqp_policy_parse(policy, text, strlen(text), error);
	return ret ? vqp_error_add_context(error, "%s", path) : 0;
}

int ctl_policy_check(const struct ctl_args *args)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	const char *path = args->nwords ? args->words[0] : NULL;
	const char *warning;
	int ret = path ? read_file(path, &policy, &error) : vqp_policy_load(&policy, VQP_CONFIG_DIR, &error);

	if (ret)
		return ctl_fail(args, ret, "%s", vqp_error_text(&error));
	if (!path)
		path = vqp_policy_file(&policy);
	warning = args->nwords ? NULL : ctl_policy_old_warning(&policy, "");
	if (args->json)
		return ctl_print_json(json_pack("{s:b, s:s, s:b, s:I, s:s*}", "ok", 1, "file", path, "old", policy.is_old,
						"rules", (json_int_t)vqp_policy_count(&policy), "warning", warning));
	printf("%s: right, %zu rule%s\n", path, vqp_policy_count(&policy), vqp_policy_count(&policy) == 1 ? "" : "s");
	if (warning)
		printf("warning: %s\n", warning);
	return 0;
}
