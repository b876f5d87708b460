/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <string.h>

#include "../ctl/verdict.h"

/* A device without a fault */
static const struct ctl_finding good = {
	.device = "mlx5_0", .driver = "mlx5_core", .firmware = "16.35.2000", .port = 1, .roce = true, .active = true,
	.mtu = 4096, .gid = CTL_GID_IPV4, .gid_index = 3, .gids = 4,
	.max_qp = 131072, .max_qp_wr = 32768, .max_cqe = 4194303, .max_sge = 30, .pool = { .done = true },
	.inline_bytes = 512,
	.fast_registration = true, .registration = { .done = true }, .registration_bytes = 2 << 20,
	.registration_us = 150, .memlock = UINT64_MAX,
	.ud = { .done = true }, .ud_messages = 80, .ud_bytes = 4096, .restart = { .done = true },
	.rc = { .done = true }, .rc_bytes = 122875, .rc_pieces = 30,
	.psn = { .done = true }, .psn_packets = 122, .psn_moved = 122,
	.psn_stopped_packets = 123, .psn_stopped_moved = 123,
	.rnr = { .done = true }, .rnr_until_ms = 20, .rnr_after_ms = 21,
	.silence = { .done = true }, .silence_ms = 268,
	.atomics_claimed = true, .atomics = { .done = true },
	.order_checked = 92, .events = 15,
};

static struct ctl_verdict judge(const struct ctl_finding *finding, const char *key)
{
	struct ctl_verdict verdict = { .level = CTL_OK };

	for (const struct ctl_check *check = ctl_checks; check->key; check++) {
		if (strcmp(check->key, key))
			continue;
		check->judge(finding, &verdict);
		return verdict;
	}
	fail_msg("no check %s", key);
	return verdict;
}

static void assert_level(const struct ctl_finding *finding, const char *key, enum ctl_level level)
{
	struct ctl_verdict verdict = judge(finding, key);

	assert_string_equal(ctl_level_text(verdict.level), ctl_level_text(level));
	assert_true(*verdict.found);
	/* whoever reads that something is wrong reads what follows, and what to do */
	assert_int_equal(!verdict.follows, level == CTL_OK || level == CTL_UNTRIED);
	assert_int_equal(!verdict.way_out, level == CTL_OK || level == CTL_UNTRIED);
}

/* The good device, but for one thing */
#define ASSERT_LEVEL(key, level, ...)					\
	do {								\
		struct ctl_finding finding = good;			\
									\
		__VA_ARGS__;						\
		assert_level(&finding, key, level);			\
	} while (0)

static void failed(struct ctl_trial *trial)
{
	*trial = (struct ctl_trial){ .error = "no completion: Connection timed out" };
}

static void a_device_without_a_fault_is_ok(void **state)
{
	unsigned int checks = 0;

	(void)state;
	for (const struct ctl_check *check = ctl_checks; check->key; check++, checks++) {
		assert_level(&good, check->key, CTL_OK);
		assert_non_null(check->name);
		assert_non_null(check->need);
	}
	assert_int_equal(checks, 15);
}

static void what_was_not_tried_is_neither_ok_nor_a_failure(void **state)
{
	static const char *const keys[] = { "pool", "registration", "ud", "restart", "rc", "psn", "rnr", "silence",
					    "order", "events" };
	const struct ctl_finding nothing = { 0 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_level(&nothing, keys[i], CTL_UNTRIED);
}

static void a_port_has_to_be_active_and_of_roce(void **state)
{
	(void)state;
	ASSERT_LEVEL("port", CTL_FAILS, finding.roce = false);
	ASSERT_LEVEL("port", CTL_FAILS, finding.active = false);
	ASSERT_LEVEL("port", CTL_OK, finding.driver[0] = finding.firmware[0] = '\0');
}

static void a_small_mtu_limits(void **state)
{
	(void)state;
	ASSERT_LEVEL("mtu", CTL_LIMITED, finding.mtu = 2048);
	ASSERT_LEVEL("mtu", CTL_LIMITED, finding.mtu = 1024);
}

static void a_gid_has_to_reach_other_nodes(void **state)
{
	(void)state;
	ASSERT_LEVEL("gid", CTL_OK, finding.gid = CTL_GID_IPV6);
	ASSERT_LEVEL("gid", CTL_LIMITED, finding.gid = CTL_GID_LINK_LOCAL);
	ASSERT_LEVEL("gid", CTL_FAILS, finding.gid = CTL_GID_NONE; finding.gids = 0);
}

static void the_pool_has_to_fit(void **state)
{
	(void)state;
	ASSERT_LEVEL("pool", CTL_FAILS, finding.max_qp_wr = 1024);
	ASSERT_LEVEL("pool", CTL_FAILS, finding.max_cqe = 2047);
	ASSERT_LEVEL("pool", CTL_FAILS, finding.max_sge = 1);
	ASSERT_LEVEL("pool", CTL_FAILS, finding.max_qp = 7);
	ASSERT_LEVEL("pool", CTL_LIMITED, finding.max_qp = 71);
	ASSERT_LEVEL("pool", CTL_OK, finding.max_qp = 72);
}

static void without_fast_registration_all_goes_by_dc(void **state)
{
	(void)state;
	ASSERT_LEVEL("registration", CTL_LIMITED, finding.fast_registration = false);
	ASSERT_LEVEL("registration", CTL_FAILS, failed(&finding.registration));
	ASSERT_LEVEL("registration", CTL_OK, finding.memlock = 8 << 20);
}

static void datagrams_have_to_be_right(void **state)
{
	(void)state;
	ASSERT_LEVEL("ud", CTL_FAILS, finding.ud_damaged = 1);
	ASSERT_LEVEL("ud", CTL_FAILS, finding.ud_strangers = 1);
	ASSERT_LEVEL("ud", CTL_FAILS, failed(&finding.ud));
	ASSERT_LEVEL("restart", CTL_LIMITED, failed(&finding.restart));
}

static void what_a_trial_failed_at_is_what_was_found(void **state)
{
	struct ctl_finding finding = good;

	(void)state;
	finding.ud = (struct ctl_trial){ .error = "receiving what was sent: Connection timed out" };
	assert_string_equal(judge(&finding, "ud").found, "receiving what was sent: Connection timed out");
}

static void damage_on_rc_fails_unless_rc_is_off(void **state)
{
	(void)state;
	ASSERT_LEVEL("rc", CTL_FAILS, finding.rc_damaged = "READ");
	ASSERT_LEVEL("rc", CTL_LIMITED, finding.rc_damaged = "READ"; finding.rc_off = true);
	ASSERT_LEVEL("rc", CTL_LIMITED, failed(&finding.rc));
}

static void a_receive_psn_that_does_not_move_fails_unless_rc_is_off(void **state)
{
	(void)state;
	ASSERT_LEVEL("psn", CTL_FAILS, finding.psn_moved = 0; finding.psn_stopped_moved = 0);
	ASSERT_LEVEL("psn", CTL_FAILS, finding.psn_moved = 121);
	ASSERT_LEVEL("psn", CTL_FAILS, finding.psn_stopped_moved = 0);
	ASSERT_LEVEL("psn", CTL_LIMITED, finding.psn_moved = 0; finding.rc_off = true);
}

static void a_peer_that_is_gone_has_to_be_noticed(void **state)
{
	(void)state;
	ASSERT_LEVEL("silence", CTL_LIMITED, finding.silence_ms = 4500);
	ASSERT_LEVEL("silence", CTL_LIMITED, failed(&finding.silence));
}

static void a_message_waits_for_its_receive_and_not_much_longer(void **state)
{
	(void)state;
	ASSERT_LEVEL("rnr", CTL_LIMITED, finding.rnr_after_ms = 19);
	ASSERT_LEVEL("rnr", CTL_LIMITED, finding.rnr_after_ms = 1021);
}

static void completions_have_to_be_in_order_and_told_of(void **state)
{
	(void)state;
	ASSERT_LEVEL("order", CTL_FAILS, finding.order_wrong = 1);
	ASSERT_LEVEL("events", CTL_FAILS, finding.events_missed = 1);
}

static void atomics_are_not_needed(void **state)
{
	(void)state;
	ASSERT_LEVEL("atomics", CTL_OK, finding.atomics_claimed = false; finding.atomics.done = false);
	ASSERT_LEVEL("atomics", CTL_LIMITED, finding.atomics_wrong = true);
	ASSERT_LEVEL("atomics", CTL_LIMITED, failed(&finding.atomics));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_without_a_fault_is_ok),
		cmocka_unit_test(what_was_not_tried_is_neither_ok_nor_a_failure),
		cmocka_unit_test(a_port_has_to_be_active_and_of_roce),
		cmocka_unit_test(a_small_mtu_limits),
		cmocka_unit_test(a_gid_has_to_reach_other_nodes),
		cmocka_unit_test(the_pool_has_to_fit),
		cmocka_unit_test(without_fast_registration_all_goes_by_dc),
		cmocka_unit_test(datagrams_have_to_be_right),
		cmocka_unit_test(what_a_trial_failed_at_is_what_was_found),
		cmocka_unit_test(damage_on_rc_fails_unless_rc_is_off),
		cmocka_unit_test(a_receive_psn_that_does_not_move_fails_unless_rc_is_off),
		cmocka_unit_test(a_peer_that_is_gone_has_to_be_noticed),
		cmocka_unit_test(a_message_waits_for_its_receive_and_not_much_longer),
		cmocka_unit_test(completions_have_to_be_in_order_and_told_of),
		cmocka_unit_test(atomics_are_not_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
