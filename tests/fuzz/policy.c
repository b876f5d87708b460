// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The policy, and runtime.json as it was before: whatever the file says, the first rule that is for a container
 * decides, and nobody gets a tenant, an address that is not his own, limits or sockets that it does not let him have.
 */
#include <errno.h>
#include <stdbool.h>

#include "../../common/limits.h"
#include "../../common/sockets.h"
#include "../../common/subnet.h"
#include "../../node/policy.h"
#include "json.h"

const char *const fuzz_words[] = {
	"rules", "network", "subnet", "tenant", "limits", "may_choose", "by_annotation", "any", "blue", "green",
	"runtime", "stage", "networks", "annotations", "tenants", "addresses", "max_vqps",
	"max_mrs", "max_bytes", "max_rate", "priority", "unlimited", "sockets", "only", "except", "80", "81", "8000-8999", "10.1.0.0/16", "10.0.0.0/16", "10.1.0.2", "10.1.0.2/32", "fd00::/64", "fd00::2", "0.0.0.0/0", "::/0",
	"10.1.0.1/16", "/", "", NULL,
};

static const uint8_t own[2][16] = {
	{ [10] = 0xff, 0xff, 10, 1, 0, 2 }, { 0xfd, [15] = 2 },
};

static const struct vqp_has containers[] = {
	{ NULL, own, 2 }, { "blue", own, 2 }, { "green", own + 1, 1 }, { "blue", NULL, 0 }, { NULL, NULL, 0 },
};

static bool has(const json_t *subnet, const uint8_t gid[16])
{
	struct vqp_subnet parsed;

	fuzz_check(!vqp_subnet_parse(&parsed, json_string_value(subnet)));
	return vqp_subnet_has(&parsed, gid);
}

static bool is_for(const json_t *rule, const struct vqp_has *container)
{
	const json_t *network = json_object_get(rule, "network"), *subnet = json_object_get(rule, "subnet");
	const bool is_any = !subnet || !strcmp(json_string_value(subnet), "any");

	if (network && (!container->network || strcmp(container->network, json_string_value(network))))
		return false;
	for (size_t i = 0; i < container->count; i++)
		if (is_any || has(subnet, container->gids[i]))
			return true;
	return !container->count && is_any;
}

/* An old file decides about no list that it does not name. */
static bool is_left_open(const struct vqp_policy *policy, const struct vqp_has *container)
{
	const json_t *rule;
	size_t i;

	if (!policy->is_old || !container->network)
		return false;
	json_array_foreach(json_object_get(policy->json, "rules"), i, rule)
		if (json_object_get(rule, "network") &&
		    !strcmp(json_string_value(json_object_get(rule, "network")), container->network))
			return false;
	return true;
}

static size_t find_rule(const struct vqp_policy *policy, const struct vqp_has *container)
{
	const json_t *rule;
	size_t i;

	if (is_left_open(policy, container))
		return VQP_POLICY_NO_RULE;
	json_array_foreach(json_object_get(policy->json, "rules"), i, rule)
		if (is_for(rule, container))
			return i;
	return VQP_POLICY_NO_RULE;
}

static bool lets_have_tenant(const json_t *rule, uint32_t tenant)
{
	const json_t *tenants = json_object_get(json_object_get(rule, "may_choose"), "tenants"), *item;
	size_t i;

	if (json_integer_value(json_object_get(rule, "tenant")) == tenant || json_is_string(tenants))
		return true;
	json_array_foreach(tenants, i, item)
		if (json_integer_value(item) == tenant)
			return true;
	return false;
}

static bool lets_have_address(const json_t *rule, const struct vqp_has *container, const char *address)
{
	const json_t *subnet = json_object_get(rule, "subnet"), *item;
	uint8_t gid[16];
	size_t i;

	fuzz_check(!vqp_address_parse(address, gid));
	for (i = 0; i < container->count; i++)
		if (!memcmp(container->gids[i], gid, 16) && (!subnet || has(subnet, gid)))
			return true;
	json_array_foreach(json_object_get(json_object_get(rule, "may_choose"), "addresses"), i, item)
		if (has(item, gid))
			return true;
	return false;
}

/* Are these sockets what is said, or less? */
static bool is_within(const json_t *sockets, const json_t *said)
{
	struct vqp_error error = { 0 };
	json_auto_t *lowered = vqp_sockets_read(said, &error);

	return vqp_sockets_lower(&lowered, (json_t *)sockets) && json_equal(lowered, sockets);
}

static bool lets_have_sockets(const json_t *rule, const json_t *sockets)
{
	const json_t *said = json_object_get(rule, "sockets"), *choice = json_object_get(json_object_get(rule, "may_choose"), "sockets");

	return json_is_false(sockets) || (said && is_within(sockets, said)) || (choice && is_within(sockets, choice));
}

/* Decides, and checks what concerns every decision. Returns the rule that has decided; NULL after a refusal. */
static const json_t *decide(const struct vqp_policy *policy, const struct vqp_has *container, const struct vqp_terms *wish,
			    struct vqp_terms *terms)
{
	const size_t expected = find_rule(policy, container);
	struct vqp_error error = { 0 };
	const json_t *rule;
	size_t number;
	int ret = vqp_policy_decide(policy, container, wish, terms, &number, &error);

	fuzz_check((ret == 0) == (error.text == NULL) && ret <= 0);
	vqp_error_clear(&error);
	fuzz_check(number == expected);
	fuzz_check((ret == -EADDRNOTAVAIL) == (!container->count && !*wish->address));
	fuzz_check(ret || expected != VQP_POLICY_NO_RULE);
	if (ret)
		return NULL;
	rule = json_array_get(json_object_get(policy->json, "rules"), number);
	fuzz_check(lets_have_tenant(rule, terms->tenant) && lets_have_address(rule, container, terms->address));
	fuzz_check(lets_have_sockets(rule, terms->sockets));
	fuzz_check(!vqp_limits_check(terms->limits, &error) && json_object_size(terms->limits) == 5);
	return rule;
}

static void check_wish(const struct vqp_policy *policy, const struct vqp_has *container, const struct vqp_terms *wish)
{
	cleanup_terms struct vqp_terms plain = { 0 }, terms = { 0 };
	struct vqp_error error = { 0 };
	const json_t *rule = decide(policy, container, &(struct vqp_terms){ 0 }, &plain);

	fuzz_check(!rule || plain.tenant == json_integer_value(json_object_get(rule, "tenant")));
	fuzz_check((rule != NULL) == (container->count && find_rule(policy, container) != VQP_POLICY_NO_RULE));
	if (!decide(policy, container, wish, &terms))
		return;
	fuzz_check(!wish->tenant || terms.tenant == wish->tenant);
	fuzz_check(!*wish->address || !strcmp(terms.address, wish->address));
	fuzz_check(!rule || !vqp_limits_lower(plain.limits, terms.limits, &error));
}

static void check_lines(const struct vqp_policy *policy)
{
	const size_t count = vqp_policy_count(policy);

	fuzz_check(vqp_policy_line(policy, count) == 0);
	for (size_t i = 0; i < count; i++) {
		const unsigned int line = vqp_policy_line(policy, i);

		fuzz_check((line == 0) == policy->is_old);
		fuzz_check(!i || line >= vqp_policy_line(policy, i - 1));
	}
}

static void check_policy(const struct vqp_policy *policy)
{
	json_auto_t *limits = json_pack("{s:i, s:i, s:s}", "max_vqps", 3, "max_bytes", 128, "max_rate", "unlimited");
	json_auto_t *sockets = json_pack("{s:[s]}", "only", "80");
	const struct vqp_terms wishes[] = {
		{ .tenant = 2 },
		{ .address = "::ffff:10.1.0.9" },
		{ .address = "fd00::2" },
		{ .address = "fd00::9", .tenant = 7 },
		{ .limits = limits },
		{ .sockets = json_true() },
		{ .sockets = sockets },
	};

	for (unsigned int i = 0; i < sizeof(containers) / sizeof(*containers); i++)
		for (unsigned int j = 0; j < sizeof(wishes) / sizeof(*wishes); j++)
			check_wish(policy, &containers[i], &wishes[j]);
	fuzz_check(!vqp_policy_lets_annotate(policy, "blue") || vqp_policy_network(policy, "blue"));
	check_lines(policy);
}

static void check_text(int (*parse)(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error),
		       const uint8_t *data, size_t bytes)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };
	int ret = parse(&policy, (const char *)data, bytes, &error);

	fuzz_check(ret <= 0 && (ret == 0) == (error.text == NULL));
	if (!ret)
		check_policy(&policy);
	vqp_error_clear(&error);
	vqp_policy_clear(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	check_text(vqp_policy_parse, data, bytes);
	check_text(vqp_policy_parse_old, data, bytes);
	return 0;
}
