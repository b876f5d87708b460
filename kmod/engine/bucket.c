// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "bucket.h"

static_assert(sizeof(struct vqp_bucket_slot) == 88);
static_assert(sizeof(struct vqp_bucket) == VQP_BUCKET_BYTES);

static u32 vqp_bucket_mix(u32 hash, u32 a, u32 b)
{
	hash ^= hash >> 16;
	hash *= a;
	hash ^= hash >> 13;
	hash *= b;
	return hash ^ hash >> 16;
}

void vqp_bucket_index(u32 tenant, const u8 *gid, u32 nbuckets, u32 index[2])
{
	const __be32 prefix = cpu_to_be32(tenant);
	u8 key[20];
	u32 hash = 0x811c9dc5, i;

	memcpy(key, &prefix, 4);
	memcpy(key + 4, gid, 16);
	for (i = 0; i < sizeof(key); i++)
		hash = (hash ^ key[i]) * 0x01000193;
	index[0] = vqp_bucket_mix(hash, 0x85ebca6b, 0xc2b2ae35) & (nbuckets - 1);
	index[1] = vqp_bucket_mix(hash, 0x7feb352d, 0x846ca68b) & (nbuckets - 1);
}

static u32 vqp_bucket_crc(const struct vqp_bucket *b)
{
	const size_t skip = offsetof(struct vqp_bucket, version);

	return ~crc32_le(~0U, (const u8 *)b + skip, sizeof(*b) - skip);
}

/* The index of the slot with this key, or VQP_BUCKET_SLOTS. */
static u32 vqp_bucket_slot(const struct vqp_bucket *b, u32 tenant, const u8 *gid)
{
	u32 i;

	for (i = 0; i < VQP_BUCKET_SLOTS; i++)
		if (b->slot[i].tenant == cpu_to_be32(tenant) &&
		    !memcmp(b->slot[i].gid, gid, sizeof(b->slot[i].gid)))
			break;
	return i;
}

static bool vqp_bucket_sane(const struct vqp_dct *dct)
{
	u32 i;

	if (!dct->lanes || dct->lanes > VQP_WIRE_LANES_MAX)
		return false;
	for (i = 0; i < dct->lanes; i++)
		if (dct->qpn[i] >> 24)
			return false;
	return true;
}

static const u8 vqp_bucket_no_gid[16];

static bool vqp_bucket_no_key(u32 tenant, const u8 *gid)
{
	return !tenant && !memcmp(gid, vqp_bucket_no_gid, sizeof(vqp_bucket_no_gid));
}

int vqp_bucket_find(const struct vqp_bucket *b, u32 tenant, const u8 *gid, struct vqp_dct *dct)
{
	const struct vqp_bucket_slot *slot;
	u32 i;

	if (b->magic != cpu_to_be32(VQP_BUCKET_MAGIC))
		return -EBADMSG;
	if (b->crc != cpu_to_be32(vqp_bucket_crc(b)))
		return -EAGAIN;
	if (vqp_bucket_no_key(tenant, gid))
		return 0;
	i = vqp_bucket_slot(b, tenant, gid);
	if (i == VQP_BUCKET_SLOTS)
		return 0;
	slot = &b->slot[i];
	memcpy(dct->node_gid, slot->node_gid, sizeof(dct->node_gid));
	dct->epoch = be32_to_cpu(slot->epoch);
	dct->qkey = be32_to_cpu(slot->qkey);
	dct->lanes = be32_to_cpu(slot->lanes);
	for (i = 0; i < VQP_WIRE_LANES_MAX; i++)
		dct->qpn[i] = be32_to_cpu(slot->qpn[i]);
	return vqp_bucket_sane(dct) ? 1 : -EBADMSG;
}

static void vqp_bucket_seal(struct vqp_bucket *b)
{
	b->version = cpu_to_be64(be64_to_cpu(b->version) + 1);
	b->crc = cpu_to_be32(vqp_bucket_crc(b));
}

void vqp_bucket_init(struct vqp_bucket *b)
{
	memset(b, 0, sizeof(*b));
	b->magic = cpu_to_be32(VQP_BUCKET_MAGIC);
	vqp_bucket_seal(b);
}

int vqp_bucket_set(struct vqp_bucket *b, u32 tenant, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp_bucket_slot *slot;
	u32 i;

	if (vqp_bucket_no_key(tenant, gid) || !vqp_bucket_sane(dct))
		return -EINVAL;
	i = vqp_bucket_slot(b, tenant, gid);
	if (i == VQP_BUCKET_SLOTS)
		i = vqp_bucket_slot(b, 0, vqp_bucket_no_gid);
	if (i == VQP_BUCKET_SLOTS)
		return -ENOSPC;
	slot = &b->slot[i];
	memset(slot, 0, sizeof(*slot));
	slot->tenant = cpu_to_be32(tenant);
	memcpy(slot->gid, gid, sizeof(slot->gid));
	memcpy(slot->node_gid, dct->node_gid, sizeof(slot->node_gid));
	slot->epoch = cpu_to_be32(dct->epoch);
	slot->qkey = cpu_to_be32(dct->qkey);
	slot->lanes = cpu_to_be32(dct->lanes);
	for (i = 0; i < dct->lanes; i++)
		slot->qpn[i] = cpu_to_be32(dct->qpn[i]);
	vqp_bucket_seal(b);
	return 0;
}

int vqp_bucket_clear(struct vqp_bucket *b, u32 tenant, const u8 *gid)
{
	const u32 i = vqp_bucket_slot(b, tenant, gid);

	if (i == VQP_BUCKET_SLOTS || vqp_bucket_no_key(tenant, gid))
		return -ENOENT;
	memset(&b->slot[i], 0, sizeof(b->slot[i]));
	vqp_bucket_seal(b);
	return 0;
}

void vqp_bucket_displace(struct vqp_bucket *b, int change)
{
	b->displaced = cpu_to_be32(be32_to_cpu(b->displaced) + change);
	vqp_bucket_seal(b);
}
