// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "../limits.h"

#define ANY_MAX "must be \"unlimited\" or a number from 0 to 9223372036854775807"

static void takes(const char *text)
{
	struct vqp_error error = { 0 };
	json_t *limits = unit_json(text);

	assert_int_equal(vqp_limits_check(limits, &error), 0);
	json_decref(limits);
}

static void refuses(const char *text, const char *reason)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *limits = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_int_equal(vqp_limits_check(limits, &error), -EINVAL);
	if (!strstr(vqp_error_text(&error), reason))
		assert_string_equal(vqp_error_text(&error), reason);
	json_decref(limits);
}

static void each_may_be_left_out(void **state)
{
	struct vqp_error error = { 0 };

	(void)state;
	assert_int_equal(vqp_limits_check(NULL, &error), 0);
	takes("{}");
	takes("{\"max_vqps\": 0, \"max_mrs\": \"unlimited\"}");
	takes("{\"max_bytes\": 9223372036854775807}");
	takes("{\"max_rate\": 65536, \"priority\": 3}");
	takes("{\"max_rate\": \"unlimited\", \"priority\": 1}");
}

static void what_is_out_of_range_or_not_known_is_refused(void **state)
{
	(void)state;
	refuses("[]", "\"limits\" must be an object of max_vqps, max_mrs, max_bytes, max_rate and priority");
	refuses("5", "must be an object");
	refuses("null", "must be an object");
	refuses("{\"max_vqp\": 5}", "\"limits\" has max_vqps, max_mrs, max_bytes, max_rate and priority, not \"max_vqp\"");
	refuses("{\"max_vqps\": -1}", "\"max_vqps\" " ANY_MAX);
	refuses("{\"max_mrs\": \"5\"}", "\"max_mrs\" " ANY_MAX);
	refuses("{\"max_bytes\": 1.5}", "\"max_bytes\" " ANY_MAX);
	refuses("{\"max_bytes\": null}", "\"max_bytes\" " ANY_MAX);
	refuses("{\"max_rate\": 65535}", "\"max_rate\" must be \"unlimited\" or a number from 65536 to 9223372036854775807");
	refuses("{\"max_rate\": 0}", "\"max_rate\" must be");
	refuses("{\"priority\": 0}", "\"priority\" must be a number from 1 to 3");
	refuses("{\"priority\": 4}", "\"priority\" must be a number from 1 to 3");
	refuses("{\"priority\": \"high\"}", "\"priority\" must be a number from 1 to 3");
	refuses("{\"priority\": \"unlimited\"}", "\"priority\" must be a number from 1 to 3");
}

static void parses(const char *text, json_int_t number)
{
	json_t *value = vqp_limits_parse(text);

	assert_true(json_is_integer(value));
	assert_int_equal(json_integer_value(value), number);
	json_decref(value);
}

static void text_is_digits_or_unlimited(void **state)
{
	static const char *const bad[] = {
		"", " ", "-1", "+1", " 1", "1 ", "1.5", "0x1", "1K", "9223372036854775808", "Unlimited", "none",
	};
	json_t *value = vqp_limits_parse("unlimited");

	(void)state;
	assert_string_equal(json_string_value(value), "unlimited");
	json_decref(value);
	parses("0", 0);
	parses("007", 7);
	parses("9223372036854775807", INT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(vqp_limits_parse(bad[i]));
}

static void by_default_nothing_is_limited(void **state)
{
	json_t *expected = unit_json("{\"max_vqps\": \"unlimited\", \"max_mrs\": \"unlimited\", \"max_bytes\": \"unlimited\","
				     " \"max_rate\": \"unlimited\", \"priority\": 2}");
	json_t *limits = vqp_limits_default();

	(void)state;
	assert_true(json_equal(limits, expected));
	json_decref(limits);
	json_decref(expected);
}

/* `asked` of `granted` gives `result`; NULL: it is refused, and says `reason`. */
static void lowers(const char *granted, const char *asked, const char *result, const char *reason)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *limits = unit_json(granted), *wish = unit_json(asked), *expected = result ? unit_json(result) : NULL;

	assert_int_equal(vqp_limits_lower(limits, wish, &error), result ? 0 : -EPERM);
	if (result)
		assert_true(json_equal(limits, expected));
	else
		assert_string_equal(vqp_error_text(&error), reason);
	json_decref(limits);
	json_decref(wish);
	json_decref(expected);
}

static void limits_are_lowered_and_never_raised(void **state)
{
	(void)state;
	lowers("{\"max_vqps\": 10}", "{\"max_vqps\": 5}", "{\"max_vqps\": 5}", NULL);
	lowers("{\"max_vqps\": 10}", "{\"max_vqps\": 10, \"max_mrs\": 3}", "{\"max_vqps\": 10, \"max_mrs\": 3}", NULL);
	lowers("{\"max_vqps\": 10}", "{\"max_vqps\": 0}", "{\"max_vqps\": 0}", NULL);
	lowers("{\"max_vqps\": \"unlimited\"}", "{\"max_vqps\": 7}", "{\"max_vqps\": 7}", NULL);
	lowers("{}", "{\"max_rate\": \"unlimited\"}", "{\"max_rate\": \"unlimited\"}", NULL);
	lowers("{\"max_vqps\": 10}", "{\"max_vqps\": 11}", NULL, "max_vqps: 11 is more than 10");
	lowers("{\"max_vqps\": 0}", "{\"max_vqps\": 1}", NULL, "max_vqps: 1 is more than 0");
	lowers("{\"max_vqps\": 10}", "{\"max_vqps\": \"unlimited\"}", NULL, "max_vqps: \"unlimited\" is more than 10");
}

static void a_limit_that_is_not_known_is_not_lowered(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *granted = unit_json("{}"), *asked = unit_json("{\"mtu\": 7}");

	(void)state;
	assert_int_equal(vqp_limits_lower(granted, asked, &error), -EINVAL);
	assert_string_equal(vqp_error_text(&error), "\"mtu\" is no limit");
}

/* Of which nothing was said it is normal, and no more than that. */
static void priorities_are_lowered_and_never_raised(void **state)
{
	(void)state;
	lowers("{}", "{\"priority\": 1}", "{\"priority\": 1}", NULL);
	lowers("{}", "{\"priority\": 3}", NULL, "priority: 3 is more than 2");
	lowers("{\"priority\": 3}", "{\"priority\": 3}", "{\"priority\": 3}", NULL);
	lowers("{\"priority\": 1}", "{\"priority\": 2}", NULL, "priority: 2 is more than 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_may_be_left_out),
		cmocka_unit_test(what_is_out_of_range_or_not_known_is_refused),
		cmocka_unit_test(text_is_digits_or_unlimited),
		cmocka_unit_test(by_default_nothing_is_limited),
		cmocka_unit_test(limits_are_lowered_and_never_raised),
		cmocka_unit_test(priorities_are_lowered_and_never_raised),
		cmocka_unit_test(a_limit_that_is_not_known_is_not_lowered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
