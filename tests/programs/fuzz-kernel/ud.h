/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A UD queue pair in user space that speaks to another node's lanes. */
#ifndef VQP_FUZZ_UD_H
#define VQP_FUZZ_UD_H

#include <infiniband/verbs.h>
#include <linux/types.h>

#define UD_BYTES	4096
#define UD_SLOTS	64		/* each way */
#define UD_GRH_BYTES	40

struct ud {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	u32 qkey, sent, done;
	u8 send[UD_SLOTS][UD_BYTES];
	u8 recv[UD_SLOTS][UD_GRH_BYTES + UD_BYTES];
};

/* From the GID `from` of any device to the node with GID `to`. */
void ud_open(struct ud *ud, const u8 *from, const u8 *to, u32 qkey);

/* May wait for room. */
void ud_send(struct ud *ud, u32 qpn, u32 qkey, const void *buf, u32 bytes);

/* The next packet that came: its bytes, or 0 if there is none. Valid until the next call. */
u32 ud_receive(struct ud *ud, const u8 **at);

#endif
