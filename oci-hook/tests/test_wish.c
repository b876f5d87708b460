// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>

#include "../wish.h"

static char network[64];	/* of the last wish, which outlives its annotations here */

static int parse(const char *annotations, struct vqp_wish *wish, struct vqp_error *error)
{
	json_t *json = json_loads(annotations, JSON_DECODE_ANY, NULL);
	int ret;

	assert_non_null(json);
	ret = vqp_wish_parse(wish, json, error);
	if (wish->network)
		wish->network = strcpy(network, wish->network);
	json_decref(json);
	return ret;
}

static void all_annotations(void **state)
{
	struct vqp_wish wish;
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(parse("{\"io.vqp.tenant\": \"4294967295\", \"io.vqp.address\": \"10.1.0.2\","
			       " \"io.vqp.network\": \"blue-2_a.b\","
			       " \"io.vqp.max_vqps\": \"1\", \"io.vqp.max_mrs\": \"2\","
			       " \"io.vqp.max_bytes\": \"9223372036854775807\","
			       " \"io.vqp.max_rate\": \"65536\", \"io.vqp.priority\": \"1\"}", &wish, &error), 0);
	assert_int_equal(wish.tenant, UINT32_MAX);
	assert_string_equal(wish.address, "::ffff:10.1.0.2");
	assert_int_equal(wish.limits.max[0], 1);
	assert_int_equal(wish.limits.max[1], 2);
	assert_int_equal(wish.limits.max[2], INT64_MAX);
	assert_int_equal(wish.limits.max[3], 65536);
	assert_int_equal(wish.limits.max[4], 1);
	assert_string_equal(wish.network, "blue-2_a.b");
}

static void others_are_not_ours(void **state)
{
	struct vqp_wish wish;
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(parse("{\"io.vqp\": \"1\", \"org.io.vqp.tenant\": \"7\", \"a\": 5}", &wish, &error), 0);
	assert_int_equal(wish.tenant, 0);
	assert_string_equal(wish.address, "");
	assert_null(wish.network);
	assert_int_equal(vqp_wish_parse(&wish, NULL, &error), 0);
}

static void refuses(const char *annotations, const char *text)
{
	struct vqp_wish wish;
	struct vqp_error error = { 0 };

	assert_int_equal(parse(annotations, &wish, &error), -EINVAL);
	unit_assert_error(&error, text);
}

static void malformed_ones_are_refused(void **state)
{
	(void)state;
	refuses("[]", "must be an object");
	refuses("{\"io.vqp.tenant\": 7}", "must be a string");
	refuses("{\"io.vqp.tenant\": \"0\"}", "is not from 1 to 4294967295");
	refuses("{\"io.vqp.tenant\": \"4294967296\"}", "is not from 1");
	refuses("{\"io.vqp.tenant\": \" 7\"}", "is not from 1");
	refuses("{\"io.vqp.tenant\": \"-1\"}", "is not from 1");
	refuses("{\"io.vqp.tenant\": \"7x\"}", "is not from 1");
	refuses("{\"io.vqp.tenant\": \"\"}", "is not from 1");
	refuses("{\"io.vqp.address\": \"ten\"}", "is no address");
	refuses("{\"io.vqp.address\": \"127.0.0.1\"}", "is no address");
	refuses("{\"io.vqp.network\": \"\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"../blue\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \".blue\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"blue/green\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"blue green\"}", "is no name of a network list");
	refuses("{\"io.vqp.max_vqps\": \"0\"}", "is not from 1");
	refuses("{\"io.vqp.max_rate\": \"65535\"}", "is not from 65536");
	refuses("{\"io.vqp.priority\": \"4\"}", "is not from 1 to 3");
	refuses("{\"io.vqp.max_bytes\": \"9223372036854775808\"}", "is not from 1");
}

static void an_unknown_one_of_ours_is_refused(void **state)
{
	(void)state;
	refuses("{\"io.vqp.max_vpqs\": \"5\"}", "io.vqp.max_vpqs is not known");
	refuses("{\"io.vqp.\": \"5\"}", "is not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_annotations),
		cmocka_unit_test(others_are_not_ours),
		cmocka_unit_test(malformed_ones_are_refused),
		cmocka_unit_test(an_unknown_one_of_ours_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
