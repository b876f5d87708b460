/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "../ctl/gid.h"

static enum ctl_gid rate(const char *address)
{
	uint8_t gid[16];

	assert_int_equal(inet_pton(AF_INET6, address, gid), 1);
	return ctl_gid_rate(gid);
}

static void an_ipv4_address_is_the_best_and_a_link_local_one_the_last(void **state)
{
	(void)state;
	assert_int_equal(rate("::ffff:10.0.0.1"), CTL_GID_IPV4);
	assert_int_equal(rate("fd00::1"), CTL_GID_IPV6);
	assert_int_equal(rate("fe80::1"), CTL_GID_LINK_LOCAL);
	assert_int_equal(rate("::"), CTL_GID_NONE);
	assert_true(CTL_GID_IPV4 > CTL_GID_IPV6 && CTL_GID_IPV6 > CTL_GID_LINK_LOCAL && CTL_GID_LINK_LOCAL > CTL_GID_NONE);
}

static void every_rate_has_a_name(void **state)
{
	(void)state;
	for (enum ctl_gid i = CTL_GID_NONE; i <= CTL_GID_IPV4; i++)
		assert_non_null(ctl_gid_text(i));
}

static void a_sender_is_found_in_an_ipv6_header(void **state)
{
	uint8_t grh[CTL_GRH_BYTES] = { 0x60 }, expected[16], gid[16];

	(void)state;
	inet_pton(AF_INET6, "fd00::17", expected);
	memcpy(grh + 8, expected, sizeof(expected));
	assert_int_equal(ctl_gid_source(grh, false, gid), 0);
	assert_memory_equal(gid, expected, sizeof(gid));
}

static void a_sender_is_found_in_an_ipv4_header_at_the_end(void **state)
{
	uint8_t grh[CTL_GRH_BYTES], expected[16], gid[16];

	(void)state;
	memset(grh, 0x66, sizeof(grh));		/* undefined before it */
	grh[20] = 0x45;
	memcpy(grh + 32, (uint8_t[]){ 10, 0, 0, 17 }, 4);
	inet_pton(AF_INET6, "::ffff:10.0.0.17", expected);
	assert_int_equal(ctl_gid_source(grh, true, gid), 0);
	assert_memory_equal(gid, expected, sizeof(gid));
}

static void what_is_no_header_has_no_sender(void **state)
{
	uint8_t grh[CTL_GRH_BYTES] = { 0 }, gid[16];

	(void)state;
	assert_int_equal(ctl_gid_source(grh, false, gid), -EINVAL);
	assert_int_equal(ctl_gid_source(grh, true, gid), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ipv4_address_is_the_best_and_a_link_local_one_the_last),
		cmocka_unit_test(every_rate_has_a_name),
		cmocka_unit_test(a_sender_is_found_in_an_ipv6_header),
		cmocka_unit_test(a_sender_is_found_in_an_ipv4_header_at_the_end),
		cmocka_unit_test(what_is_no_header_has_no_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
