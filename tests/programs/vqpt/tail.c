// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The slow ones among --count READs of 8 bytes, one at a time, of a function that sleeps; in microseconds, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include "vqpt.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int vqpt_tail_measure(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, 8, IBV_ACCESS_LOCAL_WRITE);
	const uint32_t rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX);
	const uint64_t addr = vqpt_number(args[3], UINT64_MAX);
	uint64_t *ns = calloc(o->count, sizeof(*ns)), start;
	uint32_t i;

	if (!ns)
		vqpt_die(ENOMEM, "memory for %u rounds", o->count);
	vqpt_conn_to(&conn, args[0], args[1]);
	for (i = 0; i < o->count; i++) {
		start = vqpt_now_ns();
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_READ, conn.memory, 8, addr, rkey);
		ns[i] = vqpt_now_ns() - start;
	}
	qsort(ns, o->count, sizeof(*ns), by_value);
	printf("{\"median_us\":%.1f,\"p99_us\":%.1f}\n", (double)ns[o->count / 2] / 1000,
	       (double)ns[(uint64_t)o->count * 99 / 100] / 1000);
	vqpt_conn_close(&conn);
	free(ns);
	return 0;
}
