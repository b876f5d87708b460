/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <errno.h>

#include "../option.h"

static void assert_size(const char *text, int64_t expected)
{
	int64_t bytes = -1;

	assert_int_equal(vqp_option_parse_size(text, &bytes), 0);
	assert_int_equal(bytes, expected);
}

static void a_size_is_bytes_or_has_a_unit(void **state)
{
	(void)state;
	assert_size("0", 0);
	assert_size("4096", 4096);
	assert_size("0x1000", 4096);
	assert_size("1K", 1024);
	assert_size("64M", 64 << 20);
	assert_size("3G", 3LL << 30);
	assert_size("2T", 2LL << 40);
}

static void the_largest_size_is_2_to_the_63_less_1(void **state)
{
	(void)state;
	assert_size("9223372036854775807", INT64_MAX);
	assert_size("8388607T", 8388607LL << 40);
}

static void assert_refused(const char *text)
{
	int64_t bytes = -1;

	assert_int_equal(vqp_option_parse_size(text, &bytes), -EINVAL);
	assert_int_equal(bytes, -1);
}

static void what_is_no_size_is_refused(void **state)
{
	(void)state;
	assert_refused("");
	assert_refused("K");
	assert_refused("1k");
	assert_refused("1KB");
	assert_refused("1 K");
	assert_refused("1.5M");
	assert_refused("-1");
	assert_refused("-1K");
	assert_refused("9223372036854775808");
	assert_refused("8388608T");
	assert_refused("18014398509481984K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_is_bytes_or_has_a_unit),
		cmocka_unit_test(the_largest_size_is_2_to_the_63_less_1),
		cmocka_unit_test(what_is_no_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
