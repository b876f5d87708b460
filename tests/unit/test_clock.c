// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "clock.h"

#define TICK	((u64)VQP_CLOCK_TICK_US)
#define RENEW	((u64)VQP_CLOCK_RENEW_US)
#define EPOCH	3
#define START	0xffffffe0U	/* so that every test sees the wrap */
#define LINGER	(500 * 1000ULL)

static struct {
	struct vqp_clock clock;
	u64 now;
	u32 drawn, next;		/* random numbers; the next one */
} env;

static u32 draw(void)
{
	env.drawn++;
	return env.next++;
}

static int setup(void **state)
{
	(void)state;
	memset(&env, 0, sizeof(env));
	env.now = 1000000000;
	env.next = 1000;
	env.clock.random = draw;
	return 0;
}

/* What the initiator's clock says. */
static u32 stamp(void)
{
	return vqp_clock_stamp(START, env.now - 999000000);
}

static u32 judge(const struct vqp_pkt *pkt)
{
	return vqp_clock_judge(&env.clock, pkt, NULL, env.now);
}

/* An OPEN that is sent now. */
static struct vqp_pkt now_sent(u32 echo)
{
	return (struct vqp_pkt) { .flags = VQP_PKT_OPEN, .src_epoch = EPOCH, .stamp = stamp(), .echo = echo };
}

static u32 arrives(struct vqp_pkt pkt)
{
	return judge(&pkt);
}

static void forget(u32 seen, u64 last_us)
{
	vqp_clock_forget(&env.clock, EPOCH, seen, last_us, env.now);
}

/* The first contact: a challenge, and its answer a millisecond later. */
static void get_to_know(void)
{
	const u32 echo = arrives(now_sent(0));

	assert_int_not_equal(echo, 0);
	env.now += 1000;
	assert_int_equal(arrives(now_sent(echo)), 0);
}

/* ---- The initiator's clock ---- */

static void a_clock_begins_anywhere_and_counts_ticks(void **state)
{
	(void)state;
	assert_int_equal(vqp_clock_stamp(START, 0), START);
	assert_int_equal(vqp_clock_stamp(START, TICK - 1), START);
	assert_int_equal(vqp_clock_stamp(START, 33 * TICK), 1);
}

static void an_age_beyond_its_byte_is_not_known(void **state)
{
	(void)state;
	assert_int_equal(vqp_clock_age(START, START), 0);
	assert_int_equal(vqp_clock_age(START, START + 254), 254);
	assert_int_equal(vqp_clock_age(START, START + 255), VQP_PKT_AGE_MAX);
	assert_int_equal(vqp_clock_age(START, START + 1000), VQP_PKT_AGE_MAX);
}

/* ---- Challenges ---- */

static void a_stranger_is_challenged_once(void **state)
{
	(void)state;
	get_to_know();
	for (u32 i = 0; i < 1000; i++) {
		env.now += TICK;
		assert_int_equal(arrives(now_sent(0)), 0);
	}
	assert_int_equal(env.drawn, 1);
}

static void what_a_stranger_sent_in_the_tick_of_its_proof_is_challenged(void **state)
{
	struct vqp_pkt same;

	(void)state;
	get_to_know();
	same = now_sent(0);
	assert_int_not_equal(judge(&same), 0);
	same.echo = env.clock.echoes[0].echo;
	assert_int_equal(judge(&same), 0);
}

static void many_are_challenged_with_one_number(void **state)
{
	u32 echo;

	(void)state;
	echo = arrives(now_sent(0));
	for (u32 i = 0; i < 2000; i++)
		assert_int_equal(arrives(now_sent(0)), echo);
	env.now += RENEW - 1;
	assert_int_equal(arrives(now_sent(0)), echo);
	assert_int_equal(env.drawn, 1);
	for (u32 i = 0; i < 2000; i++)
		assert_int_equal(arrives(now_sent(echo)), 0);
}

/* It was told until it was renewed, and is valid for as long again. */
static void an_echo_is_valid_after_it_was_renewed(void **state)
{
	u32 first, second;

	(void)state;
	first = arrives(now_sent(0));
	env.now += RENEW;
	second = arrives(now_sent(0));
	assert_int_not_equal(second, first);
	env.now += RENEW - 1;
	assert_int_equal(arrives(now_sent(first)), 0);
	assert_int_equal(arrives(now_sent(second)), 0);
}

static void an_echo_that_is_too_old_is_challenged(void **state)
{
	u32 first;

	(void)state;
	first = arrives(now_sent(0));
	env.now += 2 * RENEW;
	assert_int_not_equal(arrives(now_sent(first)), 0);
	/* and so is the one before the last */
	setup(state);
	first = arrives(now_sent(0));
	for (u32 i = 0; i < 2; i++) {
		env.now += RENEW;
		arrives(now_sent(0));
	}
	assert_int_not_equal(arrives(now_sent(first)), 0);
}

static void no_echo_is_none(void **state)
{
	(void)state;
	env.next = 0;
	assert_int_equal(arrives(now_sent(0)), 1);
	assert_int_not_equal(arrives(now_sent(0)), 0);
	assert_int_not_equal(arrives(now_sent(2)), 0);
}

/* Two lanes look at the time, and then call in the other order. */
static void the_time_may_go_back_a_little(void **state)
{
	const u64 before = 500;
	u32 echo;

	(void)state;
	echo = arrives(now_sent(0));
	env.now -= before;
	assert_int_equal(arrives(now_sent(0)), echo);
	assert_int_equal(arrives(now_sent(echo)), 0);
	env.now += TICK;
	assert_int_equal(arrives(now_sent(0)), 0);
	env.clock.proven_us = env.now + before;
	assert_int_equal(arrives(now_sent(0)), 0);
	assert_int_equal(env.drawn, 1);
}

/* ---- Late copies ---- */

static void a_copy_of_what_was_forgotten_is_challenged(void **state)
{
	struct vqp_pkt copy;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	copy = now_sent(0);
	assert_int_equal(judge(&copy), 0);
	env.now += LINGER;
	forget(copy.stamp, env.now - LINGER);
	assert_int_not_equal(judge(&copy), 0);
	/* what is sent by now is not */
	assert_int_equal(arrives(now_sent(0)), 0);
}

/* The copy of a packet that was sent in the same tick as the latest of what was forgotten. */
static void the_last_tick_that_was_forgotten_counts(void **state)
{
	struct vqp_pkt copy;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	copy = now_sent(0);
	forget(copy.stamp, env.now);
	assert_int_not_equal(judge(&copy), 0);
	copy.stamp++;
	assert_int_equal(judge(&copy), 0);
	/* an earlier one does not count any more */
	forget(copy.stamp - 5, env.now);
	assert_int_equal(judge(&copy), 0);
	copy.stamp--;
	assert_int_not_equal(judge(&copy), 0);
}

/* A packet that was sent again has a later stamp, and may have been carried out at first. */
static void a_packet_that_was_first_sent_before_is_challenged(void **state)
{
	struct vqp_pkt again;
	u32 seen;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	seen = stamp();
	forget(seen, env.now);
	env.now += 10 * TICK;
	again = now_sent(0);
	again.age = 9;
	assert_int_equal(judge(&again), 0);
	again.age = 10;
	assert_int_not_equal(judge(&again), 0);
	again.age = VQP_PKT_AGE_MAX;
	assert_int_not_equal(judge(&again), 0);
	again.echo = env.clock.echoes[0].echo;
	assert_int_equal(judge(&again), 0);
}

static void an_unknown_age_is_challenged_however_late_it_is(void **state)
{
	struct vqp_pkt again;

	(void)state;
	get_to_know();
	env.now += 1000 * TICK;
	again = now_sent(0);
	again.age = VQP_PKT_AGE_MAX - 1;
	assert_int_equal(judge(&again), 0);
	again.age = VQP_PKT_AGE_MAX;
	assert_int_not_equal(judge(&again), 0);
}

/* It was carried out by its echo, and is forgotten while that would still be valid. */
static void a_copy_with_an_echo_is_challenged(void **state)
{
	struct vqp_pkt copy;
	u32 echo;

	(void)state;
	echo = arrives(now_sent(0));
	copy = now_sent(echo);
	assert_int_equal(judge(&copy), 0);
	forget(copy.stamp, env.now);
	assert_int_not_equal(judge(&copy), 0);
	assert_int_not_equal(env.clock.echoes[0].echo, echo);
}

static void a_copy_with_the_echo_before_is_challenged(void **state)
{
	struct vqp_pkt copy;
	u32 first, second;

	(void)state;
	first = arrives(now_sent(0));
	env.now += RENEW;
	second = arrives(now_sent(0));
	copy = now_sent(first);
	assert_int_equal(judge(&copy), 0);
	/* The latest packet of what is forgotten came between the two: the second echo is later. */
	forget(copy.stamp, env.now - 1);
	assert_int_not_equal(judge(&copy), 0);
	assert_int_equal(arrives(now_sent(second)), 0);
}

/* The flow has a context, of which nothing was forgotten; the packet would have it go on elsewhere. */
static void what_is_no_later_than_what_its_context_saw_is_challenged(void **state)
{
	struct vqp_pkt pkt;
	u32 seen, echo;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	pkt = now_sent(0);
	seen = pkt.stamp - 1;
	assert_int_equal(vqp_clock_judge(&env.clock, &pkt, &seen, env.now), 0);
	pkt.age = 1;
	assert_int_not_equal(vqp_clock_judge(&env.clock, &pkt, &seen, env.now), 0);
	pkt.age = 0;
	seen++;
	echo = vqp_clock_judge(&env.clock, &pkt, &seen, env.now);
	assert_int_not_equal(echo, 0);
	assert_int_equal(judge(&pkt), 0);
	pkt.echo = echo;
	assert_int_equal(vqp_clock_judge(&env.clock, &pkt, &seen, env.now), 0);
}

/* A VQP whose namespace has used up its rate has its turn late. Its stamp may be as old as the echo. */
static void an_echo_waits_for_a_turn_of_half_a_minute(void **state)
{
	const u64 turn_us = 30 * 1000000;
	struct vqp_pkt early, pkt;
	u32 echo;

	(void)state;
	echo = arrives(now_sent(0));
	early = now_sent(echo);
	env.now += turn_us;
	pkt = now_sent(echo);
	assert_int_equal(judge(&pkt), 0);
	/* One was under way for as long: what is sent now is not far ahead of it. */
	setup(state);
	assert_int_equal(arrives(now_sent(0)), echo);
	env.now += turn_us;
	assert_int_equal(judge(&early), 0);
	assert_int_equal(arrives(now_sent(0)), 0);
}

/* What lingered was carried out before the echo was made, which stays valid. */
static void forgetting_what_is_older_keeps_the_echo(void **state)
{
	u32 echo;

	(void)state;
	get_to_know();
	env.now += 2 * RENEW;
	forget(stamp(), env.now);
	echo = arrives(now_sent(0));
	env.now += LINGER;
	forget(stamp() - 20, env.now - LINGER - 1);
	assert_int_equal(arrives(now_sent(echo)), 0);
}

/* A target that knows nothing takes for forgotten what was sent before the proof. */
static void a_copy_from_before_the_first_contact_is_challenged(void **state)
{
	struct vqp_pkt copy;

	(void)state;
	copy = now_sent(0);
	env.now += 3 * TICK;
	get_to_know();
	assert_int_not_equal(judge(&copy), 0);
	env.now += 1000 * TICK;
	assert_int_not_equal(judge(&copy), 0);
}

static void another_life_of_the_initiator_is_a_stranger(void **state)
{
	struct vqp_pkt pkt;
	u32 echo;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	pkt = now_sent(0);
	pkt.src_epoch = EPOCH + 1;
	echo = judge(&pkt);
	assert_int_not_equal(echo, 0);
	/* It does not change what is known of this one, */
	assert_int_equal(arrives(now_sent(0)), 0);
	/* nor does what is forgotten of it; until it proves that it is the present one. */
	vqp_clock_forget(&env.clock, EPOCH + 1, stamp() + 10, 0, env.now);
	assert_int_equal(arrives(now_sent(0)), 0);
	pkt.echo = echo;
	pkt.stamp = 77;
	assert_int_equal(judge(&pkt), 0);
	assert_int_equal(env.clock.forgotten, 77);
	env.now += TICK;
	assert_int_not_equal(arrives(now_sent(0)), 0);
}

/* ---- Clocks that are not what they should be ---- */

static void a_proof_does_not_make_what_is_known_worse(void **state)
{
	u32 echo;

	(void)state;
	get_to_know();
	env.now += 10 * TICK;
	forget(stamp() - 2, env.now - 3 * TICK);
	echo = arrives((struct vqp_pkt) { .src_epoch = EPOCH, .stamp = stamp(), .age = VQP_PKT_AGE_MAX });
	assert_int_equal(arrives(now_sent(echo)), 0);
	/* another one of that tick */
	assert_int_equal(arrives(now_sent(0)), 0);
}

static void a_stamp_far_ahead_is_challenged(void **state)
{
	struct vqp_pkt ahead;
	u32 known;

	(void)state;
	get_to_know();
	known = env.clock.proven;
	ahead = now_sent(0);
	ahead.stamp = known + VQP_CLOCK_LEAD + 1;
	assert_int_not_equal(judge(&ahead), 0);
	ahead.stamp--;
	assert_int_equal(judge(&ahead), 0);
	/* as far as the time that went by, and a little more */
	env.now += 10 * 1024 * TICK;
	ahead.stamp = known + VQP_CLOCK_LEAD + 10 * 1024 + 10;
	assert_int_equal(judge(&ahead), 0);
	ahead.stamp++;
	assert_int_not_equal(judge(&ahead), 0);
}

/* A clock that is 1/2000 faster or slower is not challenged, for as long as a day. */
static void clocks_may_differ_a_little(void **state)
{
	struct vqp_pkt pkt;
	u32 begin;

	(void)state;
	get_to_know();
	begin = stamp();
	for (u64 ticks = 20000; ticks < 24 * 3600 * 16; ticks += 20000) {
		env.now += 20000 * TICK;
		pkt = now_sent(0);
		pkt.stamp = begin + ticks + ticks / 2000;
		assert_int_equal(judge(&pkt), 0);
		pkt.stamp = begin + ticks - ticks / 2000;
		assert_int_equal(judge(&pkt), 0);
	}
	assert_int_equal(env.drawn, 1);
}

/* The target stood still, and its clock with it: one challenge is enough to learn how late it is. */
static void a_target_that_stood_still_learns_the_clock_anew(void **state)
{
	struct vqp_pkt pkt;
	u32 echo;

	(void)state;
	get_to_know();
	pkt = now_sent(0);
	pkt.stamp += 100000;
	echo = judge(&pkt);
	assert_int_not_equal(echo, 0);
	pkt.echo = echo;
	assert_int_equal(judge(&pkt), 0);
	pkt.echo = 0;
	pkt.stamp++;
	assert_int_equal(judge(&pkt), 0);
	/* what was fresh before is so still: nothing was forgotten since */
	pkt.stamp -= 50000;
	assert_int_equal(judge(&pkt), 0);
}

/* A forged stamp in a context that is forgotten costs a challenge, and no more. */
static void a_forged_stamp_that_is_forgotten_costs_one_challenge(void **state)
{
	u32 echo;

	(void)state;
	get_to_know();
	env.now += 20 * TICK;
	forget(stamp() + 0x7000000, env.now - 1);
	echo = arrives(now_sent(0));
	assert_int_not_equal(echo, 0);
	assert_int_equal(arrives(now_sent(echo)), 0);
	env.now += TICK;
	assert_int_equal(arrives(now_sent(0)), 0);
	/* and one that is not far ahead likewise */
	forget(stamp() + VQP_CLOCK_LEAD / 2, env.now - 1);
	env.now += TICK;
	echo = arrives(now_sent(0));
	assert_int_not_equal(echo, 0);
	assert_int_equal(arrives(now_sent(echo)), 0);
	env.now += TICK;
	assert_int_equal(arrives(now_sent(0)), 0);
}

/* ---- Against what is true, at random ---- */

#define COPIES	64

/*
 * Flows open, are forgotten, and open again; a copy of any packet comes at any time. What was carried out is never
 * fresh once it is forgotten, and what is sent is carried out after at most a few challenges.
 */
static void nothing_is_carried_out_twice(void **state)
{
	struct { struct vqp_pkt pkt; u64 last_us; bool remembered; } sent[COPIES] = { 0 };
	u64 rng = 5;
	u32 fresh = 0, challenged = 0;

	setup(state);
	for (u32 step = 0; step < 200000; step++) {
		const u32 i = (unit_random(&rng) >> 32) % COPIES;
		const u32 what = (unit_random(&rng) >> 32) % 10;

		env.now += (unit_random(&rng) >> 32) % (step % 1000 < 500 ? 2000 : 200000);
		if (what < 4) {
			/* an old packet comes: its flow may have a context, which tells */
			if (sent[i].last_us && !sent[i].remembered)
				assert_int_not_equal(judge(&sent[i].pkt), 0);
		} else if (what < 6) {
			if (sent[i].remembered) {
				forget(sent[i].pkt.stamp, sent[i].last_us);
				sent[i].remembered = false;
			}
		} else if (!sent[i].remembered) {
			struct vqp_pkt pkt = now_sent(0);

			for (u32 tries = 0; (pkt.echo = judge(&pkt)); tries++) {
				assert_true(tries < 2);
				challenged++;
				env.now += (unit_random(&rng) >> 32) % 1000;
				pkt.stamp = stamp();
			}
			pkt.echo = env.clock.echoes[(unit_random(&rng) >> 32) % 2].echo;
			sent[i].pkt = pkt;
			sent[i].last_us = env.now;
			sent[i].remembered = true;
			fresh++;
		}
	}
	assert_true(fresh > 10000 && challenged > 100);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_clock_begins_anywhere_and_counts_ticks),
		TEST(an_age_beyond_its_byte_is_not_known),
		TEST(a_stranger_is_challenged_once),
		TEST(what_a_stranger_sent_in_the_tick_of_its_proof_is_challenged),
		TEST(many_are_challenged_with_one_number),
		TEST(an_echo_is_valid_after_it_was_renewed),
		TEST(an_echo_that_is_too_old_is_challenged),
		TEST(no_echo_is_none),
		TEST(the_time_may_go_back_a_little),
		TEST(a_copy_of_what_was_forgotten_is_challenged),
		TEST(the_last_tick_that_was_forgotten_counts),
		TEST(a_packet_that_was_first_sent_before_is_challenged),
		TEST(an_unknown_age_is_challenged_however_late_it_is),
		TEST(a_copy_with_an_echo_is_challenged),
		TEST(a_copy_with_the_echo_before_is_challenged),
		TEST(what_is_no_later_than_what_its_context_saw_is_challenged),
		TEST(an_echo_waits_for_a_turn_of_half_a_minute),
		TEST(forgetting_what_is_older_keeps_the_echo),
		TEST(a_copy_from_before_the_first_contact_is_challenged),
		TEST(another_life_of_the_initiator_is_a_stranger),
		TEST(a_proof_does_not_make_what_is_known_worse),
		TEST(a_stamp_far_ahead_is_challenged),
		TEST(clocks_may_differ_a_little),
		TEST(a_target_that_stood_still_learns_the_clock_anew),
		TEST(a_forged_stamp_that_is_forgotten_costs_one_challenge),
		TEST(nothing_is_carried_out_twice),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
