/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hash of addresses, by which tables find what tenants or other nodes name. It has a secret, so
 * that nobody can choose addresses that share a bucket.
 */
#ifndef VQP_BASE_HASH_H
#define VQP_BASE_HASH_H

#include <linux/types.h>

/* The hash of a GID, and of what else there is in the key. Any context. */
u32 vqp_hash_gid(const u8 *gid, u64 more);

#endif
