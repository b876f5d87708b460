// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../common/cleanup.h"
#include "../common/limits.h"
#include "../common/sockets.h"
#include "policy.h"
#include "policy_check.h"

/* ---- What rules may be ---- */

static int check_tenants(const json_t *tenants, struct vqp_error *error)
{
	if (json_is_string(tenants) && !strcmp(json_string_value(tenants), "any"))
		return 0;
	if (tenants && !json_is_array(tenants))
		return vqp_error_set(error, -EINVAL, "\"tenants\" must be a list, or \"any\"");
	return vqp_policy_check_list(tenants, "tenants", vqp_terms_check_tenant, error);
}

static int check_sockets(const json_t *sockets, struct vqp_error *error)
{
	json_auto_t *read = sockets ? vqp_sockets_read(sockets, error) : NULL;

	return sockets && !read ? error->code : 0;
}

static int check_choice(const json_t *choice, struct vqp_error *error)
{
	static const char *const known[] = { "tenants", "addresses", "sockets", NULL };
	int ret = choice ? vqp_policy_check_members(choice, "\"may_choose\"", known, error) : 0;

	if (!ret)
		ret = check_tenants(json_object_get(choice, "tenants"), error);
	if (!ret)
		ret = check_sockets(json_object_get(choice, "sockets"), error);
	return ret ? ret : vqp_policy_check_list(json_object_get(choice, "addresses"), "addresses", vqp_policy_check_subnet, error);
}

static int check_whose(const json_t *rule, struct vqp_error *error)
{
	const json_t *network = json_object_get(rule, "network"), *subnet = json_object_get(rule, "subnet");
	const json_t *by_annotation = json_object_get(rule, "by_annotation");
	int ret = network ? vqp_policy_check_name(network, "\"network\"", error) : 0;

	if (!ret && subnet)
		ret = vqp_policy_check_subnet(subnet, error);
	if (ret)
		return ret;
	if (!network && !subnet)
		return vqp_error_set(error, -EINVAL, "a rule says whose it is by \"network\", by \"subnet\", or by both: "
				     "\"subnet\": \"any\" is for all");
	if (by_annotation && !json_is_boolean(by_annotation))
		return vqp_error_set(error, -EINVAL, "\"by_annotation\" must be true or false");
	if (by_annotation && !network)
		return vqp_error_set(error, -EINVAL, "\"by_annotation\" is about a CNI network list, which \"network\" must name");
	return 0;
}

static int check_rule(const json_t *rule, struct vqp_error *error)
{
	static const char *const known[] = {
		"network", "subnet", "tenant", "limits", "sockets", "may_choose", "by_annotation", NULL,
	};
	int ret = vqp_policy_check_members(rule, "a rule", known, error);

	if (!ret)
		ret = check_whose(rule, error);
	if (!ret)
		ret = vqp_terms_check_tenant(json_object_get(rule, "tenant"), error);
	if (!ret)
		ret = vqp_limits_check(json_object_get(rule, "limits"), error);
	if (!ret)
		ret = check_sockets(json_object_get(rule, "sockets"), error);
	return ret ? ret : check_choice(json_object_get(rule, "may_choose"), error);
}

static const json_t *get_rules(const struct vqp_policy *policy)
{
	return json_object_get(policy->json, "rules");
}

static int check(const struct vqp_policy *policy, struct vqp_error *error)
{
	static const char *const known[] = { "rules", NULL };
	const json_t *rules = get_rules(policy), *rule;
	size_t i;
	int ret = vqp_policy_check_members(policy->json, "the file", known, error);

	if (ret)
		return ret;
	if (!json_is_array(rules))
		return vqp_error_set(error, -EINVAL, "\"rules\" must be there, a list");
	json_array_foreach(rules, i, rule) {
		if (!json_is_object(rule))
			return vqp_error_set(error, -EINVAL, "rule %zu must be an object", i + 1);
		if (check_rule(rule, error))
			return vqp_error_add_context(error, "rule %zu (line %u)", i + 1, vqp_policy_line(policy, i));
	}
	return 0;
}

/* ---- Reading ---- */

int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error)
{
	*policy = (struct vqp_policy){ .json = vqp_policy_load_json(text, bytes, error) };
	if (!policy->json)
		return error->code;
	policy->text = strndup(text, bytes);
	if (!policy->text)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return check(policy, error);
}

/* Reads a file of the directory. -ENOENT, also if it has nothing of a policy. */
static int load(struct vqp_policy *policy, const char *dir, const char *name,
		int (*parse)(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error),
		struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	size_t bytes;
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return vqp_error_set(error, -ENAMETOOLONG, "the path of %s is too long", name);
	ret = vqp_config_read(path, &text, &bytes, error);
	if (ret)
		return ret;
	ret = parse(policy, text, bytes, error);
	return ret ? vqp_error_add_context(error, "%s", path) : 0;
}

/* Has the directory a file of this name? A symbolic link that leads nowhere is one, too. */
static bool has_file(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &file) || errno != ENOENT;
}

int vqp_policy_load(struct vqp_policy *policy, const char *dir, struct vqp_error *error)
{
	int ret;

	*policy = (struct vqp_policy){ 0 };
	ret = load(policy, dir, basename(VQP_POLICY_FILE), vqp_policy_parse, error);
	/* Who has written a policy does not mean that of the old file. */
	if (ret != -ENOENT || has_file(dir, basename(VQP_POLICY_FILE)))
		return ret;
	vqp_error_clear(error);
	ret = load(policy, dir, basename(VQP_CONFIG_FILE), vqp_policy_parse_old, error);
	if (ret != -ENOENT)
		return ret;
	return vqp_error_set(error, -EPERM, "this node has no policy (" VQP_POLICY_FILE "), so no container gets a VQP "
			     "namespace: vqpctl policy init makes one");
}

void vqp_policy_clear(struct vqp_policy *policy)
{
	json_decref(policy->json);
	free(policy->text);
	*policy = (struct vqp_policy){ 0 };
}

/* ---- Looking things up ---- */

const json_t *vqp_policy_network(const struct vqp_policy *policy, const char *network)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(get_rules(policy), i, rule) {
		const char *name = json_string_value(json_object_get(rule, "network"));

		/* What an old file says of subnets it never said of containers that CNI had attached. */
		if (name ? !strcmp(name, network) : !policy->is_old)
			return rule;
	}
	return NULL;
}

int vqp_policy_refuse_network(const struct vqp_policy *policy, const char *network, struct vqp_error *error)
{
	if (policy->is_old)
		return vqp_error_set(error, -EPERM, "this node has no policy (" VQP_POLICY_FILE "), and " VQP_CONFIG_FILE
				     ", which is read in its place, does not name the network %s: vqpctl policy init "
				     "makes one", network);
	return vqp_error_set(error, -EPERM, "no rule of %s could be for containers of network %s: add one, "
			     "vqp-policy.json(5)", vqp_policy_file(policy), network);
}

bool vqp_policy_lets_annotate(const struct vqp_policy *policy, const char *network)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(get_rules(policy), i, rule) {
		const char *name = json_string_value(json_object_get(rule, "network"));

		if (name && !strcmp(name, network) && json_is_true(json_object_get(rule, "by_annotation")))
			return true;
	}
	return false;
}

size_t vqp_policy_count(const struct vqp_policy *policy)
{
	return json_array_size(get_rules(policy));
}

const char *vqp_policy_file(const struct vqp_policy *policy)
{
	return policy->is_old ? VQP_CONFIG_FILE : VQP_POLICY_FILE;
}

/* Returns the end of the JSON string that begins here, which is well-formed. */
static const char *skip_string(const char *quote)
{
	const char *c = quote + 1;

	while (*c && *c != '"')
		c += c[0] == '\\' && c[1] ? 2 : 1;
	return c;
}

unsigned int vqp_policy_line(const struct vqp_policy *policy, size_t rule)
{
	unsigned int line = 1, depth = 0;

	/* Rules are the only objects at their depth, since the file has nothing but its "rules". */
	for (const char *c = policy->text; c && *c; c++) {
		if (*c == '\n')
			line++;
		else if (*c == '"')
			c = skip_string(c);
		else if (*c == '{' && depth == 2 && !rule--)
			return line;
		else if (*c == '{' || *c == '[')
			depth++;
		else if (*c == '}' || *c == ']')
			depth--;
	}
	return 0;
}
