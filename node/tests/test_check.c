/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vqpd/request.h"

#define GOOD "{\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[\"10.1.0.2\"]}}"

static void a_good_add_is_taken_apart(void **state)
{
	json_t *object = unit_json(GOOD);
	struct vqp_request request;

	(void)state;
	assert_null(vqp_request_check_add(object, &request));
	assert_string_equal(request.name, "c1/eth0");
	assert_null(request.claim.has.network);
	assert_int_equal(request.claim.has.count, 1);
	assert_int_equal(request.claim.has.gids[0][15], 2);
	assert_int_equal(request.claim.wish.tenant, 0);
	assert_string_equal(request.claim.wish.address, "");
	assert_null(request.claim.wish.limits);
	vqp_request_clear(&request);
	json_decref(object);
}

static void a_claim_is_all_that_a_client_says(void **state)
{
	json_t *object = unit_json("{\"id\":\"c1\",\"ifname\":\"eth0\",\"network\":\"blue\","
				   "\"has\":{\"network\":\"green\",\"addresses\":[\"10.1.0.2\",\"fd00::3\"]},"
				   "\"wish\":{\"tenant\":7,\"address\":\"10.1.0.9\",\"limits\":{\"max_vqps\":5}}}");
	struct vqp_request request;

	(void)state;
	assert_null(vqp_request_check_add(object, &request));
	assert_string_equal(request.name, "c1/eth0/blue");
	assert_string_equal(request.claim.has.network, "green");
	assert_int_equal(request.claim.has.count, 2);
	assert_int_equal(request.claim.has.gids[1][0], 0xfd);
	assert_int_equal(request.claim.wish.tenant, 7);
	assert_string_equal(request.claim.wish.address, "::ffff:10.1.0.9");
	assert_int_equal(json_integer_value(json_object_get(request.claim.wish.limits, "max_vqps")), 5);
	vqp_request_clear(&request);
	json_decref(object);
}

/* GOOD with one member replaced (or removed, by NULL) is refused with `name`. */
static void assert_refused(const char *member, const char *value, const char *name)
{
	json_t *object = unit_json(GOOD), *refusal;
	struct vqp_request request;

	if (value)
		json_object_set_new(object, member, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(object, member);
	refusal = vqp_request_check_add(object, &request);
	assert_non_null(refusal);
	unit_assert_string(refusal, "errno", name);
	vqp_request_clear(&request);
	json_decref(refusal);
	json_decref(object);
}

static void an_id_is_one_word(void **state)
{
	(void)state;
	assert_refused("id", NULL, "EINVAL");
	assert_refused("id", "\"\"", "EINVAL");
	assert_refused("id", "1", "EINVAL");
	assert_refused("id", "\"a/b\"", "EINVAL");
	assert_refused("id", "\"a b\"", "EINVAL");
	assert_refused("id", "\"a\\n\"", "EINVAL");
	assert_refused("id", "\"\\u00e4\"", "EINVAL");
}

static void an_ifname_is_what_the_kernel_takes(void **state)
{
	(void)state;
	assert_refused("ifname", NULL, "EINVAL");
	assert_refused("ifname", "\"\"", "EINVAL");
	assert_refused("ifname", "\".\"", "EINVAL");
	assert_refused("ifname", "\"..\"", "EINVAL");
	assert_refused("ifname", "\"a:b\"", "EINVAL");
	assert_refused("ifname", "\"a b\"", "EINVAL");
	assert_refused("ifname", "\"a234567890123456\"", "EINVAL");
}

static void what_a_container_has_is_well_formed(void **state)
{
	(void)state;
	assert_refused("has", NULL, "EINVAL");
	assert_refused("has", "[]", "EINVAL");
	assert_refused("has", "null", "EINVAL");
	assert_refused("has", "{}", "EINVAL");
	assert_refused("has", "{\"addresses\":\"10.1.0.2\"}", "EINVAL");
	assert_refused("has", "{\"addresses\":[],\"network\":7}", "EINVAL");
	assert_refused("has", "{\"addresses\":[],\"network\":\"\"}", "EINVAL");
	assert_refused("has", "{\"addresses\":[],\"pod\":\"a\"}", "EINVAL");
}

static void addresses_are_one_containers(void **state)
{
	(void)state;
	assert_refused("has", "{\"addresses\":[\"fd00::2\",\"10.1.0.2/24\"]}", "EINVAL");
	assert_refused("has", "{\"addresses\":[\"fd00::2\",\"name\"]}", "EINVAL");
	assert_refused("has", "{\"addresses\":[7]}", "EINVAL");
	assert_refused("wish", "{\"address\":\"10.1.0.2/24\"}", "EINVAL");
	assert_refused("wish", "{\"address\":\"name\"}", "EINVAL");
}

/* An interface may have one beside those that count; nobody can be reached by it. */
static void an_address_that_is_not_unicast_counts_for_nothing(void **state)
{
	static const char *const addresses[] = { "0.0.0.0", "127.0.0.1", "224.0.0.1", "::", "::1", "ff02::1" };

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		json_t *object = unit_json(GOOD);
		struct vqp_request request;
		char wish[64];

		json_object_set_new(object, "has", json_pack("{s:[s, s, s]}", "addresses", addresses[i], "fd00::2", addresses[i]));
		assert_null(vqp_request_check_add(object, &request));
		assert_int_equal(request.claim.has.count, 1);
		assert_int_equal(request.claim.has.gids[0][0], 0xfd);
		vqp_request_clear(&request);
		json_decref(object);
		snprintf(wish, sizeof(wish), "{\"address\":\"%s\"}", addresses[i]);
		assert_refused("wish", wish, "EINVAL");
	}
}

static void a_container_has_at_most_64_addresses(void **state)
{
	json_t *object = unit_json(GOOD), *addresses = json_array(), *refusal;
	struct vqp_request request;

	(void)state;
	for (int i = 0; i < 64; i++)
		json_array_append_new(addresses, json_sprintf("fd00::%x", i + 1));
	json_object_set_new(object, "has", json_pack("{s:O}", "addresses", addresses));
	assert_null(vqp_request_check_add(object, &request));
	assert_int_equal(request.claim.has.count, 64);
	vqp_request_clear(&request);
	json_array_append_new(addresses, json_string("fd00::100"));
	refusal = vqp_request_check_add(object, &request);
	unit_assert_string(refusal, "errno", "E2BIG");
	assert_non_null(strstr(json_string_value(json_object_get(refusal, "error")), "has 65 addresses"));
	json_decref(refusal);
	vqp_request_clear(&request);
	json_decref(addresses);
	json_decref(object);
}

/* Who wishes for what vqpd does not know relies on it. */
static void a_wish_is_well_formed(void **state)
{
	(void)state;
	assert_refused("wish", "[]", "EINVAL");
	assert_refused("wish", "{\"tenants\":1}", "EINVAL");
	assert_refused("wish", "{\"tenant\":0}", "EINVAL");
	assert_refused("wish", "{\"tenant\":-1}", "EINVAL");
	assert_refused("wish", "{\"tenant\":4294967296}", "EINVAL");
	assert_refused("wish", "{\"tenant\":\"1\"}", "EINVAL");
	assert_refused("wish", "{\"tenant\":1.5}", "EINVAL");
	assert_refused("wish", "{\"limits\":{\"max_vqp\":5}}", "EINVAL");
	assert_refused("wish", "{\"limits\":{\"max_vqps\":-1}}", "EINVAL");
}

static void a_name_fits_the_kernels(void **state)
{
	struct vqp_request request;
	char id[VQP_NAME_MAX];
	json_t *object = unit_json(GOOD);

	(void)state;
	/* the longest: id, "/", "eth0" and the NUL */
	memset(id, 'x', sizeof(id));
	id[VQP_NAME_MAX - 6] = '\0';
	json_object_set_new(object, "id", json_string(id));
	assert_null(vqp_request_check_add(object, &request));
	assert_int_equal(strlen(request.name), VQP_NAME_MAX - 1);
	vqp_request_clear(&request);
	json_decref(object);

	assert_refused("id", "\"1234567890123456789012345678901234567890123456789012345678901234567890"
		       "12345678901234567890123456789012345678901234567890123\"", "ENAMETOOLONG");
}

/* The refusal of an id that is too long with this network. */
static const char *too_long(const char *network, char text[128])
{
	json_t *object = unit_json(GOOD), *refusal;
	struct vqp_request request;
	char id[VQP_NAME_MAX];

	memset(id, 'x', sizeof(id));
	id[VQP_NAME_MAX - 1] = '\0';
	json_object_set_new(object, "id", json_string(id));
	if (network)
		json_object_set_new(object, "network", json_string(network));
	refusal = vqp_request_check_add(object, &request);
	unit_assert_string(refusal, "errno", "ENAMETOOLONG");
	snprintf(text, 128, "%s", json_string_value(json_object_get(refusal, "error")));
	vqp_request_clear(&request);
	json_decref(refusal);
	json_decref(object);
	return text;
}

/* Of the bundle, which vqp-hook names in the network's place, the user knows nothing. */
static void what_is_too_long_is_what_the_user_has_named(void **state)
{
	char text[128];

	(void)state;
	assert_string_equal(too_long(NULL, text), "the container's id is too long by 5 characters");
	assert_string_equal(too_long("bundle:1234", text), "the container's id is too long by 17 characters");
	assert_string_equal(too_long("blue", text), "the container's id, or the network's name, is too long by 10 characters");
}

static void a_network_is_one_word_and_may_be_left_out(void **state)
{
	json_t *object = unit_json(GOOD);
	struct vqp_request request;

	(void)state;
	json_object_set_new(object, "network", json_null());
	assert_null(vqp_request_check_add(object, &request));
	assert_string_equal(request.name, "c1/eth0");
	vqp_request_clear(&request);
	json_object_set_new(object, "network", json_string("blue"));
	assert_null(vqp_request_check_add(object, &request));
	assert_string_equal(request.name, "c1/eth0/blue");
	vqp_request_clear(&request);
	json_decref(object);

	assert_refused("network", "\"\"", "EINVAL");
	assert_refused("network", "1", "EINVAL");
	assert_refused("network", "\"a/b\"", "EINVAL");
	assert_refused("network", "\"1234567890123456789012345678901234567890123456789012345678901234567890"
		       "12345678901234567890123456789012345678901234567890123\"", "ENAMETOOLONG");
}

/* A del with one member replaced. */
static json_t *check_del(const char *member, const char *value)
{
	json_t *object = unit_json("{\"id\":\"c1\",\"ifname\":\"eth0\",\"network\":\"blue\"}"), *answer;
	struct vqp_request request;

	json_object_set_new(object, member, json_loads(value, JSON_DECODE_ANY, NULL));
	answer = vqp_request_check_del(object, &request);
	json_decref(object);
	assert_non_null(answer);
	return answer;
}

static void what_no_add_could_have_named_is_not_there(void **state)
{
	static const char *const names[][2] = {
		{ "id", "\"\"" }, { "id", "\"a b\"" }, { "id", "\"\\u00e4\"" },
		{ "id", "\"1234567890123456789012345678901234567890123456789012345678901234567890"
			"12345678901234567890123456789012345678901234567890123\"" },
		{ "ifname", "\"eth\\u00e4\"" }, { "ifname", "\"a234567890123456\"" },
		{ "network", "\"\"" }, { "network", "\"a/b\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *answer = check_del(names[i][0], names[i][1]);

		assert_true(json_is_true(json_object_get(answer, "ok")));
		assert_true(json_is_integer(json_object_get(answer, "deleted")));
		json_decref(answer);
	}
}

static void a_del_is_well_formed(void **state)
{
	static const char *const names[] = { "id", "ifname", "network" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *answer = check_del(names[i], "1");

		unit_assert_string(answer, "errno", "EINVAL");
		json_decref(answer);
	}
}

static void a_del_by_path_is_an_older_clients(void **state)
{
	json_t *object = unit_json("{\"id\":\"c1\",\"ifname\":\"eth0\",\"netns\":\"/run/netns/blue\"}"), *refusal;
	struct vqp_request request;

	(void)state;
	refusal = vqp_request_check_del(object, &request);
	assert_non_null(refusal);
	unit_assert_string(refusal, "errno", "EINVAL");
	json_decref(refusal);
	json_object_set_new(object, "netns", json_null());
	assert_null(vqp_request_check_del(object, &request));
	assert_false(request.has_netns);
	json_object_set_new(object, "netns", json_true());
	assert_null(vqp_request_check_del(object, &request));
	assert_true(request.has_netns);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_add_is_taken_apart),
		cmocka_unit_test(a_claim_is_all_that_a_client_says),
		cmocka_unit_test(an_id_is_one_word),
		cmocka_unit_test(an_ifname_is_what_the_kernel_takes),
		cmocka_unit_test(what_a_container_has_is_well_formed),
		cmocka_unit_test(addresses_are_one_containers),
		cmocka_unit_test(an_address_that_is_not_unicast_counts_for_nothing),
		cmocka_unit_test(a_container_has_at_most_64_addresses),
		cmocka_unit_test(a_wish_is_well_formed),
		cmocka_unit_test(a_name_fits_the_kernels),
		cmocka_unit_test(what_is_too_long_is_what_the_user_has_named),
		cmocka_unit_test(a_network_is_one_word_and_may_be_left_out),
		cmocka_unit_test(what_no_add_could_have_named_is_not_there),
		cmocka_unit_test(a_del_is_well_formed),
		cmocka_unit_test(a_del_by_path_is_an_older_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
