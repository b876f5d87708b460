// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "vqpt.h"

int vqpt_sge_cut(struct ibv_sge *sges, uint32_t count, void *addr, uint64_t bytes, uint32_t lkey)
{
	uint64_t done = 0, piece;
	uint32_t i;

	for (i = 0; i < count && done < bytes; i++) {
		piece = i == count - 1 ? bytes - done : (bytes - done) / (count - i);
		sges[i] = (struct ibv_sge) {
			.addr = (uintptr_t)addr + done, .length = (uint32_t)piece, .lkey = lkey,
		};
		done += piece;
	}
	return (int)i;
}
