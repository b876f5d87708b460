/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../metad/table.h"

#define LEASE	1000

struct fixture {
	struct vqp_table table;
	struct vqp_bucket *buckets;
};

static void start(struct fixture *f, uint32_t nbuckets)
{
	f->buckets = aligned_alloc(4096, (nbuckets * sizeof(*f->buckets) + 4095) / 4096 * 4096);
	assert_non_null(f->buckets);
	assert_int_equal(vqp_table_init(&f->table, f->buckets, nbuckets), 0);
}

static void stop(struct fixture *f)
{
	vqp_table_exit(&f->table);
	free(f->buckets);
}

/* A container's address by number. */
static const uint8_t *gid_of(uint32_t number)
{
	static uint8_t gid[16];

	memset(gid, 0, 12);
	gid[10] = gid[11] = 0xff;
	gid[12] = 10;
	gid[13] = number >> 16;
	gid[14] = number >> 8;
	gid[15] = number;
	return gid;
}

static struct vqp_dct node(uint8_t number)
{
	struct vqp_dct dct = { .epoch = 7, .qkey = 8, .lanes = 2, .qpn = { 100, 101 } };

	dct.node_gid[0] = 0xfd;
	dct.node_gid[15] = number;
	return dct;
}

static int announce(struct fixture *f, uint32_t number, uint8_t on, bool takeover, uint64_t now)
{
	struct vqp_dct dct = node(on);

	return vqp_table_announce(&f->table, 1, gid_of(number), &dct, takeover, LEASE, now);
}

static int withdraw(struct fixture *f, uint32_t number, uint8_t on)
{
	struct vqp_dct dct = node(on);

	return vqp_table_withdraw(&f->table, 1, gid_of(number), dct.node_gid);
}

/* What a node finds, as the kernel does, with at most two READs: the node's number, or 0. */
static int lookup(const struct fixture *f, uint32_t tenant, uint32_t number, int *reads)
{
	uint32_t index[2];
	struct vqp_dct dct;

	vqp_bucket_index(tenant, gid_of(number), f->table.nbuckets, index);
	for (int i = 0; i < 2; i++) {
		int ret = vqp_bucket_find(&f->buckets[index[i]], tenant, gid_of(number), &dct);

		assert_true(ret >= 0);
		if (reads)
			*reads = i + 1;
		if (ret)
			return dct.node_gid[15];
		if (!vqp_bucket_displaces(&f->buckets[index[i]]))
			break;
	}
	return 0;
}

static void an_empty_table_can_be_read(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(lookup(&f, 1, i, NULL), 0);
	stop(&f);
}

static void what_is_announced_is_found_in_one_read(void **state)
{
	struct fixture f;
	uint32_t index[2];
	struct vqp_dct dct, expected = node(3);
	int reads;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(lookup(&f, 1, 1, &reads), 3);
	assert_int_equal(reads, 1);
	vqp_bucket_index(1, gid_of(1), 16, index);
	assert_int_equal(vqp_bucket_find(&f.buckets[index[0]], 1, gid_of(1), &dct), 1);
	assert_memory_equal(&dct, &expected, sizeof(dct));
	stop(&f);
}

static void tenants_do_not_see_each_other(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(lookup(&f, 2, 1, NULL), 0);
	stop(&f);
}

static void what_nobody_has_is_missed_in_one_read(void **state)
{
	struct fixture f;
	int reads;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(lookup(&f, 1, 2, &reads), 0);
	assert_int_equal(reads, 1);
	stop(&f);
}

/* The mean number of READs for ENTRIES addresses from `first` on, in hundredths. */
static int mean_reads(const struct fixture *f, uint32_t first, uint32_t entries, uint8_t owner)
{
	int sum = 0, reads;

	for (uint32_t i = first; i < first + entries; i++) {
		assert_int_equal(lookup(f, 1, i, &reads), owner);
		sum += reads;
	}
	return sum * 100 / entries;
}

static void a_table_takes_little_more_than_one_read(void **state)
{
	enum { BUCKETS = 1024, ENTRIES = BUCKETS * VQP_BUCKET_SLOTS * 8 / 10 };
	struct fixture f;

	(void)state;
	start(&f, BUCKETS);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(announce(&f, i, 3, true, 0), 0);
	assert_in_range(mean_reads(&f, 0, ENTRIES, 3), 101, 120);
	assert_in_range(mean_reads(&f, ENTRIES, ENTRIES, 0), 101, 130);
	stop(&f);
}

/* When all is gone, nothing is counted as displaced. */
static void a_table_that_was_full_forgets_it(void **state)
{
	enum { BUCKETS = 64, ENTRIES = BUCKETS * VQP_BUCKET_SLOTS * 7 / 10 };
	struct fixture f;

	(void)state;
	start(&f, BUCKETS);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(announce(&f, i, 3, true, 0), 0);
	assert_true(mean_reads(&f, 0, ENTRIES, 3) > 100);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(withdraw(&f, i, 3), 0);
	assert_int_equal(mean_reads(&f, 0, ENTRIES, 0), 100);
	stop(&f);
}

static void entries_move_to_make_room(void **state)
{
	enum { BUCKETS = 1024, ENTRIES = BUCKETS * VQP_BUCKET_SLOTS * 7 / 10 };
	struct fixture f;

	(void)state;
	start(&f, BUCKETS);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(announce(&f, i, 3, true, 0), 0);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(lookup(&f, 1, i, NULL), 3);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(withdraw(&f, i, 3), 0);
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(lookup(&f, 1, i, NULL), 0);
	stop(&f);
}

static void a_full_table_says_so_and_stays_whole(void **state)
{
	struct fixture f;
	uint32_t i;

	(void)state;
	start(&f, 1);
	for (i = 0; i < VQP_BUCKET_SLOTS; i++)
		assert_int_equal(announce(&f, i, 3, true, 0), 0);
	assert_int_equal(announce(&f, i, 3, true, 0), -ENOSPC);
	assert_int_equal(f.table.count, VQP_BUCKET_SLOTS);
	for (i = 0; i < VQP_BUCKET_SLOTS; i++)
		assert_int_equal(lookup(&f, 1, i, NULL), 3);
	assert_int_equal(withdraw(&f, 0, 3), 0);
	assert_int_equal(announce(&f, 99, 3, true, 0), 0);
	stop(&f);
}

static void withdrawn_is_gone(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(withdraw(&f, 1, 3), -ENOENT);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(withdraw(&f, 1, 3), 0);
	assert_int_equal(lookup(&f, 1, 1, NULL), 0);
	assert_int_equal(withdraw(&f, 1, 3), -ENOENT);
	assert_int_equal(f.table.count, 0);
	stop(&f);
}

static void only_the_owner_withdraws(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(withdraw(&f, 1, 4), -EADDRINUSE);
	assert_int_equal(lookup(&f, 1, 1, NULL), 3);
	stop(&f);
}

static void the_newest_takes_over(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(announce(&f, 1, 4, true, 1), 0);
	assert_int_equal(lookup(&f, 1, 1, NULL), 4);
	assert_int_equal(f.table.count, 1);
	stop(&f);
}

static void a_renewal_does_not_win_an_address_back(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(announce(&f, 1, 4, true, 1), 0);
	assert_int_equal(announce(&f, 1, 3, false, 2), -EADDRINUSE);
	assert_int_equal(lookup(&f, 1, 1, NULL), 4);
	/* ... unless the newer one has stopped renewing it. */
	assert_int_equal(announce(&f, 1, 3, false, 1 + LEASE), 0);
	assert_int_equal(lookup(&f, 1, 1, NULL), 3);
	stop(&f);
}

static void leases_run_out(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	assert_int_equal(announce(&f, 2, 3, true, 500), 0);
	vqp_table_expire(&f.table, LEASE - 1);
	assert_int_equal(lookup(&f, 1, 1, NULL), 3);
	vqp_table_expire(&f.table, LEASE);
	assert_int_equal(lookup(&f, 1, 1, NULL), 0);
	assert_int_equal(lookup(&f, 1, 2, NULL), 3);
	assert_int_equal(f.table.count, 1);
	stop(&f);
}

static void a_renewal_extends_the_lease_and_leaves_the_bucket_alone(void **state)
{
	struct vqp_bucket *before;
	struct fixture f;

	(void)state;
	start(&f, 4);
	before = malloc(4 * sizeof(*before));
	assert_non_null(before);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	memcpy(before, f.buckets, 4 * sizeof(*before));
	assert_int_equal(announce(&f, 1, 3, false, 900), 0);
	assert_memory_equal(before, f.buckets, 4 * sizeof(*before));
	vqp_table_expire(&f.table, LEASE + 899);
	assert_int_equal(lookup(&f, 1, 1, NULL), 3);
	free(before);
	stop(&f);
}

static void a_node_that_started_anew_replaces_its_metadata(void **state)
{
	struct vqp_dct dct = node(3), found;
	struct fixture f;
	uint32_t index[2];

	(void)state;
	start(&f, 16);
	assert_int_equal(announce(&f, 1, 3, true, 0), 0);
	dct.epoch = 99;
	assert_int_equal(vqp_table_announce(&f.table, 1, gid_of(1), &dct, false, LEASE, 1), 0);
	vqp_bucket_index(1, gid_of(1), 16, index);
	assert_int_equal(vqp_bucket_find(&f.buckets[index[0]], 1, gid_of(1), &found), 1);
	assert_int_equal(found.epoch, 99);
	stop(&f);
}

/* Against a plain array, at random. */
static void as_a_plain_array_would(void **state)
{
	enum { ADDRESSES = 200 };
	struct { int owner; uint64_t expires; } plain[ADDRESSES] = { 0 };
	struct fixture f;
	uint64_t now = 0;
	uint32_t count = 0;

	(void)state;
	srand(1);
	start(&f, 64);
	for (int step = 0; step < 20000; step++) {
		uint32_t number = rand() % ADDRESSES;
		uint8_t on = 1 + rand() % 3;

		now += rand() % 20;
		vqp_table_expire(&f.table, now);
		for (int i = 0; i < ADDRESSES; i++)
			if (plain[i].expires <= now)
				plain[i].owner = 0;
		if (rand() % 3) {
			bool takeover = rand() % 2, free_or_own = !plain[number].owner || plain[number].owner == on;

			assert_int_equal(announce(&f, number, on, takeover, now),
					 takeover || free_or_own ? 0 : -EADDRINUSE);
			if (takeover || free_or_own) {
				plain[number].owner = on;
				plain[number].expires = now + LEASE;
			}
		} else {
			assert_int_equal(withdraw(&f, number, on),
					 !plain[number].owner ? -ENOENT : plain[number].owner == on ? 0 : -EADDRINUSE);
			if (plain[number].owner == on)
				plain[number].owner = 0;
		}
		assert_int_equal(lookup(&f, 1, number, NULL), plain[number].owner);
	}
	for (int i = 0; i < ADDRESSES; i++) {
		assert_int_equal(lookup(&f, 1, i, NULL), plain[i].owner);
		count += plain[i].owner != 0;
	}
	assert_int_equal(f.table.count, count);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_can_be_read),
		cmocka_unit_test(what_is_announced_is_found_in_one_read),
		cmocka_unit_test(tenants_do_not_see_each_other),
		cmocka_unit_test(what_nobody_has_is_missed_in_one_read),
		cmocka_unit_test(a_table_takes_little_more_than_one_read),
		cmocka_unit_test(a_table_that_was_full_forgets_it),
		cmocka_unit_test(entries_move_to_make_room),
		cmocka_unit_test(a_full_table_says_so_and_stays_whole),
		cmocka_unit_test(withdrawn_is_gone),
		cmocka_unit_test(only_the_owner_withdraws),
		cmocka_unit_test(the_newest_takes_over),
		cmocka_unit_test(a_renewal_does_not_win_an_address_back),
		cmocka_unit_test(leases_run_out),
		cmocka_unit_test(a_renewal_extends_the_lease_and_leaves_the_bucket_alone),
		cmocka_unit_test(a_node_that_started_anew_replaces_its_metadata),
		cmocka_unit_test(as_a_plain_array_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
