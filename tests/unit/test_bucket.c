// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include <linux/crc32.h>
#include "bucket.h"

static const u8 gid_a[16] = { 10, 1 }, gid_b[16] = { 10, 2 };
static const struct vqp_dct dct_a = {
	.node_gid = { 0xfe, 0x80, 1 }, .epoch = 0x01020304, .qkey = 0x80010000, .lanes = 2, .qpn = { 17, 0xffffff },
};

static struct vqp_bucket bucket;

static int setup(void **state)
{
	(void)state;
	vqp_bucket_init(&bucket);
	return 0;
}

static int find(u32 tenant, const u8 *gid)
{
	struct vqp_dct dct;

	return vqp_bucket_find(&bucket, tenant, gid, &dct);
}

static void numbered_gid(u8 *gid, u32 number)
{
	memset(gid, 0, 16);
	memcpy(gid + 12, &number, 4);
}

static void empty_bucket_has_nothing(void **state)
{
	const u8 zero[16] = { 0 };

	(void)state;
	assert_int_equal(find(1, gid_a), 0);
	assert_int_equal(find(0, zero), 0);
}

static void zeroed_memory_is_no_bucket(void **state)
{
	(void)state;
	memset(&bucket, 0, sizeof(bucket));
	assert_int_equal(find(1, gid_a), -EBADMSG);
}

static void what_is_set_is_found(void **state)
{
	struct vqp_dct dct;

	(void)state;
	memset(&dct, 0, sizeof(dct));
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(vqp_bucket_find(&bucket, 1, gid_a, &dct), 1);
	assert_memory_equal(&dct, &dct_a, sizeof(dct));
}

static void the_whole_key_counts(void **state)
{
	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(find(2, gid_a), 0);
	assert_int_equal(find(1, gid_b), 0);
}

static void tenant_zero_has_keys_too(void **state)
{
	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 0, gid_a, &dct_a), 0);
	assert_int_equal(find(0, gid_a), 1);
}

static void set_again_replaces(void **state)
{
	struct vqp_dct moved = dct_a, dct;

	(void)state;
	moved.epoch = 9;
	for (u32 i = 0; i < 2 * VQP_BUCKET_SLOTS; i++)
		assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &moved), 0);
	assert_int_equal(vqp_bucket_find(&bucket, 1, gid_a, &dct), 1);
	assert_int_equal(dct.epoch, 9);
}

static void fewer_lanes_leave_no_old_ones(void **state)
{
	struct vqp_dct one = dct_a, dct;

	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	one.lanes = 1;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &one), 0);
	assert_int_equal(vqp_bucket_find(&bucket, 1, gid_a, &dct), 1);
	assert_int_equal(dct.qpn[1], 0);
}

static void a_full_bucket_says_so(void **state)
{
	u8 gid[16];

	(void)state;
	for (u32 i = 0; i < VQP_BUCKET_SLOTS; i++) {
		numbered_gid(gid, i + 1);
		assert_int_equal(vqp_bucket_set(&bucket, 0, gid, &dct_a), 0);
	}
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), -ENOSPC);
	assert_int_equal(find(1, gid_a), 0);
	assert_int_equal(vqp_bucket_set(&bucket, 0, gid, &dct_a), 0);
	for (u32 i = 0; i < VQP_BUCKET_SLOTS; i++) {
		numbered_gid(gid, i + 1);
		assert_int_equal(find(0, gid), 1);
	}
}

static void what_is_cleared_is_gone(void **state)
{
	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_b, &dct_a), 0);
	assert_int_equal(vqp_bucket_clear(&bucket, 1, gid_a), 0);
	assert_int_equal(find(1, gid_a), 0);
	assert_int_equal(find(1, gid_b), 1);
}

static void clearing_what_is_not_there(void **state)
{
	const u8 zero[16] = { 0 };

	(void)state;
	assert_int_equal(vqp_bucket_clear(&bucket, 1, gid_a), -ENOENT);
	assert_int_equal(vqp_bucket_clear(&bucket, 0, zero), -ENOENT);
}

static void a_cleared_slot_is_used_again(void **state)
{
	u8 gid[16];

	(void)state;
	for (u32 i = 0; i < VQP_BUCKET_SLOTS; i++) {
		numbered_gid(gid, i);
		assert_int_equal(vqp_bucket_set(&bucket, 5, gid, &dct_a), 0);
	}
	numbered_gid(gid, 3);
	assert_int_equal(vqp_bucket_clear(&bucket, 5, gid), 0);
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(find(1, gid_a), 1);
}

static void a_key_of_zeros_is_refused(void **state)
{
	const u8 zero[16] = { 0 };

	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 0, zero, &dct_a), -EINVAL);
}

static void nonsense_is_not_stored(void **state)
{
	struct vqp_dct bad = dct_a;

	(void)state;
	bad.lanes = 0;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &bad), -EINVAL);
	bad.lanes = VQP_WIRE_LANES_MAX + 1;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &bad), -EINVAL);
	bad.lanes = 1;
	bad.qpn[0] = 1U << 24;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &bad), -EINVAL);
	assert_int_equal(find(1, gid_a), 0);
}

static void nonsense_with_a_good_checksum_is_not_believed(void **state)
{
	const size_t skip = offsetof(struct vqp_bucket, version);

	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	for (u32 i = 0; i < VQP_BUCKET_SLOTS; i++)
		bucket.slot[i].lanes = 0xffffffff;
	bucket.crc = __builtin_bswap32(crc32(0, (const u8 *)&bucket + skip, sizeof(bucket) - skip));
	assert_int_equal(find(1, gid_a), -EBADMSG);
	assert_int_equal(find(1, gid_b), 0);
}

static void every_byte_changed_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	for (u32 at = 0; at < sizeof(bucket); at++) {
		((u8 *)&bucket)[at] ^= 0x5a;
		assert_int_equal(find(1, gid_a), at < 4 ? -EBADMSG : -EAGAIN);
		((u8 *)&bucket)[at] ^= 0x5a;
	}
	assert_int_equal(find(1, gid_a), 1);
}

static void a_read_torn_by_an_update_is_noticed(void **state)
{
	struct vqp_bucket before, after;

	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	before = bucket;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_b, &dct_a), 0);
	after = bucket;
	for (u32 cut = 8; cut < 16 + 2 * sizeof(struct vqp_bucket_slot); cut += 4) {
		if (!memcmp((u8 *)&before + cut, (u8 *)&after + cut, sizeof(after) - cut))
			break;
		memcpy(&bucket, &after, cut);
		memcpy((u8 *)&bucket + cut, (u8 *)&before + cut, sizeof(before) - cut);
		assert_int_equal(find(1, gid_a), -EAGAIN);
	}
}

static void an_update_changes_the_version(void **state)
{
	const struct vqp_bucket before = bucket;

	(void)state;
	assert_int_equal(vqp_bucket_set(&bucket, 1, gid_a, &dct_a), 0);
	assert_int_equal(vqp_bucket_clear(&bucket, 1, gid_a), 0);
	assert_memory_equal(before.slot, bucket.slot, sizeof(bucket.slot));
	assert_int_not_equal(before.version, bucket.version);
	assert_int_not_equal(before.crc, bucket.crc);
}

static void indices_stay_in_the_table(void **state)
{
	u32 index[2];
	u8 gid[16];

	(void)state;
	for (u32 nbuckets = 1; nbuckets <= 4096; nbuckets *= 2) {
		for (u32 i = 0; i < 100; i++) {
			numbered_gid(gid, i);
			vqp_bucket_index(i, gid, nbuckets, index);
			assert_true(index[0] < nbuckets && index[1] < nbuckets);
		}
	}
}

/* Fixed for ever: readers and writers are built apart. */
static void indices_are_the_same_everywhere(void **state)
{
	u32 index[2];

	(void)state;
	vqp_bucket_index(7, gid_a, 1U << 31, index);
	assert_int_equal(index[0], 0x547d02b6);
	assert_int_equal(index[1], 0x6bc17dfc);
}

/* Two choices fill a table well before the first key finds no room. */
static void two_choices_spread_the_keys(void **state)
{
	static struct vqp_bucket table[256];
	u32 stored, index[2];
	u8 gid[16];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		vqp_bucket_init(&table[i]);
	for (stored = 0; ; stored++) {
		numbered_gid(gid, stored);
		vqp_bucket_index(1, gid, ARRAY_SIZE(table), index);
		if (vqp_bucket_set(&table[index[0]], 1, gid, &dct_a) &&
		    vqp_bucket_set(&table[index[1]], 1, gid, &dct_a))
			break;
	}
	assert_in_range(stored, ARRAY_SIZE(table) * VQP_BUCKET_SLOTS / 2, ARRAY_SIZE(table) * VQP_BUCKET_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(empty_bucket_has_nothing, setup),
		cmocka_unit_test_setup(zeroed_memory_is_no_bucket, setup),
		cmocka_unit_test_setup(what_is_set_is_found, setup),
		cmocka_unit_test_setup(the_whole_key_counts, setup),
		cmocka_unit_test_setup(tenant_zero_has_keys_too, setup),
		cmocka_unit_test_setup(set_again_replaces, setup),
		cmocka_unit_test_setup(fewer_lanes_leave_no_old_ones, setup),
		cmocka_unit_test_setup(a_full_bucket_says_so, setup),
		cmocka_unit_test_setup(what_is_cleared_is_gone, setup),
		cmocka_unit_test_setup(clearing_what_is_not_there, setup),
		cmocka_unit_test_setup(a_cleared_slot_is_used_again, setup),
		cmocka_unit_test_setup(a_key_of_zeros_is_refused, setup),
		cmocka_unit_test_setup(nonsense_is_not_stored, setup),
		cmocka_unit_test_setup(nonsense_with_a_good_checksum_is_not_believed, setup),
		cmocka_unit_test_setup(every_byte_changed_is_noticed, setup),
		cmocka_unit_test_setup(a_read_torn_by_an_update_is_noticed, setup),
		cmocka_unit_test_setup(an_update_changes_the_version, setup),
		cmocka_unit_test(indices_stay_in_the_table),
		cmocka_unit_test(indices_are_the_same_everywhere),
		cmocka_unit_test(two_choices_spread_the_keys),
	};

	return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
