// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buckets of the meta server's table. The first byte says whether the rest is a
 * bucket as a READ brings it, or updates of one, which a plain list follows.
 */
#include <errno.h>
#include <asm/byteorder.h>
#include <linux/crc32.h>

#include "bucket.h"
#include "fuzz.h"

#define KEYS	10	/* more than fit */

struct entry {
	bool used;
	struct vqp_dct dct;
};

static void make_key(u32 i, u32 *tenant, u8 gid[16])
{
	*tenant = i % 3;
	memset(gid, 0, 16);
	gid[15] = i;		/* key 0 is all zeros, which names nothing */
}

static void check_dct(const struct vqp_dct *dct)
{
	fuzz_check(dct->lanes >= 1 && dct->lanes <= VQP_WIRE_LANES_MAX);
	for (u32 i = 0; i < dct->lanes; i++)
		fuzz_check(dct->qpn[i] < 1U << 24);
}

/* Anything may come from the network; bit 1 of `how` seals it. */
static void find_in_any(u8 how, const u8 *data, size_t bytes)
{
	struct vqp_bucket b = { 0 };
	struct vqp_dct dct;
	int found;

	memcpy(&b, data, bytes < sizeof(b) ? bytes : sizeof(b));
	if (how & 2) {
		b.magic = cpu_to_be32(VQP_BUCKET_MAGIC);
		b.crc = cpu_to_be32(~crc32_le(~0U, (u8 *)&b.version, sizeof(b) - offsetof(struct vqp_bucket, version)));
	}
	for (u32 i = 0; i < VQP_BUCKET_SLOTS; i++) {
		const u32 tenant = be32_to_cpu(b.slot[i].tenant);

		found = vqp_bucket_find(&b, tenant, b.slot[i].gid, &dct);
		fuzz_check(found == 0 || found == 1 || found == -EAGAIN || found == -EBADMSG);
		fuzz_check(!(how & 2) || found != -EAGAIN);
		if (found == 1)
			check_dct(&dct);
	}
}

static void check_contents(const struct vqp_bucket *b, const struct entry *model)
{
	for (u32 i = 0; i < KEYS; i++) {
		struct vqp_dct dct;
		u8 gid[16];
		u32 tenant;

		make_key(i, &tenant, gid);
		fuzz_check(vqp_bucket_find(b, tenant, gid, &dct) == model[i].used);
		if (!model[i].used)
			continue;
		fuzz_check(!memcmp(&dct, &model[i].dct, sizeof(dct)));
	}
}

/* One damaged byte shows for certain; a READ that overlaps an update, with all but 2^-32. */
static void check_damaged(const struct vqp_bucket *b, struct fuzz *in)
{
	const u32 at = fuzz_below(in, sizeof(*b));
	struct vqp_bucket damaged = *b;
	static const u8 gid[16] = { 1 };
	struct vqp_dct dct;

	((u8 *)&damaged)[at] ^= 1 + fuzz_below(in, 255);
	fuzz_check(vqp_bucket_find(&damaged, 1, gid, &dct) ==
		   (at < sizeof(b->magic) ? -EBADMSG : -EAGAIN));
}

static void read_dct(struct fuzz *in, struct vqp_dct *dct)
{
	memset(dct, 0, sizeof(*dct));
	dct->node_gid[15] = fuzz_byte(in);
	dct->epoch = fuzz_number(in, 2);
	dct->qkey = fuzz_number(in, 1);
	dct->lanes = fuzz_below(in, VQP_WIRE_LANES_MAX + 2);
	for (u32 i = 0; i < dct->lanes && i < VQP_WIRE_LANES_MAX; i++)
		dct->qpn[i] = fuzz_delta(in);
}

static bool is_sane(const struct vqp_dct *dct)
{
	for (u32 i = 0; i < dct->lanes && i < VQP_WIRE_LANES_MAX; i++)
		if (dct->qpn[i] >> 24)
			return false;
	return dct->lanes >= 1 && dct->lanes <= VQP_WIRE_LANES_MAX;
}

static void update(struct fuzz *in, struct vqp_bucket *b, struct entry *model, u32 *used)
{
	const u32 key = fuzz_below(in, KEYS);
	struct vqp_dct dct;
	u8 gid[16];
	u32 tenant;
	int ret;

	make_key(key, &tenant, gid);
	if (fuzz_byte(in) & 1) {
		fuzz_check(vqp_bucket_clear(b, tenant, gid) == (model[key].used ? 0 : -ENOENT));
		*used -= model[key].used;
		model[key].used = false;
		return;
	}
	read_dct(in, &dct);
	ret = vqp_bucket_set(b, tenant, gid, &dct);
	if (!key || !is_sane(&dct)) {
		fuzz_check(ret == -EINVAL);
	} else if (!model[key].used && *used == VQP_BUCKET_SLOTS) {
		fuzz_check(ret == -ENOSPC);
	} else {
		fuzz_check(!ret);
		*used += !model[key].used;
		model[key] = (struct entry){ true, dct };
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	const u8 how = fuzz_byte(&in);
	struct entry model[KEYS] = { 0 };
	struct vqp_bucket b;
	u32 used = 0;

	if (how & 1) {
		find_in_any(how, in.at, in.left);
		return 0;
	}
	vqp_bucket_init(&b);
	while (in.left) {
		update(&in, &b, model, &used);
		check_contents(&b, model);
		check_damaged(&b, &in);
	}
	return 0;
}
