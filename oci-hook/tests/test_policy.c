// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>

#include "../../common/limits.h"

#include "../policy.h"
#include "../../node/subnet.h"

#define FILE_TEXT \
	"{\"tenant\": 3, \"limits\": {\"max_vqps\": 100}, \"networks\": [" \
	"  {\"subnet\": \"10.7.0.0/16\", \"tenant\": 7, \"limits\": {\"max_vqps\": 10, \"max_bytes\": 4096}}," \
	"  {\"subnet\": \"fd08::/64\", \"tenant\": 8}]," \
	" \"annotations\": {\"tenants\": [9], \"addresses\": [\"10.8.0.0/16\", \"10.9.0.1\"]}}"

/* What a container with up to two addresses gets. */
static int decide(const char *file, const char *first, const char *second, struct vqp_wish wish,
		  struct vqp_terms *terms, struct vqp_error *error)
{
	struct vqp_policy policy;
	uint8_t gids[2][16];
	size_t count = 0;
	int ret;

	if (first)
		assert_int_equal(vqp_address_parse(first, gids[count++]), 0);
	if (second)
		assert_int_equal(vqp_address_parse(second, gids[count++]), 0);
	assert_int_equal(vqp_policy_parse(&policy, file, strlen(file), error), 0);
	ret = vqp_policy_decide(&policy, &wish, gids, count, terms, error);
	vqp_policy_clear(&policy);
	return ret;
}

static json_int_t limit(const struct vqp_terms *terms, const char *name)
{
	return json_integer_value(json_object_get(terms->limits, name));
}

/* A wish for limits, which goes with the test. */
static struct vqp_wish wish_for(const char *limits)
{
	return (struct vqp_wish){ .terms.limits = json_loads(limits, 0, NULL) };
}

static void grants(const char *first, const char *second, struct vqp_wish wish, uint32_t tenant, const char *address,
		   int64_t max_vqps)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };

	assert_int_equal(decide(FILE_TEXT, first, second, wish, &terms, &error), 0);
	assert_int_equal(terms.tenant, tenant);
	assert_string_equal(terms.address, address);
	assert_int_equal(limit(&terms, "max_vqps"), max_vqps);
}

static void refuses(int err, const char *first, struct vqp_wish wish, const char *text)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };

	assert_int_equal(decide(FILE_TEXT, first, NULL, wish, &terms, &error), -err);
	unit_assert_error(&error, text);
}

static void without_a_file_all_are_one_tenant(void **state)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(decide("{}", "10.1.0.2", NULL, (struct vqp_wish){ 0 }, &terms, &error), 0);
	assert_int_equal(terms.tenant, 1);
	assert_string_equal(terms.address, "::ffff:10.1.0.2");
	vqp_terms_clear(&terms);
	assert_int_equal(decide("{}", "10.1.0.2", NULL, (struct vqp_wish){ .terms.tenant = 2 }, &terms, &error), -EPERM);
	unit_assert_error(&error, "io.vqp.tenant: 2");
}

static void the_network_decides(void **state)
{
	(void)state;
	grants("10.1.0.2", NULL, (struct vqp_wish){ 0 }, 3, "::ffff:10.1.0.2", 100);
	grants("10.7.255.1", NULL, (struct vqp_wish){ 0 }, 7, "::ffff:10.7.255.1", 10);
	grants("fd08::5", NULL, (struct vqp_wish){ 0 }, 8, "fd08::5", 100);
}

static void the_first_network_that_is_listed_counts(void **state)
{
	(void)state;
	grants("10.1.0.2", "10.7.0.2", (struct vqp_wish){ 0 }, 7, "::ffff:10.7.0.2", 10);
	grants("fd08::5", "10.7.0.2", (struct vqp_wish){ 0 }, 7, "::ffff:10.7.0.2", 10);
	grants("10.1.0.2", "10.2.0.2", (struct vqp_wish){ 0 }, 3, "::ffff:10.1.0.2", 100);
}

static void a_tenant_must_be_allowed(void **state)
{
	(void)state;
	grants("10.7.0.2", NULL, (struct vqp_wish){ .terms.tenant = 9 }, 9, "::ffff:10.7.0.2", 10);
	grants("10.7.0.2", NULL, (struct vqp_wish){ .terms.tenant = 7 }, 7, "::ffff:10.7.0.2", 10);
	refuses(EPERM, "10.7.0.2", (struct vqp_wish){ .terms.tenant = 8 }, "io.vqp.tenant: 8 is not among");
	refuses(EPERM, "10.7.0.2", (struct vqp_wish){ .terms.tenant = 3 }, "is not among");
}

static void an_address_must_be_allowed(void **state)
{
	(void)state;
	grants("10.1.0.2", NULL, (struct vqp_wish){ .terms.address = "::ffff:10.8.1.1" }, 3, "::ffff:10.8.1.1", 100);
	grants("10.1.0.2", NULL, (struct vqp_wish){ .terms.address = "::ffff:10.9.0.1" }, 3, "::ffff:10.9.0.1", 100);
	grants("10.1.0.2", NULL, (struct vqp_wish){ .terms.address = "::ffff:10.1.0.2" }, 3, "::ffff:10.1.0.2", 100);
	refuses(EPERM, "10.1.0.2", (struct vqp_wish){ .terms.address = "::ffff:10.9.0.2" }, "is not within");
	refuses(EPERM, "10.1.0.2", (struct vqp_wish){ .terms.address = "::ffff:10.1.0.3" }, "is not within");
}

/* It would be a way into the tenant of another network. */
static void an_address_that_is_asked_for_brings_no_tenant(void **state)
{
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(decide("{\"networks\": [{\"subnet\": \"10.8.0.0/16\", \"tenant\": 8}],"
				" \"annotations\": {\"addresses\": [\"10.0.0.0/8\"]}}", "10.1.0.2", NULL,
				(struct vqp_wish){ .terms.address = "::ffff:10.8.0.1" }, &terms, &error), 0);
	assert_int_equal(terms.tenant, 1);
	assert_string_equal(terms.address, "::ffff:10.8.0.1");
}

static void limits_can_only_be_lowered(void **state)
{
	struct vqp_wish less = wish_for("{\"max_vqps\": 5}"), other = wish_for("{\"max_mrs\": 50}");
	struct vqp_wish more = wish_for("{\"max_vqps\": 11}"), all = wish_for("{\"max_bytes\": \"unlimited\"}");

	(void)state;
	grants("10.7.0.2", NULL, less, 7, "::ffff:10.7.0.2", 5);
	grants("10.7.0.2", NULL, other, 7, "::ffff:10.7.0.2", 10);
	refuses(EPERM, "10.7.0.2", more, "max_vqps: 11 is more than 10");
	refuses(EPERM, "10.7.0.2", all, "max_bytes: \"unlimited\" is more than 4096");
	vqp_wish_clear(&less);
	vqp_wish_clear(&other);
	vqp_wish_clear(&more);
	vqp_wish_clear(&all);
}

/* vqpd is told of each, so that a namespace that is there gets what it is to have. */
static void terms_have_all_limits(void **state)
{
	json_t *expected = vqp_limits_default();
	cleanup_terms struct vqp_terms terms = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	json_object_set_new(expected, "max_rate", json_integer(65536));
	json_object_set_new(expected, "priority", json_integer(3));
	assert_int_equal(decide("{\"limits\": {\"priority\": 3, \"max_rate\": 65536}}", "10.1.0.2", NULL,
				(struct vqp_wish){ 0 }, &terms, &error), 0);
	assert_true(json_equal(terms.limits, expected));
	json_decref(expected);
}

static void a_container_without_address_has_none(void **state)
{
	(void)state;
	refuses(EADDRNOTAVAIL, NULL, (struct vqp_wish){ 0 }, "has no address");
	grants(NULL, NULL, (struct vqp_wish){ .terms.address = "::ffff:10.9.0.1" }, 3, "::ffff:10.9.0.1", 100);
}

static void no_policy(const char *text, const char *reason)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	assert_int_equal(vqp_policy_parse(&policy, text, strlen(text), &error), -EINVAL);
	vqp_policy_clear(&policy);
	unit_assert_error(&error, reason);
}

static void malformed_files_are_refused(void **state)
{
	(void)state;
	no_policy("", "not JSON");
	no_policy("[]", "must be an object");
	no_policy("{\"tenants\": 7}", "has no \"tenants\"");
	no_policy("{\"tenant\": 1, \"tenant\": 2}", "duplicate");
	no_policy("{\"tenant\": 0}", "\"tenant\" must be a number");
	no_policy("{\"tenant\": \"7\"}", "\"tenant\" must be a number");
	no_policy("{\"limits\": {\"max_vqp\": 7}}", "not \"max_vqp\"");
	no_policy("{\"limits\": {\"max_vqps\": -1}}", "a number from 0");
	no_policy("{\"limits\": []}", "must be an object");
	no_policy("{\"networks\": {}}", "must be a list");
	no_policy("{\"networks\": [{\"tenant\": 7}]}", "a subnet is a string");
	no_policy("{\"networks\": [{\"subnet\": \"10.1.0.0/33\"}]}", "is no subnet");
	no_policy("{\"networks\": [{\"subnet\": \"10.1.0.0/16\", \"tenants\": [7]}]}", "a network has no");
	no_policy("{\"annotations\": [7]}", "must be an object");
	no_policy("{\"annotations\": {\"tenants\": [7, \"8\"]}}", "\"tenant\" must be a number");
	no_policy("{\"annotations\": {\"addresses\": [\"all\"]}}", "is no subnet");
	no_policy("{\"annotations\": {\"networks\": \"blue\"}}", "must be a list");
	no_policy("{\"annotations\": {\"networks\": [7]}}", "are names of CNI network lists");
	no_policy("{\"annotations\": {\"networks\": [\"../blue\"]}}", "are names of CNI network lists");
	no_policy("{\"annotations\": {\"all\": true}}", "has no \"all\"");
}

static void has_network(const char *file, const char *name, bool expected)
{
	struct vqp_policy policy;
	struct vqp_error error = { 0 };

	assert_int_equal(vqp_policy_parse(&policy, file, strlen(file), &error), 0);
	assert_int_equal(vqp_policy_has_network(&policy, name), expected);
	vqp_policy_clear(&policy);
}

static void networks_must_be_allowed(void **state)
{
	static const char file[] = "{\"annotations\": {\"networks\": [\"blue\", \"green\"]}}";

	(void)state;
	has_network(file, "green", true);
	has_network(file, "gree", false);
	has_network(file, "greener", false);
	has_network("{\"annotations\": {}}", "green", false);
	has_network("{}", "green", false);
}

static void has(const char *subnet, const char *address, int expected)
{
	struct vqp_subnet parsed;
	uint8_t gid[16];

	assert_int_equal(vqp_subnet_parse(&parsed, subnet), 0);
	assert_int_equal(vqp_address_parse(address, gid), 0);
	assert_int_equal(vqp_subnet_has(&parsed, gid), expected);
}

static void subnets(void **state)
{
	struct vqp_subnet parsed;

	(void)state;
	has("10.1.0.0/20", "10.1.15.255", 1);
	has("10.1.0.0/20", "10.1.16.0", 0);
	has("10.1.0.2", "10.1.0.2", 1);
	has("10.1.0.2/32", "10.1.0.3", 0);
	has("0.0.0.0/0", "203.0.113.1", 1);
	has("0.0.0.0/0", "fd00::1", 0);
	has("::/0", "10.1.0.1", 1);
	has("fd00::/9", "fd7f::1", 1);
	has("fd00::/9", "fd80::1", 0);
	assert_int_equal(vqp_subnet_parse(&parsed, "10.1.0.1/16"), -EINVAL);
	assert_int_equal(vqp_subnet_parse(&parsed, "10.1.0.0/"), -EINVAL);
	assert_int_equal(vqp_subnet_parse(&parsed, "10.1.0.0/-1"), -EINVAL);
	assert_int_equal(vqp_subnet_parse(&parsed, "10.1.0.0/16/16"), -EINVAL);
	assert_int_equal(vqp_subnet_parse(&parsed, "fd00::/129"), -EINVAL);
	assert_int_equal(vqp_subnet_parse(&parsed, "0123:4567:89ab:cdef:0123:4567:89ab:cdef:0123:4567/64"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_all_are_one_tenant),
		cmocka_unit_test(the_network_decides),
		cmocka_unit_test(the_first_network_that_is_listed_counts),
		cmocka_unit_test(a_tenant_must_be_allowed),
		cmocka_unit_test(an_address_must_be_allowed),
		cmocka_unit_test(an_address_that_is_asked_for_brings_no_tenant),
		cmocka_unit_test(limits_can_only_be_lowered),
		cmocka_unit_test(terms_have_all_limits),
		cmocka_unit_test(a_container_without_address_has_none),
		cmocka_unit_test(networks_must_be_allowed),
		cmocka_unit_test(malformed_files_are_refused),
		cmocka_unit_test(subnets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
