// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A server with many regions of a page each, and a client that READs them in turn: each needs a window of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vqpt.h"

#define REGION_BYTES	4096

/* The server's memory begins with the list of its regions. */
struct region {
	uint64_t addr;
	uint64_t rkey;
};

int vqpt_regions_server(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->count * sizeof(struct region), o->access);
	struct region *regions = (struct region *)conn.memory;
	struct ibv_mr *mr = NULL;
	uint64_t *memory;
	uint32_t i;
	int port;

	memory = mmap(NULL, (size_t)o->count * REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		vqpt_die(errno, "memory for %u regions", o->count);
	for (i = 0; i < o->count; i++) {
		uint64_t *at = memory + i * (REGION_BYTES / sizeof(*at));

		*at = i;
		mr = vqp_reg_mr(vqp_pd(conn.context), at, REGION_BYTES, (int)o->access);
		if (!mr)
			vqpt_die(errno, "vqp_reg_mr of region %u", i);
		regions[i] = (struct region) { (uintptr_t)at, mr->rkey };
	}
	port = vqpt_conn_bind(&conn, args[0]);
	vqpt_ready("pid=%d port=%d key=%u addr=%llu last_key=%u last_addr=%llu\n", getpid(), port, conn.mr->rkey,
		   (unsigned long long)(uintptr_t)conn.memory, mr ? mr->rkey : 0,
		   (unsigned long long)regions[o->count - 1].addr);
	for (;;)
		pause();
}

/*
 * READ the first --count of them in turn, for ever, and before each its entry in the list, which keeps a link in use
 * while it gets the windows.
 */
int vqpt_regions_run(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, sizeof(struct region) + sizeof(uint64_t), IBV_ACCESS_LOCAL_WRITE);
	const struct region *region = (struct region *)conn.memory;
	const uint64_t *value = (const uint64_t *)(region + 1);
	const uint32_t list_key = (uint32_t)vqpt_number(args[2], UINT32_MAX);
	const uint64_t list_addr = vqpt_number(args[3], UINT64_MAX);
	uint32_t i = 0;

	vqpt_conn_to(&conn, args[0], args[1]);
	if (o->background)
		vqpt_ready("pid=%d\n", getpid());
	for (;; i = (i + 1) % o->count) {
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_READ, conn.memory, sizeof(*region),
				   list_addr + i * sizeof(*region), list_key);
		vqpt_conn_transfer(&conn, IBV_WR_RDMA_READ, conn.memory + sizeof(*region), sizeof(*value),
				   region->addr, (uint32_t)region->rkey);
		if (*value != i)
			vqpt_wrong("region %u has %llu", i, (unsigned long long)*value);
	}
}
