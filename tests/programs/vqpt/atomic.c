// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomics on the first word of a mem-server's memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "vqpt.h"

static void post(struct vqpt_conn *conn, const struct vqpt_options *o, char **args, struct ibv_send_wr wr)
{
	struct ibv_sge sges[VQP_MAX_SGE];

	wr.sg_list = sges;
	wr.num_sge = vqpt_sge_cut(sges, o->sges, (uint64_t *)(void *)conn->memory + wr.wr_id % o->depth,
				  sizeof(uint64_t), conn->mr->lkey);
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.atomic.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX);
	wr.wr.atomic.remote_addr = vqpt_number(args[3], UINT64_MAX);
	vqpt_conn_post_send(conn->qp, &wr);
}

/* What the atomic `id`, the next to complete, found. */
static uint64_t await(const struct vqpt_conn *conn, const struct vqpt_options *o, uint64_t id, int opcode)
{
	struct ibv_wc wc = vqpt_conn_wait(conn, conn->send_cq);
	uint64_t found;

	if (wc.wr_id != id || (int)wc.opcode != opcode || wc.byte_len != sizeof(found))
		vqpt_die(0, "completion of %" PRIu64 " with opcode %d and %u bytes, in place of %" PRIu64, wc.wr_id,
			 wc.opcode, wc.byte_len, id);
	memcpy(&found, conn->memory + id % o->depth * sizeof(found), sizeof(found));
	return found;
}

/* Each finds more than the one before; others may add, too. */
int vqpt_atomic_add(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->depth * sizeof(uint64_t), IBV_ACCESS_LOCAL_WRITE);
	uint64_t posted = 0, done, found = 0, before = 0, first = 0;

	vqpt_conn_to(&conn, args[0], args[1]);
	for (done = 0; done < o->count; done++) {
		for (; posted < o->count && posted - done < o->depth; posted++)
			post(&conn, o, args, (struct ibv_send_wr) {
				.wr_id = posted, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .wr.atomic.compare_add = 1,
			});
		found = await(&conn, o, done, IBV_WC_FETCH_ADD);
		if (!done)
			first = found;
		else if ((int64_t)(found - before) <= 0)
			vqpt_wrong("addition %" PRIu64 " found %" PRIu64 " after %" PRIu64, done, found, before);
		before = found;
	}
	vqpt_conn_close(&conn);
	printf("%" PRIu64 " %" PRIu64 "\n", first, found);
	return 0;
}

/* Adds 1 by --count swaps that succeed, however many do not. */
int vqpt_atomic_swap(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, o->depth * sizeof(uint64_t), IBV_ACCESS_LOCAL_WRITE);
	uint64_t tries = 0, swapped = 0, guess = 0, found;

	vqpt_conn_to(&conn, args[0], args[1]);
	while (swapped < o->count) {
		post(&conn, o, args, (struct ibv_send_wr) {
			.wr_id = tries, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
			.wr.atomic = { .compare_add = guess, .swap = guess + 1 },
		});
		found = await(&conn, o, tries++, IBV_WC_COMP_SWAP);
		if (found == guess)
			swapped++;
		guess = found == guess ? guess + 1 : found;
	}
	vqpt_conn_close(&conn);
	printf("%" PRIu64 " swaps, %" PRIu64 " tries\n", swapped, tries);
	return 0;
}
