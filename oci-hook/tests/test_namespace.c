// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The addresses of a network namespace, in one of the test's own. Needs the right to make it, and ip(8). */
#define _GNU_SOURCE
#include "unit.h"

#include <sched.h>
#include <stdio.h>

#include "../../common/address.h"
#include "../namespace.h"

#define GIDS_MAX	8

/* Gives the thread a network namespace with a link that is up. */
static int enter(void **state)
{
	(void)state;
	return unshare(CLONE_NEWNET) || system("ip link set lo up && ip link add in0 type veth peer name out0 && "
					       "ip link set in0 up && ip link set out0 up && ip link add down0 type veth");
}

/* The namespace has these addresses, in their order, NULL at the end. */
static void assert_addresses(const char *const *expected)
{
	uint8_t gids[GIDS_MAX][VQP_GID_BYTES];
	struct vqp_error error = { 0 };
	char text[VQP_ADDRESS_TEXT];
	size_t count, i = 0;

	assert_int_equal(vqp_namespace_gids(gids, GIDS_MAX, &count, &error), 0);
	for (; i < count && expected[i]; i++)
		assert_string_equal(vqp_address_format(gids[i], text), expected[i]);
	assert_int_equal(i, count);
	assert_null(expected[i]);
}

static void give(const char *address)
{
	char command[128];

	snprintf(command, sizeof(command), "ip address add %s", address);
	assert_int_equal(system(command), 0);
}

static void there_are_those_that_are_global_and_up(void **state)
{
	(void)state;
	assert_addresses((const char *const[]){ NULL });
	give("10.9.0.1/24 dev lo");
	give("169.254.0.1/16 dev in0");
	give("fe80::5/64 dev in0 nodad");
	give("fd00::9/64 dev down0 nodad");
	give("10.1.0.2/24 dev in0");
	give("fd00::2/64 dev in0 nodad");
	assert_addresses((const char *const[]){ "::ffff:10.1.0.2", "fd00::2", NULL });
}

/* As the kernel gives it when a router says so, which any neighbour can. */
static void an_address_that_runs_out_is_left_out(void **state)
{
	(void)state;
	give("fd00::3/64 dev in0 nodad valid_lft 3600 preferred_lft 3600");
	give("fd01::3/64 dev in0 nodad");
	/* It is permanent on another interface. */
	give("fd02::3/64 dev in0 nodad valid_lft 3600 preferred_lft 3600");
	give("fd02::3/64 dev down0 nodad");
	assert_addresses((const char *const[]){ "fd01::3", NULL });
	/* IPv4 has no such advertisements, and leases of DHCP run out. */
	give("10.1.0.3/24 dev in0 valid_lft 3600 preferred_lft 3600");
	assert_addresses((const char *const[]){ "::ffff:10.1.0.3", "fd01::3", NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(there_are_those_that_are_global_and_up, enter),
		cmocka_unit_test_setup(an_address_that_runs_out_is_left_out, enter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
