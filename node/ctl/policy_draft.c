/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/vqp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "cni_list.h"
#include "ctl.h"
#include "policy_draft.h"
#include "policy_old.h"

/* Adds a rule, which is consumed, and the reason for it. */
static void add(struct ctl_policy_draft *draft, json_t *rule, const char *why)
{
	json_array_append_new(draft->rules, json_pack("{s:o, s:s}", "rule", rule, "why", why));
}

__attribute__((format(printf, 2, 3)))
static void note(struct ctl_policy_draft *draft, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	json_array_append_new(draft->notes, json_vsprintf(format, list));
	va_end(list);
}

/* Can the policy have this rule? 0, or a negative errno value with *error set. */
static int check(const json_t *rule, struct vqp_error *error)
{
	json_auto_t *file = json_pack("{s:[O]}", "rules", rule);
	cleanup_free char *text = json_dumps(file, 0);
	cleanup_policy struct vqp_policy policy = { 0 };

	if (!text)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return vqp_policy_parse(&policy, text, strlen(text), error);
}

/* ---- CNI network lists ---- */

static bool has_rule(const json_t *drafted, const char *network)
{
	const json_t *item;
	size_t i;

	json_array_foreach(drafted, i, item)
		if (*network && !strcmp(ctl_string(json_object_get(item, "rule"), "network"), network))
			return true;
	return false;
}

/* Returns what may be chosen because the list's configuration asks for it, a new object. */
static json_t *make_choice(const json_t *plugin)
{
	json_t *address = json_object_get(plugin, "address"), *sockets = json_object_get(plugin, "sockets");
	json_t *choice = json_object();

	if (address)
		json_object_set_new(choice, "addresses", json_pack("[O]", address));
	if (sockets && !json_is_false(sockets))
		json_object_set(choice, "sockets", sockets);
	return choice;
}

/*
 * Makes the rule of a list: what its configuration says is then no more than the policy allows. What
 * a runtime may say in its place is left to the operator. Returns whether the list has a rule now.
 */
static bool add_list(struct ctl_policy_draft *draft, const struct vqp_policy *old, const json_t *list)
{
	const json_t *plugin = json_object_get(list, "plugin");
	const char *name = ctl_string(list, "name"), *path = ctl_string(list, "path");
	json_t *tenant = json_object_get(plugin, "tenant"), *priority = json_object_get(json_object_get(plugin, "limits"), "priority");
	cleanup_error struct vqp_error error = { 0 };
	cleanup_free char *why = NULL;
	json_auto_t *rule = json_pack("{s:s}", "network", name), *choice = make_choice(plugin);

	if (has_rule(draft->rules, name)) {
		note(draft, "%s has a list with the name %s, too: there is one rule for both", path, name);
		return true;
	}
	json_object_set_new(rule, "tenant", tenant ? json_incref(tenant) : json_integer(VQP_TERMS_DEFAULT_TENANT));
	/* Of the limits it is the only one that may be above what is normal. */
	if (json_integer_value(priority) > VQP_PRIORITY_NORMAL)
		json_object_set_new(rule, "limits", json_pack("{s:O}", "priority", priority));
	if (json_object_size(choice))
		json_object_set(rule, "may_choose", choice);
	if (old->json && vqp_policy_lets_annotate(old, name))
		json_object_set_new(rule, "by_annotation", json_true());
	if (check(rule, &error)) {
		note(draft, "%s is left out: %s", path, vqp_error_text(&error));
		return false;
	}
	if (json_is_true(json_object_get(json_object_get(plugin, "capabilities"), "vqp")))
		note(draft, "%s lets the runtime say the terms; what it may say besides the rule belongs to \"may_choose\" of "
		     "the network %s", path, name);
	if (json_object_get(choice, "sockets"))
		note(draft, "%s asks for stream sockets, which network policies and packet filters do not see: take \"sockets\" out of "
		     "\"may_choose\" of the network %s, and out of the list, if these are to see them", path, name);
	if (asprintf(&why, tenant ? "%s has the plugin vqp with this tenant" :
		     "%s has the plugin vqp without a tenant, which was 1", path) < 0)
		why = NULL;
	add(draft, json_incref(rule), why ? why : "");
	return true;
}

/* Makes the rules of all lists. Returns whether each list of the node has one now. */
static bool add_lists(struct ctl_policy_draft *draft, const struct vqp_policy *old, const json_t *lists, const json_t *unread)
{
	bool all = !json_array_size(unread);
	const json_t *list;
	size_t i;

	json_array_foreach(lists, i, list)
		all = add_list(draft, old, list) && all;
	json_array_extend(draft->notes, (json_t *)unread);
	return all;
}

/* ---- The file that was the policy before ---- */

/* Adds the rules of the old file, but for those of lists that have one by now. */
static void add_old(struct ctl_policy_draft *draft, const struct vqp_policy *old)
{
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(old->json, "rules"), i, rule)
		if (!has_rule(draft->rules, ctl_string(rule, "network")))
			add(draft, json_incref(rule), VQP_CONFIG_FILE " says so, which was the policy before");
	if (!old->json)
		return;
	note(draft, "the last rule, of \"any\", is for all that no other rule is for, also for pods whose network list has lost "
	     "the plugin vqp: take it out, or name the subnets that it is meant for");
	note(draft, "%s", CTL_POLICY_OLD_IDLE);
}

/* ---- The whole ---- */

/* The rule of a node on which nothing tells tenants apart. */
static void add_any(struct ctl_policy_draft *draft)
{
	add(draft, json_pack("{s:s, s:i}", "subnet", "any", "tenant", VQP_TERMS_DEFAULT_TENANT),
	    "this node has no CNI network list with the plugin vqp, and nothing else that tells tenants apart");
}

static int print(struct ctl_policy_draft *draft, struct vqp_error *error)
{
	const json_t *item;
	size_t bytes, i;
	FILE *out = open_memstream(&draft->text, &bytes);

	if (!out)
		return vqp_error_set(error, -errno, "out of memory");
	fputs("{\n  \"rules\": [\n", out);
	json_array_foreach(draft->rules, i, item) {
		fputs("    ", out);
		json_dumpf(json_object_get(item, "rule"), out, 0);
		fputs(i + 1 < json_array_size(draft->rules) ? ",\n" : "\n", out);
	}
	fputs("  ]\n}\n", out);
	return fclose(out) ? vqp_error_set(error, -ENOMEM, "out of memory") : 0;
}

int ctl_policy_draft_make(struct ctl_policy_draft *draft, const char *root, struct vqp_error *error)
{
	json_auto_t *unread = json_array(), *lists = ctl_cni_lists(root, unread);
	cleanup_policy struct vqp_policy old = { 0 };
	bool all;
	int ret;

	*draft = (struct ctl_policy_draft){ .rules = json_array(), .notes = json_array() };
	if (!unread || !lists || !draft->rules || !draft->notes)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	ret = ctl_policy_old_read(&old, root, error);
	if (ret)
		return ret;
	/* The rules by name come first, since one by subnet could be about the same containers. */
	all = add_lists(draft, &old, lists, unread);
	if (json_array_size(draft->rules) && !old.json)
		note(draft, "containers that no CNI network list attaches, as those of Docker and podman, get no VQP namespace: "
		     "add {\"subnet\": \"SUBNET\", \"tenant\": T} for them");
	add_old(draft, &old);
	/* A list of which nothing is known may be of any tenant. */
	if (!json_array_size(draft->rules) && all)
		add_any(draft);
	else if (!json_array_size(draft->rules))
		note(draft, "there is no rule, so no container gets a VQP namespace: mend these lists and run this again, or add rules");
	return print(draft, error);
}

void ctl_policy_draft_clear(struct ctl_policy_draft *draft)
{
	json_decref(draft->rules);
	json_decref(draft->notes);
	free(draft->text);
	*draft = (struct ctl_policy_draft){ 0 };
}
