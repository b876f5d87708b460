/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The meta server's table: (tenant, container GID) -> DCT metadata, kept in
 * buckets that other nodes READ at any moment, and beside them what nobody
 * reads: leases.
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
	uint32_t bucket;	/* the one of its two that it is in */
	uint64_t expires_ms;
};

struct vqp_table {
	struct vqp_bucket *buckets;	/* the caller's */
	struct vqp_table_entry **chains;/* by first candidate bucket */
	uint32_t nbuckets;		/* of both; a power of two */
	uint32_t count;
};

/* An empty table in `buckets`. 0 or -ENOMEM. */
int vqp_table_init(struct vqp_table *table, struct vqp_bucket *buckets, uint32_t nbuckets);
void vqp_table_exit(struct vqp_table *table);

/*
 * Insert, replace or renew until now + lease. The first candidate bucket is
 * preferred: it costs readers one READ. An entry of another node is taken over
 * only if `takeover`: its owner merely renewing it is not to win it back.
 * -EADDRINUSE: another node's; -ENOSPC: both buckets are full, and
 * nothing in them can move; -ENOMEM.
 */
int vqp_table_announce(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const struct vqp_dct *dct, bool takeover, uint64_t lease_ms, uint64_t now_ms);

/* Remove an entry of the node `node_gid`. -ENOENT; -EADDRINUSE: another node's. */
int vqp_table_withdraw(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const uint8_t node_gid[16]);

/* Remove entries whose lease has run out. */
void vqp_table_expire(struct vqp_table *table, uint64_t now_ms);

#endif
