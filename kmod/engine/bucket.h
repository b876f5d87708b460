/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The meta server's hash table, as nodes READ it: (tenant, container GID) ->
 * DCT metadata. A key has two candidate buckets; one READ fetches a bucket, so
 * a lookup is one READ, or two for the few keys in their second bucket. A
 * bucket validates itself: a READ that overlaps an update fails the checksum and is
 * repeated. Used by the kernel (reader) and by vqp-metad (writer).
 */
#ifndef VQP_ENGINE_BUCKET_H
#define VQP_ENGINE_BUCKET_H

#include <linux/types.h>
#include <linux/compiler.h>
#include "wire.h"

#define VQP_BUCKET_SLOTS	7
#define VQP_BUCKET_BYTES	640
#define VQP_BUCKET_MAGIC	0x76716d31	/* "vqm1" */

struct vqp_bucket_slot {		/* 88 bytes; tenant and gid all zero: empty */
	__be32 tenant;
	u8 gid[16];			/* container address */
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
	u8 pad[VQP_BUCKET_BYTES - 16 - VQP_BUCKET_SLOTS * 88];
};

/* The two candidate buckets of a key (they may be the same). nbuckets: power of two. */
void vqp_bucket_index(u32 tenant, const u8 *gid, u32 nbuckets, u32 index[2]);

/* 1: found; 0: not in this bucket; -EAGAIN: torn, read again; -EBADMSG: no bucket or nonsense. */
int __must_check vqp_bucket_find(const struct vqp_bucket *b, u32 tenant, const u8 *gid,
				 struct vqp_dct *dct);

/*
 * Writer's side. An empty bucket; insert or replace (-ENOSPC: full, -EINVAL: a
 * key of all zeros, or DCT metadata that no reader would take); remove
 * (-ENOENT). The bucket is valid when each returns.
 */
void vqp_bucket_init(struct vqp_bucket *b);
int __must_check vqp_bucket_set(struct vqp_bucket *b, u32 tenant, const u8 *gid,
				const struct vqp_dct *dct);
int vqp_bucket_clear(struct vqp_bucket *b, u32 tenant, const u8 *gid);

#endif
