// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sets in which what was used least lately makes room. */
#include "unit.h"
#include <linux/list.h>
#include "ageing.h"

#define MEMBERS	(3 * VQP_AGEING_LOOKS)

static struct {
	struct vqp_ageing set;
	struct vqp_aged members[MEMBERS];
	u32 pinned;			/* so many of the first members may not go */
} env;

static int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	vqp_ageing_init(&env.set);
	for (u32 i = 0; i < MEMBERS; i++)
		vqp_ageing_add(&env.set, &env.members[i]);
	return 0;
}

static bool may_go(struct vqp_aged *aged)
{
	return aged - env.members >= env.pinned;
}

/* The one that makes room, which leaves the set. */
static struct vqp_aged *evict(void)
{
	struct vqp_aged *aged = vqp_ageing_oldest(&env.set, env.pinned ? may_go : NULL);

	if (aged)
		vqp_ageing_del(&env.set, aged);
	return aged;
}

static void what_was_never_used_goes_in_order(void **state)
{
	(void)state;
	for (u32 i = 0; i < MEMBERS; i++) {
		assert_int_equal(env.set.count, MEMBERS - i);
		assert_ptr_equal(evict(), &env.members[i]);
	}
	assert_null(evict());
}

static void what_was_used_has_another_round(void **state)
{
	(void)state;
	vqp_aged_use(&env.members[0]);
	vqp_aged_use(&env.members[2]);
	assert_ptr_equal(evict(), &env.members[1]);
	for (u32 i = 3; i < MEMBERS; i++)
		assert_ptr_equal(evict(), &env.members[i]);
	assert_ptr_equal(evict(), &env.members[0]);
	assert_ptr_equal(evict(), &env.members[2]);
}

/* Strangers who fill the set, each of which is used once, do not push out what is used all the time. */
static void what_is_in_use_outlives_a_flood(void **state)
{
	(void)state;
	for (u32 i = 0; i < 100 * MEMBERS; i++) {
		struct vqp_aged *stranger;

		vqp_aged_use(&env.members[5]);
		stranger = evict();
		assert_ptr_not_equal(stranger, &env.members[5]);
		vqp_ageing_add(&env.set, stranger);
		vqp_aged_use(stranger);
	}
}

static void one_goes_if_all_are_in_use(void **state)
{
	u32 used = 0;

	(void)state;
	for (u32 i = 0; i < MEMBERS; i++)
		vqp_aged_use(&env.members[i]);
	assert_non_null(evict());
	/* No more than that number was looked at. */
	for (u32 i = 0; i < MEMBERS; i++)
		used += env.members[i].used;
	assert_true(used >= MEMBERS - VQP_AGEING_LOOKS);
}

static void what_may_not_go_stays(void **state)
{
	(void)state;
	env.pinned = VQP_AGEING_LOOKS + 1;
	/* The first look finds only members that may not go, the second goes on behind them. */
	assert_null(evict());
	assert_ptr_equal(evict(), &env.members[env.pinned]);
	env.pinned = MEMBERS;
	for (u32 i = 0; i < MEMBERS; i++)
		assert_null(evict());
}

/* What is in use goes if nothing else may, wherever it stands. */
static void who_may_go_does_in_a_small_set(void **state)
{
	(void)state;
	for (u32 first = 0; first < 2; first++) {
		vqp_ageing_init(&env.set);
		env.pinned = 1;
		vqp_ageing_add(&env.set, &env.members[first]);
		vqp_ageing_add(&env.set, &env.members[!first]);
		vqp_aged_use(&env.members[1]);
		assert_ptr_equal(evict(), &env.members[1]);
	}
}

static void a_single_member_goes(void **state)
{
	(void)state;
	vqp_ageing_init(&env.set);
	vqp_ageing_add(&env.set, &env.members[0]);
	vqp_aged_use(&env.members[0]);
	assert_ptr_equal(evict(), &env.members[0]);
	assert_int_equal(env.set.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_never_used_goes_in_order, setup),
		cmocka_unit_test_setup(what_was_used_has_another_round, setup),
		cmocka_unit_test_setup(what_is_in_use_outlives_a_flood, setup),
		cmocka_unit_test_setup(one_goes_if_all_are_in_use, setup),
		cmocka_unit_test_setup(what_may_not_go_stays, setup),
		cmocka_unit_test_setup(who_may_go_does_in_a_small_set, setup),
		cmocka_unit_test_setup(a_single_member_goes, setup),
	};

	return cmocka_run_group_tests_name("ageing", tests, NULL, NULL);
}
