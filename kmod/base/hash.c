// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/cache.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/vqp.h>
#include "base/hash.h"

static siphash_aligned_key_t hash_secret __read_mostly;

u32 vqp_hash_gid(const u8 *gid, u64 more)
{
	u64 words[3] = { more };

	get_random_once(&hash_secret, sizeof(hash_secret));
	memcpy(&words[1], gid, VQP_GID_BYTES);
	return siphash(words, sizeof(words), &hash_secret);
}
