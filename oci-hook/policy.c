// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "../common/cleanup.h"
#include "../common/cni_name.h"
#include "../common/config.h"
#include "../common/limits.h"
#include "policy.h"
#include "../node/subnet.h"

static int check_members(const json_t *object, const char *what, const char *const *known, struct vqp_error *error)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return vqp_error_set(error, -EINVAL, "%s must be an object", what);
	json_object_foreach((json_t *)object, name, value) {
		const char *const *k = known;

		while (*k && strcmp(*k, name))
			k++;
		if (!*k)
			return vqp_error_set(error, -EINVAL, "%s has no \"%s\"", what, name);
	}
	return 0;
}

static int check_subnet(const json_t *text, struct vqp_error *error)
{
	struct vqp_subnet subnet;

	if (!json_is_string(text))
		return vqp_error_set(error, -EINVAL, "a subnet is a string, as \"10.1.0.0/16\"");
	if (vqp_subnet_parse(&subnet, json_string_value(text)))
		return vqp_error_set(error, -EINVAL, "\"%s\" is no subnet, as \"10.1.0.0/16\" or \"fd00::/64\"",
				     json_string_value(text));
	return 0;
}

static int check_name(const json_t *name, struct vqp_error *error)
{
	if (!json_is_string(name) || !vqp_cni_name_is_valid(json_string_value(name)))
		return vqp_error_set(error, -EINVAL, "\"networks\" of \"annotations\" are names of CNI network lists");
	return 0;
}

/* Checks each item of a list, which may be missing. */
static int check_list(const json_t *list, const char *name,
		      int (*check)(const json_t *item, struct vqp_error *error), struct vqp_error *error)
{
	const json_t *item;
	size_t i;
	int ret;

	if (list && !json_is_array(list))
		return vqp_error_set(error, -EINVAL, "\"%s\" must be a list", name);
	json_array_foreach(list, i, item) {
		ret = check(item, error);
		if (ret)
			return ret;
	}
	return 0;
}

/* Checks the members that the file and each of its networks may have. */
static int check_rule(const json_t *rule, struct vqp_error *error)
{
	const json_t *tenant = json_object_get(rule, "tenant");
	int ret = tenant ? vqp_terms_check_tenant(tenant, error) : 0;

	return ret ? ret : vqp_limits_check(json_object_get(rule, "limits"), error);
}

static int check_network(const json_t *network, struct vqp_error *error)
{
	int ret = check_members(network, "a network", (const char *const[]){ "subnet", "tenant", "limits", NULL }, error);

	if (!ret)
		ret = check_subnet(json_object_get(network, "subnet"), error);
	return ret ? ret : check_rule(network, error);
}

static int check_annotations(const json_t *annotations, struct vqp_error *error)
{
	static const char *const known[] = { "tenants", "addresses", "networks", NULL };
	int ret = annotations ? check_members(annotations, "\"annotations\"", known, error) : 0;

	if (!ret)
		ret = check_list(json_object_get(annotations, "tenants"), "tenants", vqp_terms_check_tenant, error);
	if (!ret)
		ret = check_list(json_object_get(annotations, "addresses"), "addresses", check_subnet, error);
	return ret ? ret : check_list(json_object_get(annotations, "networks"), "networks", check_name, error);
}

static int check(const json_t *json, struct vqp_error *error)
{
	static const char *const known[] = {
		VQP_CONFIG_RUNTIME, VQP_CONFIG_STAGE, "tenant", "limits", "networks", "annotations", NULL,
	};
	int ret = check_members(json, "the file", known, error);

	if (!ret)
		ret = check_rule(json, error);
	if (!ret)
		ret = check_list(json_object_get(json, "networks"), "networks", check_network, error);
	return ret ? ret : check_annotations(json_object_get(json, "annotations"), error);
}

int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error)
{
	json_error_t where;

	policy->json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
	if (!policy->json)
		return vqp_error_set(error, -EINVAL, "not JSON: line %d: %s", where.line, where.text);
	return check(policy->json, error);
}

int vqp_policy_read(struct vqp_policy *policy, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	size_t bytes;
	int ret = vqp_config_read(VQP_CONFIG_FILE, &text, &bytes, error);

	if (ret == -ENOENT) {
		vqp_error_clear(error);
		return vqp_policy_parse(policy, "{}", 2, error);
	}
	if (ret)
		return ret;
	ret = vqp_policy_parse(policy, text, bytes, error);
	return ret ? vqp_error_add_context(error, VQP_CONFIG_FILE) : 0;
}

void vqp_policy_clear(struct vqp_policy *policy)
{
	json_decref(policy->json);
	policy->json = NULL;
}

static bool is_in(const json_t *subnet, const uint8_t gid[16])
{
	struct vqp_subnet parsed;

	return !vqp_subnet_parse(&parsed, json_string_value(subnet)) && vqp_subnet_has(&parsed, gid);
}

/*
 * Finds the first network that has one of the addresses, and moves *own to that address. Returns
 * NULL if there is none, and leaves *own at the first address.
 */
static const json_t *find_network(const struct vqp_policy *policy, const uint8_t (**own)[16], size_t count)
{
	const uint8_t (*all)[16] = *own;
	const json_t *network;
	size_t i;

	json_array_foreach(json_object_get(policy->json, "networks"), i, network)
		for (*own = all; *own < all + count; (*own)++)
			if (is_in(json_object_get(network, "subnet"), **own))
				return network;
	*own = all;
	return NULL;
}

static int apply(const json_t *rule, struct vqp_terms *terms, struct vqp_error *error)
{
	const json_t *tenant = json_object_get(rule, "tenant");
	json_t *limits = json_object_get(rule, "limits");

	if (tenant)
		terms->tenant = json_integer_value(tenant);
	if (limits && json_object_update(terms->limits, limits))
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return 0;
}

static bool allows_tenant(const struct vqp_policy *policy, uint32_t wanted)
{
	const json_t *tenants = json_object_get(json_object_get(policy->json, "annotations"), "tenants"), *tenant;
	size_t i;

	json_array_foreach(tenants, i, tenant)
		if (json_integer_value(tenant) == wanted)
			return true;
	return false;
}

static bool allows_address(const struct vqp_policy *policy, const char *wanted)
{
	const json_t *subnets = json_object_get(json_object_get(policy->json, "annotations"), "addresses"), *subnet;
	uint8_t gid[16];
	size_t i;

	if (vqp_address_parse(wanted, gid))
		return false;
	json_array_foreach(subnets, i, subnet)
		if (is_in(subnet, gid))
			return true;
	return false;
}

static int grant_tenant(const struct vqp_policy *policy, const struct vqp_wish *wish, struct vqp_terms *terms,
			struct vqp_error *error)
{
	const uint32_t wanted = wish->terms.tenant;

	if (wanted && wanted != terms->tenant && !allows_tenant(policy, wanted))
		return vqp_error_set(error, -EPERM, "annotation " VQP_WISH_TENANT ": %u is not among \"tenants\" of "
				     "\"annotations\" in " VQP_CONFIG_FILE, wanted);
	if (wanted)
		terms->tenant = wanted;
	return 0;
}

static int grant_address(const struct vqp_policy *policy, const struct vqp_wish *wish, struct vqp_terms *terms,
			 struct vqp_error *error)
{
	const char *wanted = wish->terms.address;

	if (*wanted && strcmp(wanted, terms->address) && !allows_address(policy, wanted))
		return vqp_error_set(error, -EPERM, "annotation " VQP_WISH_ADDRESS ": %s is not within \"addresses\" of "
				     "\"annotations\" in " VQP_CONFIG_FILE, wanted);
	if (*wanted)
		strcpy(terms->address, wanted);
	if (!*terms->address)
		return vqp_error_set(error, -EADDRNOTAVAIL, "the container's network namespace has no address");
	return 0;
}

/* Applies the limits of a wish, which may lower those that the operator grants. */
static int grant_limits(const struct vqp_wish *wish, struct vqp_terms *terms, struct vqp_error *error)
{
	int ret = vqp_limits_lower(terms->limits, wish->terms.limits, error);

	return ret ? vqp_error_set(error, ret, "annotation " VQP_WISH_PREFIX "%s of " VQP_CONFIG_FILE, vqp_error_text(error)) : 0;
}

/* Applies all rules for a container with these addresses, without regard to a wish. */
static int apply_all(const struct vqp_policy *policy, const uint8_t (*own)[16], size_t count, struct vqp_terms *terms,
		     struct vqp_error *error)
{
	const json_t *network;
	int ret;

	*terms = (struct vqp_terms){ .tenant = VQP_TERMS_DEFAULT_TENANT, .limits = vqp_limits_default() };
	if (!terms->limits)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	ret = apply(policy->json, terms, error);
	if (ret || !count)
		return ret;
	network = find_network(policy, &own, count);
	vqp_address_format(*own, terms->address);
	return apply(network, terms, error);
}

int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_wish *wish,
		      const uint8_t (*own)[16], size_t count, struct vqp_terms *terms, struct vqp_error *error)
{
	int ret = apply_all(policy, own, count, terms, error);

	if (!ret)
		ret = grant_tenant(policy, wish, terms, error);
	if (!ret)
		ret = grant_address(policy, wish, terms, error);
	return ret ? ret : grant_limits(wish, terms, error);
}

bool vqp_policy_has_network(const struct vqp_policy *policy, const char *name)
{
	const json_t *names = json_object_get(json_object_get(policy->json, "annotations"), "networks"), *known;
	size_t i;

	json_array_foreach(names, i, known)
		if (!strcmp(json_string_value(known), name))
			return true;
	return false;
}
