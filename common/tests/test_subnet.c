// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"

#include <errno.h>

#include "../subnet.h"

static void holds(const char *subnet, const char *address, int expected)
{
	struct vqp_subnet parsed;
	uint8_t gid[16];

	assert_int_equal(vqp_subnet_parse(&parsed, subnet), 0);
	assert_int_equal(vqp_address_parse(address, gid), 0);
	assert_int_equal(vqp_subnet_has(&parsed, gid), expected);
}

static void it_has_what_begins_with_its_bits(void **state)
{
	(void)state;
	holds("10.1.0.0/20", "10.1.15.255", 1);
	holds("10.1.0.0/20", "10.1.16.0", 0);
	holds("10.1.0.2", "10.1.0.2", 1);
	holds("10.1.0.2/32", "10.1.0.3", 0);
	holds("0.0.0.0/0", "203.0.113.1", 1);
	holds("0.0.0.0/0", "fd00::1", 0);
	holds("any", "10.1.0.1", 1);
	holds("any", "fd00::1", 1);
	holds("fd00::/9", "fd7f::1", 1);
	holds("fd00::/9", "fd80::1", 0);
	holds("2000::/3", "3fff::1", 1);
	holds("2000::/3", "10.1.0.1", 0);
}

static void malformed_ones_are_refused(void **state)
{
	static const char *const bad[] = {
		"10.1.0.1/16", "10.1.0.0/", "10.1.0.0/-1", "10.1.0.0/16/16", "fd00::/129", "any/0",
		"0123:4567:89ab:cdef:0123:4567:89ab:cdef:0123:4567/64",
	};
	struct vqp_subnet parsed;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(vqp_subnet_parse(&parsed, bad[i]), -EINVAL);
}

static void all_of_ipv4_is_no_part_of_a_prefix_of_ipv6(void **state)
{
	static const char *const bad[] = { "::/0", "::/1", "::/80", "::8000:0:0/81", "::fffe:0:0/95", "::0.0.0.0/64" };
	struct vqp_subnet parsed;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(vqp_subnet_parse(&parsed, bad[i]), -ERANGE);
	holds("::ffff:0:0/96", "10.1.0.1", 1);
	holds("::fffe:0:0/96", "10.1.0.1", 0);
	holds("::/81", "::1", 1);
	holds("8000::/1", "10.1.0.1", 0);
}

static void is_written(const char *subnet, const char *expected)
{
	char text[VQP_SUBNET_TEXT];
	struct vqp_subnet parsed;

	assert_int_equal(vqp_subnet_parse(&parsed, subnet), 0);
	assert_string_equal(vqp_subnet_format(&parsed, text), expected);
}

static void equal_ones_are_written_equally(void **state)
{
	(void)state;
	is_written("any", "any");
	is_written("10.1.0.0/16", "10.1.0.0/16");
	is_written("::ffff:10.1.0.0/112", "10.1.0.0/16");
	is_written("0.0.0.0/0", "0.0.0.0/0");
	is_written("10.1.0.2/32", "10.1.0.2");
	is_written("FD00:0::/64", "fd00::/64");
	is_written("fd00::2/128", "fd00::2");
}

/* What they are together; NULL: no subnet. */
static void join(const char *one, const char *other, const char *expected)
{
	struct vqp_subnet subnet, second;
	char text[VQP_SUBNET_TEXT];

	assert_int_equal(vqp_subnet_parse(&subnet, one), 0);
	assert_int_equal(vqp_subnet_parse(&second, other), 0);
	assert_int_equal(vqp_subnet_join(&subnet, &second), expected != NULL);
	assert_string_equal(vqp_subnet_format(&subnet, text), expected ? expected : one);
}

static void two_are_one_if_that_is_a_subnet(void **state)
{
	(void)state;
	join("10.1.0.0/17", "10.1.128.0/17", "10.1.0.0/16");
	join("10.1.0.0/16", "10.1.0.0/16", "10.1.0.0/16");
	join("10.1.0.0/16", "10.1.7.0/24", "10.1.0.0/16");
	join("any", "fd00::/64", "any");
	join("10.1.0.2", "10.1.0.3", "10.1.0.2/31");
	join("0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/0");
	join("fd00::", "fd00::1", "fd00::/127");
	join("10.1.0.1", "10.1.0.2", NULL);
	join("10.1.0.0/17", "10.1.128.0/18", NULL);
	join("10.1.0.0/16", "10.3.0.0/16", NULL);
	join("fd00::/64", "fd01::/64", NULL);
	join("::fffe:0:0/96", "0.0.0.0/0", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_what_begins_with_its_bits),
		cmocka_unit_test(malformed_ones_are_refused),
		cmocka_unit_test(all_of_ipv4_is_no_part_of_a_prefix_of_ipv6),
		cmocka_unit_test(equal_ones_are_written_equally),
		cmocka_unit_test(two_are_one_if_that_is_a_subnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
