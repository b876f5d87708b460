/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash table of a meta server, as nodes READ it. It maps a tenant and a container's GID to DCT
 * metadata. A key has two candidate buckets, and is in the second only if the first was full, which
 * counts such keys. One READ fetches a bucket: a lookup is one READ, or two where the first
 * candidate has displaced keys and the wanted one is not in it. A bucket has a checksum: a READ
 * that overlaps an update fails it and is repeated. The kernel reads tables, and vqp-metad writes
 * them.
 */
#ifndef VQP_ENGINE_BUCKET_H
#define VQP_ENGINE_BUCKET_H

#include <linux/types.h>
#include <linux/compiler.h>
#include "wire.h"

#define VQP_BUCKET_SLOTS	7
#define VQP_BUCKET_BYTES	640
#define VQP_BUCKET_MAGIC	0x76716d32	/* "vqm2" */

/* An entry, of 88 bytes. It is empty if tenant and gid are all zero. */
struct vqp_bucket_slot {
	__be32 tenant;
	u8 gid[16];			/* the container's address */
	u8 node_gid[16];
	__be32 epoch;
	__be32 qkey;
	__be32 lanes;
	__be32 qpn[VQP_WIRE_LANES_MAX];
	__be32 reserved[2];
};

struct vqp_bucket {
	__be32 magic;
	__be32 crc;			/* CRC-32 of all bytes after this field */
	__be64 version;			/* counts updates of this bucket */
	struct vqp_bucket_slot slot[VQP_BUCKET_SLOTS];
	__be32 displaced;		/* the keys of this bucket that are in their second one */
	u8 pad[VQP_BUCKET_BYTES - 20 - VQP_BUCKET_SLOTS * 88];
};

/*
 * Set index[] to the two candidate buckets of a key, which may be the same. nbuckets is a power of
 * two.
 */
void vqp_bucket_index(u32 tenant, const u8 *gid, u32 nbuckets, u32 index[2]);

/*
 * Look a key up in a bucket that has been READ. Returns 1 and *dct; 0 if the bucket does not have
 * the key; -EAGAIN if the checksum is wrong, and the bucket is to be READ again; or -EBADMSG if it
 * is no bucket, or holds metadata that cannot be right.
 */
int __must_check vqp_bucket_find(const struct vqp_bucket *b, u32 tenant, const u8 *gid,
				 struct vqp_dct *dct);

/* A key that is not in this bucket, its first candidate: may the second have it? */
static inline bool vqp_bucket_displaces(const struct vqp_bucket *b)
{
	return b->displaced;
}

/*
 * For the writer: make a bucket empty; insert or replace a key (-ENOSPC if the bucket is full,
 * -EINVAL for a key of all zeros, or for metadata that readers would refuse); and remove a key
 * (-ENOENT). The bucket is valid when each of them returns.
 */
void vqp_bucket_init(struct vqp_bucket *b);
int __must_check vqp_bucket_set(struct vqp_bucket *b, u32 tenant, const u8 *gid,
				const struct vqp_dct *dct);
int vqp_bucket_clear(struct vqp_bucket *b, u32 tenant, const u8 *gid);
/* One key of this bucket more (+1) or less (-1) is in its second one. */
void vqp_bucket_displace(struct vqp_bucket *b, int change);

#endif
