/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../address.h"

static void ipv4_is_a_mapped_gid(void **state)
{
	static const uint8_t expected[16] = { [10] = 0xff, 0xff, 10, 1, 0, 2 };
	char text[VQP_ADDRESS_TEXT];
	uint8_t gid[16];

	(void)state;
	assert_int_equal(vqp_address_parse("10.1.0.2", gid), 0);
	assert_memory_equal(gid, expected, 16);
	assert_string_equal(vqp_address_format(gid, text), "::ffff:10.1.0.2");
}

static void what_is_formatted_can_be_parsed(void **state)
{
	char text[VQP_ADDRESS_TEXT];
	uint8_t gid[16], again[16];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		for (int b = 0; b < 16; b++)
			gid[b] = rand() % 4 ? 0 : rand();
		assert_int_equal(vqp_address_parse(vqp_address_format(gid, text), again), 0);
		assert_memory_equal(gid, again, 16);
	}
}

static void words_are_no_addresses(void **state)
{
	static const char *const texts[] = { "", "x", "10.1.0", "10.1.0.256", "10.1.0.2/24", "fe80::1%eth0", " ::1", ":" };
	uint8_t gid[16];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(vqp_address_parse(texts[i], gid), -EINVAL);
}

static void a_container_has_a_unicast_address(void **state)
{
	static const char *const bad[] = { "0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255",
					   "::", "::1", "ff02::1", "::ffff:127.0.0.1" };
	static const char *const good[] = { "10.0.0.1", "192.168.255.255", "fd00::1", "fe80::1", "2001:db8::2" };
	uint8_t gid[16];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(vqp_address_parse_unicast(bad[i], gid), -EINVAL);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(vqp_address_parse_unicast(good[i], gid), 0);
}

static void assert_split(const char *text, const char *host, const char *port)
{
	char *h, *p;

	assert_int_equal(vqp_address_split(text, "7471", &h, &p), 0);
	if (host)
		assert_string_equal(h, host);
	else
		assert_null(h);
	assert_string_equal(p, port);
	free(h);
	free(p);
}

static void host_and_port_are_split(void **state)
{
	char *h, *p;

	(void)state;
	assert_split("10.0.0.1:99", "10.0.0.1", "99");
	assert_split("node2", "node2", "7471");
	assert_split(":99", NULL, "99");
	assert_split("[fd00::1]:99", "fd00::1", "99");
	assert_split("[fd00::1]", "fd00::1", "7471");
	assert_int_equal(vqp_address_split("fd00::1", "7471", &h, &p), -EINVAL);
	assert_int_equal(vqp_address_split("[fd00::1", "7471", &h, &p), -EINVAL);
	assert_int_equal(vqp_address_split("[fd00::1]x", "7471", &h, &p), -EINVAL);
	assert_int_equal(vqp_address_split("node2:", "7471", &h, &p), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_is_a_mapped_gid),
		cmocka_unit_test(what_is_formatted_can_be_parsed),
		cmocka_unit_test(words_are_no_addresses),
		cmocka_unit_test(a_container_has_a_unicast_address),
		cmocka_unit_test(host_and_port_are_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
