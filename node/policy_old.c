// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The policy of runtime.json, as nodes had it before there was policy.json: its members become
 * rules of that form which decide the same.
 */
#include <errno.h>
#include <string.h>

#include "../common/limits.h"
#include "policy.h"
#include "policy_check.h"

/* Checks the members that the file and each of its networks may have. */
static int check_terms(const json_t *object, struct vqp_error *error)
{
	const json_t *tenant = json_object_get(object, "tenant");
	int ret = tenant ? vqp_terms_check_tenant(tenant, error) : 0;

	return ret ? ret : vqp_limits_check(json_object_get(object, "limits"), error);
}

static int check_network(const json_t *network, struct vqp_error *error)
{
	static const char *const known[] = { "subnet", "tenant", "limits", NULL };
	int ret = vqp_policy_check_members(network, "a network", known, error);

	if (!ret)
		ret = vqp_policy_check_subnet(json_object_get(network, "subnet"), error);
	return ret ? ret : check_terms(network, error);
}

static int check_name(const json_t *name, struct vqp_error *error)
{
	return vqp_policy_check_name(name, "each of \"networks\" of \"annotations\"", error);
}

static int check_annotations(const json_t *annotations, struct vqp_error *error)
{
	static const char *const known[] = { "tenants", "addresses", "networks", NULL };
	int ret = annotations ? vqp_policy_check_members(annotations, "\"annotations\"", known, error) : 0;

	if (!ret)
		ret = vqp_policy_check_list(json_object_get(annotations, "tenants"), "tenants", vqp_terms_check_tenant, error);
	if (!ret)
		ret = vqp_policy_check_list(json_object_get(annotations, "addresses"), "addresses", vqp_policy_check_subnet, error);
	return ret ? ret : vqp_policy_check_list(json_object_get(annotations, "networks"), "networks", check_name, error);
}

static int check(const json_t *file, struct vqp_error *error)
{
	static const char *const known[] = { VQP_CONFIG_MEMBERS, NULL };
	int ret = vqp_policy_check_members(file, "the file", known, error);

	if (!ret)
		ret = check_terms(file, error);
	if (!ret)
		ret = vqp_policy_check_list(json_object_get(file, "networks"), "networks", check_network, error);
	return ret ? ret : check_annotations(json_object_get(file, "annotations"), error);
}

static bool has_policy(const json_t *file)
{
	return json_object_get(file, "tenant") || json_object_get(file, "limits") || json_object_get(file, "networks") ||
	       json_object_get(file, "annotations");
}

/* Returns the limits of the file with those of a network instead, a new object; NULL if there are none. */
static json_t *merge_limits(const json_t *file, const json_t *network)
{
	json_t *limits = json_object_get(file, "limits"), *own = json_object_get(network, "limits");
	json_t *merged = limits ? json_copy(limits) : json_object();

	if (own && json_object_update(merged, own)) {
		json_decref(merged);
		return NULL;
	}
	return merged;
}

/* Sets a member of a rule to what the file says, if it says that. */
static int take(json_t *rule, const char *name, json_t *value)
{
	return value ? json_object_set(rule, name, value) : 0;
}

/* Returns what annotations may choose, a new object; NULL without memory. */
static json_t *make_choice(const json_t *annotations)
{
	json_t *choice = json_object();

	if (choice && (take(choice, "tenants", json_object_get(annotations, "tenants")) ||
		       take(choice, "addresses", json_object_get(annotations, "addresses")))) {
		json_decref(choice);
		return NULL;
	}
	return choice;
}

/* Appends a rule with the terms of the file or, unless that is NULL, of one of its networks. */
static int append(json_t *rules, const char *whose, json_t *value, const json_t *file, const json_t *network)
{
	json_t *tenant = json_object_get(network, "tenant");
	json_auto_t *limits = merge_limits(file, network), *choice = make_choice(json_object_get(file, "annotations"));
	json_t *rule = json_pack("{s:O}", whose, value);
	int ret;

	if (!tenant)
		tenant = json_object_get(file, "tenant");
	if (!rule || !limits || !choice)
		ret = -1;
	else
		ret = tenant ? json_object_set(rule, "tenant", tenant)
			     : json_object_set_new(rule, "tenant", json_integer(VQP_TERMS_DEFAULT_TENANT));
	if (!ret && json_object_size(limits))
		ret = json_object_set(rule, "limits", limits);
	if (!ret && json_object_size(choice))
		ret = json_object_set(rule, "may_choose", choice);
	if (!ret && !strcmp(whose, "network"))
		ret = json_object_set_new(rule, "by_annotation", json_true());
	if (!ret)
		return json_array_append_new(rules, rule);
	json_decref(rule);
	return ret;
}

/*
 * Returns the rules, a new list; NULL without memory. Those of subnets come first, as the subnets
 * did, and then those that let annotations name a network list, which had the file's terms.
 */
static json_t *make_rules(const json_t *file)
{
	const json_t *names = json_object_get(json_object_get(file, "annotations"), "networks");
	json_auto_t *any = json_string("any"), *rules = json_array();
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(file, "networks"), i, item)
		if (append(rules, "subnet", json_object_get(item, "subnet"), file, item))
			return NULL;
	json_array_foreach(names, i, item)
		if (append(rules, "network", item, file, NULL))
			return NULL;
	return append(rules, "subnet", any, file, NULL) ? NULL : json_incref(rules);
}

int vqp_policy_parse_old(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error)
{
	json_auto_t *file = vqp_policy_load_json(text, bytes, error);
	json_t *rules;

	*policy = (struct vqp_policy){ .is_old = true };
	if (!file || check(file, error))
		return error->code;
	if (!has_policy(file))
		return vqp_error_set(error, -ENOENT, "it has nothing of a policy");
	rules = make_rules(file);
	policy->json = rules ? json_pack("{s:o}", "rules", rules) : NULL;
	return policy->json ? 0 : vqp_error_set(error, -ENOMEM, "out of memory");
}
