// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The operator's file: whatever it says, nobody gets a tenant that it does not name, an address that is neither
 * his own nor within its subnets, or more than its limits.
 */
#include <stdbool.h>

#include "../../common/limits.h"
#include "../../oci-hook/policy.h"
#include "../../node/subnet.h"
#include "json.h"

const char *const fuzz_words[] = {
	"runtime", "stage", "tenant", "limits", "networks", "annotations", "subnet", "tenants", "addresses", "max_vqps",
	"max_mrs", "max_bytes", "max_rate", "priority", "unlimited", "10.1.0.0/16", "10.1.0.2", "10.1.0.2/32", "fd00::/64", "fd00::2", "0.0.0.0/0", "::/0",
	"10.1.0.1/16", "/", "", NULL,
};

static const uint8_t own[2][16] = {
	{ [10] = 0xff, 0xff, 10, 1, 0, 2 }, { 0xfd, [15] = 2 },
};

static bool names_tenant(const json_t *json, uint32_t tenant)
{
	const json_t *item;
	size_t i;

	if (json_integer_value(json_object_get(json, "tenant")) == tenant)
		return true;
	json_array_foreach(json_object_get(json, "networks"), i, item)
		if (json_integer_value(json_object_get(item, "tenant")) == tenant)
			return true;
	json_array_foreach(json_object_get(json_object_get(json, "annotations"), "tenants"), i, item)
		if (json_integer_value(item) == tenant)
			return true;
	return tenant == VQP_TERMS_DEFAULT_TENANT;
}

static bool names_address(const json_t *json, const char *address)
{
	struct vqp_subnet subnet;
	const json_t *item;
	uint8_t gid[16];
	size_t i;

	fuzz_check(!vqp_address_parse(address, gid));
	json_array_foreach(json_object_get(json_object_get(json, "annotations"), "addresses"), i, item)
		if (!vqp_subnet_parse(&subnet, json_string_value(item)) && vqp_subnet_has(&subnet, gid))
			return true;
	for (i = 0; i < 2; i++)
		if (!memcmp(own[i], gid, sizeof(gid)))
			return true;
	return false;
}

static void check_wish(const struct vqp_policy *policy, const struct vqp_wish *wish)
{
	cleanup_terms struct vqp_terms plain = { 0 }, terms = { 0 };
	struct vqp_error error = { 0 };
	int ret;

	fuzz_check(!vqp_policy_decide(policy, &(struct vqp_wish){ 0 }, own, 2, &plain, &error));
	fuzz_check(names_tenant(policy->json, plain.tenant) && names_address(policy->json, plain.address));
	ret = vqp_policy_decide(policy, wish, own, 2, &terms, &error);
	fuzz_check((ret == 0) == (error.text == NULL));
	vqp_error_clear(&error);
	if (ret)
		return;
	fuzz_check(names_tenant(policy->json, terms.tenant) && names_address(policy->json, terms.address));
	fuzz_check(!vqp_limits_lower(plain.limits, terms.limits, &error));
}

static void check_policy(const struct vqp_policy *policy)
{
	json_auto_t *limits = json_pack("{s:i, s:i, s:s}", "max_vqps", 3, "max_bytes", 128, "max_rate", "unlimited");
	const struct vqp_wish wishes[] = {
		{ .terms.tenant = 2 },
		{ .terms.address = "::ffff:10.1.0.9" },
		{ .terms.address = "fd00::9", .terms.tenant = 7 },
		{ .terms.limits = limits },
	};

	for (unsigned int i = 0; i < sizeof(wishes) / sizeof(*wishes); i++)
		check_wish(policy, &wishes[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };
	int ret = vqp_policy_parse(&policy, (const char *)data, bytes, &error);

	fuzz_check(ret <= 0 && (ret == 0) == (error.text == NULL));
	if (!ret)
		check_policy(&policy);
	vqp_error_clear(&error);
	vqp_policy_clear(&policy);
	return 0;
}
