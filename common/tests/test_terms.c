// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../terms.h"

static void all_are_read(void **state)
{
	json_t *object = unit_json("{\"tenant\": 4294967295, \"address\": \"fd00:0::2\", \"limits\": {\"max_vqps\": 5},"
				   " \"sockets\": {\"only\": [\"080\"]}, \"id\": 7}"), *sockets = unit_json("{\"only\": [\"80\"]}");
	struct vqp_error error = { 0 };
	struct vqp_terms terms;

	(void)state;
	assert_int_equal(vqp_terms_parse(&terms, object, &error), 0);
	assert_int_equal(terms.tenant, UINT32_MAX);
	assert_string_equal(terms.address, "fd00::2");
	json_decref(object);
	/* the limits are the terms' own */
	assert_int_equal(json_integer_value(json_object_get(terms.limits, "max_vqps")), 5);
	assert_true(json_equal(terms.sockets, sockets));
	json_decref(sockets);
	vqp_terms_clear(&terms);
	assert_null(terms.limits);
	assert_null(terms.sockets);
}

static void each_may_be_left_out(void **state)
{
	json_t *object = unit_json("{}");
	struct vqp_error error = { 0 };
	struct vqp_terms terms;

	(void)state;
	assert_int_equal(vqp_terms_parse(&terms, object, &error), 0);
	assert_int_equal(terms.tenant, 0);
	assert_string_equal(terms.address, "");
	assert_null(terms.limits);
	assert_int_equal(vqp_terms_parse(&terms, NULL, &error), 0);
	json_decref(object);
}

static void what_is_stated_is_said(void **state)
{
	static const char *const said[] = {
		"{}", "{\"tenant\": 7}", "{\"address\": \"fd00::2\"}", "{\"limits\": {\"max_vqps\": 5}}", "{\"sockets\": false}",
		"{\"tenant\": 4294967295, \"address\": \"::ffff:10.1.0.2\", \"limits\": {\"priority\": 1}, \"sockets\": true}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		cleanup_terms struct vqp_terms terms = { 0 };
		json_t *object = unit_json(said[i]), *again;
		struct vqp_error error = { 0 };

		assert_int_equal(vqp_terms_parse(&terms, object, &error), 0);
		again = vqp_terms_say(&terms);
		assert_true(json_equal(object, again));
		json_decref(again);
		json_decref(object);
	}
}

static void refuses(const char *text, const char *reason)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *object = unit_json(text);
	struct vqp_terms terms;

	assert_int_equal(vqp_terms_parse(&terms, object, &error), -EINVAL);
	assert_non_null(strstr(vqp_error_text(&error), reason));
	vqp_terms_clear(&terms);
	json_decref(object);
}

static void what_is_wrong_is_refused(void **state)
{
	static const char *const addresses[] = {
		"5", "null", "{}", "\"\"", "\"name\"", "\"10.1.0.2/24\"", "\"0.0.0.0\"", "\"127.0.0.1\"", "\"224.0.0.1\"",
		"\"::\"", "\"::1\"", "\"ff02::1\"",
	};
	static const char *const tenants[] = { "0", "-1", "4294967296", "1.5", "\"1\"", "null" };
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(tenants) / sizeof(*tenants); i++) {
		snprintf(text, sizeof(text), "{\"tenant\": %s}", tenants[i]);
		refuses(text, "\"tenant\" must be a number from 1 to 4294967295");
	}
	for (i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		snprintf(text, sizeof(text), "{\"address\": %s}", addresses[i]);
		refuses(text, "\"address\" must be one container's IPv4 or IPv6 address");
	}
	refuses("{\"sockets\": 5}", "\"sockets\" must be");
	refuses("{\"limits\": 5}", "\"limits\" must be an object");
	refuses("{\"tenant\": 1, \"limits\": {\"max_vqps\": -1}}", "\"max_vqps\" must be");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_read),
		cmocka_unit_test(each_may_be_left_out),
		cmocka_unit_test(what_is_stated_is_said),
		cmocka_unit_test(what_is_wrong_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
