// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "rate.h"

#define SECOND	1000000000ULL
#define RATES	{ 65536, 1000000, 100000000, 10000000000ULL, INT64_MAX }

static u64 burst(u64 max)
{
	const u64 bytes = max / 1000 * (VQP_RATE_BURST_NS / 1000000);

	return bytes > VQP_RATE_BURST_BYTES ? bytes : VQP_RATE_BURST_BYTES;
}

/* Send whenever it is allowed, from *now_ns to the end, packets of at most so many bytes. */
static u64 sent_until(struct vqp_rate *rate, u64 *now_ns, u64 end_ns, u32 most, u64 *rng)
{
	u64 sent = 0;

	while (*now_ns < end_ns) {
		const u32 bytes = 1 + unit_random(rng) % most;

		if (!vqp_rate_allows(rate, *now_ns)) {
			const u64 wait = vqp_rate_wait_ns(rate, *now_ns);

			assert_true(wait > 0 && wait < 20 * SECOND);
			*now_ns += wait;
			assert_true(vqp_rate_allows(rate, *now_ns));
			continue;
		}
		vqp_rate_charge(rate, bytes, *now_ns);
		sent += bytes;
		*now_ns += 100 + unit_random(rng) % 100;
	}
	return sent;
}

static void without_a_limit_all_may_go(void **state)
{
	struct vqp_rate rate = { 0 };

	(void)state;
	assert_true(vqp_rate_allows(&rate, 0));
	assert_int_equal(vqp_rate_wait_ns(&rate, 5), 0);
	vqp_rate_set(&rate, 1000000, 0);
	vqp_rate_charge(&rate, 1 << 30, 0);
	assert_false(vqp_rate_allows(&rate, SECOND));
	vqp_rate_set(&rate, 0, SECOND);
	assert_true(vqp_rate_allows(&rate, SECOND));
}

static void a_rate_is_held_and_used(void **state)
{
	const u64 rates[] = { 65536, 1000000, 100000000 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rates); i++) {
		struct vqp_rate rate = { 0 };
		u64 now = 7 * SECOND, rng = 3;
		u64 sent;

		vqp_rate_set(&rate, rates[i], now);
		sent = sent_until(&rate, &now, 17 * SECOND, 4096, &rng);
		assert_true(sent <= 10 * rates[i] + burst(rates[i]) + 4096);
		assert_true(sent >= 10 * rates[i] - rates[i] / 10);
	}
}

static void who_rests_saves_no_more_than_a_burst(void **state)
{
	struct vqp_rate rate = { 0 };
	u64 now = SECOND, rng = 3;
	u64 sent;

	(void)state;
	vqp_rate_set(&rate, 1000000, now);
	now = 1000 * SECOND;
	sent = sent_until(&rate, &now, 1001 * SECOND, 4096, &rng);
	assert_true(sent <= 1000000 + burst(1000000) + 4096);
}

static void a_large_request_is_paid_for_afterwards(void **state)
{
	struct vqp_rate rate = { 0 };

	(void)state;
	vqp_rate_set(&rate, 1 << 20, 0);
	assert_true(vqp_rate_allows(&rate, 0));
	vqp_rate_charge(&rate, 100 << 20, 0);
	assert_false(vqp_rate_allows(&rate, 99 * SECOND));
	assert_true(vqp_rate_allows(&rate, 100 * SECOND));
}

static void a_refund_is_what_was_charged(void **state)
{
	const u64 rates[] = RATES;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rates); i++) {
		struct vqp_rate rate = { 0 };
		u64 due;

		vqp_rate_set(&rate, rates[i], SECOND);
		vqp_rate_charge(&rate, 1 << 20, SECOND);
		due = rate.due_ns;
		vqp_rate_charge(&rate, 1 << 30, SECOND);
		assert_true(rate.due_ns > due);
		vqp_rate_refund(&rate, 1 << 30);
		assert_int_equal(rate.due_ns, due);
	}
}

/* A refund that comes late gives no more than was taken. */
static void a_late_refund_saves_nothing(void **state)
{
	struct vqp_rate rate = { 0 };
	u64 now = SECOND, rng = 3;

	(void)state;
	vqp_rate_set(&rate, 1000000, now);
	for (u32 i = 0; i < 1000; i++) {
		vqp_rate_charge(&rate, 65536, now);
		now += SECOND;
		vqp_rate_refund(&rate, 65536);
	}
	assert_true(sent_until(&rate, &now, now + SECOND, 4096, &rng) <= 1000000 + burst(1000000) + 4096);
}

static void a_new_rate_begins_anew(void **state)
{
	struct vqp_rate rate = { 0 };

	(void)state;
	vqp_rate_set(&rate, 65536, 0);
	vqp_rate_charge(&rate, 1 << 30, 0);
	vqp_rate_set(&rate, 1000000, SECOND);
	assert_true(vqp_rate_allows(&rate, SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_all_may_go),
		cmocka_unit_test(a_rate_is_held_and_used),
		cmocka_unit_test(who_rests_saves_no_more_than_a_burst),
		cmocka_unit_test(a_large_request_is_paid_for_afterwards),
		cmocka_unit_test(a_refund_is_what_was_charged),
		cmocka_unit_test(a_late_refund_saves_nothing),
		cmocka_unit_test(a_new_rate_begins_anew),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
