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
	json_t *expected = json_loads("{\"max_vqps\": 1, \"max_mrs\": \"unlimited\", \"max_bytes\": 9223372036854775807,"
				     " \"max_rate\": 65536, \"priority\": 1}", 0, NULL);
	cleanup_wish struct vqp_wish wish = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(parse("{\"io.vqp.tenant\": \"4294967295\", \"io.vqp.address\": \"10.1.0.2\","
			       " \"io.vqp.network\": \"blue-2_a.b\","
			       " \"io.vqp.max_vqps\": \"1\", \"io.vqp.max_mrs\": \"unlimited\","
			       " \"io.vqp.max_bytes\": \"9223372036854775807\","
			       " \"io.vqp.max_rate\": \"65536\", \"io.vqp.priority\": \"1\"}", &wish, &error), 0);
	assert_int_equal(wish.terms.tenant, UINT32_MAX);
	assert_string_equal(wish.terms.address, "::ffff:10.1.0.2");
	assert_true(json_equal(wish.terms.limits, expected));
	json_decref(expected);
	assert_string_equal(wish.network, "blue-2_a.b");
}

static void sockets_are_on_or_off_or_lists(void **state)
{
	json_auto_t *lists = json_loads("{\"only\": [\"80\"], \"except\": [\"10.1.0.0/16\"]}", 0, NULL);
	cleanup_wish struct vqp_wish wish = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(parse("{\"io.vqp.sockets\": \"on\"}", &wish, &error), 0);
	assert_true(json_is_true(wish.terms.sockets));
	assert_null(wish.terms.limits);
	vqp_wish_clear(&wish);
	assert_int_equal(parse("{\"io.vqp.sockets\": \"only:80,except:10.1.0.0/16\"}", &wish, &error), 0);
	assert_true(json_equal(wish.terms.sockets, lists));
}

static void others_are_not_ours(void **state)
{
	cleanup_wish struct vqp_wish wish = { 0 };
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(parse("{\"io.vqp\": \"1\", \"org.io.vqp.tenant\": \"7\", \"a\": 5}", &wish, &error), 0);
	assert_int_equal(wish.terms.tenant, 0);
	assert_string_equal(wish.terms.address, "");
	assert_null(wish.network);
	vqp_wish_clear(&wish);
	assert_int_equal(vqp_wish_parse(&wish, NULL, &error), 0);
}

static void refuses(const char *annotations, const char *text)
{
	cleanup_wish struct vqp_wish wish = { 0 };
	struct vqp_error error = { 0 };

	assert_int_equal(parse(annotations, &wish, &error), -EINVAL);
	unit_assert_error(&error, text);
}

static void malformed_ones_are_refused(void **state)
{
	(void)state;
	refuses("[]", "must be an object");
	refuses("{\"io.vqp.tenant\": 7}", "must be a string");
	refuses("{\"io.vqp.tenant\": \"0\"}", "\"tenant\" must be a number from 1 to 4294967295");
	refuses("{\"io.vqp.tenant\": \"4294967296\"}", "must be a number from 1");
	refuses("{\"io.vqp.tenant\": \" 7\"}", "is no number");
	refuses("{\"io.vqp.tenant\": \"-1\"}", "is no number");
	refuses("{\"io.vqp.tenant\": \"7x\"}", "is no number");
	refuses("{\"io.vqp.tenant\": \"\"}", "is no number");
	refuses("{\"io.vqp.address\": \"ten\"}", "must be one container's");
	refuses("{\"io.vqp.address\": \"127.0.0.1\"}", "must be one container's");
	refuses("{\"io.vqp.network\": \"\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"../blue\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \".blue\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"blue/green\"}", "is no name of a network list");
	refuses("{\"io.vqp.network\": \"blue green\"}", "is no name of a network list");
	refuses("{\"io.vqp.max_vqps\": \"none\"}", "is no number");
	refuses("{\"io.vqp.max_rate\": \"65535\"}", "a number from 65536");
	refuses("{\"io.vqp.sockets\": \"true\"}", "annotation io.vqp.sockets: sockets are \"on\", \"off\", or as");
	refuses("{\"io.vqp.sockets\": \"only:0\"}", "\"only\" of \"sockets\" has strings");
	refuses("{\"io.vqp.priority\": \"4\"}", "a number from 1 to 3");
	refuses("{\"io.vqp.max_bytes\": \"9223372036854775808\"}", "is no number");
}

static void an_unknown_one_of_ours_is_refused(void **state)
{
	(void)state;
	refuses("{\"io.vqp.max_vpqs\": \"5\"}", "io.vqp.max_vpqs: it is not known");
	refuses("{\"io.vqp.\": \"5\"}", "is not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_annotations),
		cmocka_unit_test(sockets_are_on_or_off_or_lists),
		cmocka_unit_test(others_are_not_ours),
		cmocka_unit_test(malformed_ones_are_refused),
		cmocka_unit_test(an_unknown_one_of_ours_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
