/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Needs -lz. The kernel's CRC is neither inverted before nor after, zlib's is both. */
#ifndef VQP_SHIM_CRC32_H
#define VQP_SHIM_CRC32_H

#include <zlib.h>
#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void *data, size_t bytes)
{
	return ~(u32)crc32((u32)~crc, data, bytes);
}

#endif
