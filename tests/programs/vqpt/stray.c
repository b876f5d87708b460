// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A list of WRITEs to memory that nobody offers, each to windows of its own. The target refuses the first that
 * arrives, and with it the VQP fails: the others are flushed, and a VQP that has failed takes no more of the list.
 */
#include <stdio.h>
#include <stdlib.h>
#include "vqpt.h"

/* Returns how many of the list were posted. */
static uint32_t stray_post(struct ibv_qp *qp, struct ibv_send_wr *wrs, uint32_t count)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(qp, wrs, &bad);

	if (err && err != EIO)
		vqpt_die(err, "ibv_post_send");
	return err ? (uint32_t)(bad - wrs) : count;
}

int vqpt_stray_run(const struct vqpt_options *o, char **args)
{
	const uint64_t bytes = o->bytes * o->sges, addr = vqpt_number(args[3], UINT64_MAX);
	struct vqpt_conn conn = vqpt_conn_open(o, o->bytes, 0);
	struct ibv_send_wr *wrs = calloc(o->list, sizeof(*wrs));
	struct ibv_sge sges[VQP_MAX_SGE];
	struct ibv_wc wc = { 0 };
	uint32_t i, posted, flushed;

	if (!wrs)
		vqpt_die(errno, "calloc");
	for (i = 0; i < o->sges; i++)
		sges[i] = (struct ibv_sge) { (uintptr_t)conn.memory, (uint32_t)o->bytes, conn.mr->lkey };
	for (i = 0; i < o->list; i++)
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = i,
			.next = i + 1 < o->list ? &wrs[i + 1] : NULL,
			.sg_list = sges,
			.num_sge = (int)o->sges,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = {
				.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX),
				.remote_addr = addr + i * bytes,
			},
		};
	vqpt_conn_to(&conn, args[0], args[1]);
	posted = stray_post(conn.qp, wrs, o->list);
	for (flushed = 0; flushed < posted; flushed++) {
		while (ibv_poll_cq(conn.send_cq, 1, &wc) == 0)
			if (vqp_cq_wait(conn.send_cq, o->timeout_ms) <= 0)
				vqpt_die(0, "no completion of %u", flushed);
		if (wc.wr_id != flushed || wc.status != (flushed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_ACCESS_ERR))
			vqpt_wrong("request %llu completed with status %d as number %u",
				   (unsigned long long)wc.wr_id, wc.status, flushed);
	}
	vqpt_conn_close(&conn);
	free(wrs);
	printf("%s writes flushed\n", posted > 1 ? "all" : "no");
	return 0;
}
