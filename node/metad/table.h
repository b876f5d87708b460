/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of a meta server, which maps a tenant and a container's GID to DCT metadata. The
 * metadata is in buckets, which other nodes may READ at any moment. The leases are beside them.
 */
#ifndef VQP_METAD_TABLE_H
#define VQP_METAD_TABLE_H

#include <stdint.h>

#include "bucket.h"

struct vqp_table_entry {
	struct vqp_table_entry *next;
	uint32_t tenant;
	uint8_t gid[16];
	struct vqp_dct dct;
	uint32_t bucket;	/* the bucket that it is in, one of its two */
	uint64_t expires_ms;
};

struct vqp_table {
	struct vqp_bucket *buckets;	/* belongs to the caller */
	struct vqp_table_entry **chains;/* the entries by their first candidate bucket */
	uint32_t nbuckets;		/* the length of both arrays, a power of two */
	uint32_t count;
};

/* Initializes an empty table in `buckets`. 0 or -ENOMEM. */
int vqp_table_init(struct vqp_table *table, struct vqp_bucket *buckets, uint32_t nbuckets);
void vqp_table_exit(struct vqp_table *table);

/*
 * Inserts, replaces or renews an entry until now + lease. The first candidate bucket is preferred,
 * because it costs readers one READ. An entry of another node is replaced only if `takeover` is
 * set, so that its former owner does not win it back by a mere renewal. 0; -EADDRINUSE if the entry
 * is another node's; -ENOSPC if both buckets are full, and none of their entries can move; -ENOMEM.
 */
int vqp_table_announce(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const struct vqp_dct *dct, bool takeover, uint64_t lease_ms, uint64_t now_ms);

/* Returns the GID of the node that has announced the entry, or NULL if none has, or its lease ended. */
const uint8_t *vqp_table_owner(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16], uint64_t now_ms);

/* Removes an entry of the node `node_gid`. 0; -ENOENT; -EADDRINUSE if it is another node's. */
int vqp_table_withdraw(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const uint8_t node_gid[16]);

/* Removes the entries whose leases have run out. */
void vqp_table_expire(struct vqp_table *table, uint64_t now_ms);

#endif
