/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue. Requests are carried out in order by one carrier at a time:
 * what is posted waits in vqp.unsent until the carrier that takes it has it, and
 * none takes a request while another one still has earlier ones. So a VQP moves
 * from dc to rc and back between two requests, and nothing is lost, done twice or
 * overtaken.
 */
#ifndef VQP_SEND_H
#define VQP_SEND_H

#include <linux/vqp.h>
#include "engine/tx.h"

struct vqp;
struct vqp_cursor;

/* What has become of a request that rc, or who was to fetch it, gave back. */
enum vqp_send_fate {
	VQP_SEND_FRESH,			/* rc never had it */
	VQP_SEND_AGAIN,			/* not carried out: dc is to do it */
	VQP_SEND_DONE,			/* it was: it completes when those before it have */
	VQP_SEND_LOST,			/* nobody knows, and it must not be done twice: it fails */
};

/* One send request. */
struct vqp_send {
	struct vqp_msg msg;
	u64 wr_id;
	u32 opcode;			/* enum vqp_wr_opcode */
	u32 send_flags;			/* VQP_SEND_* */
	u32 fate;			/* enum vqp_send_fate; under vqp.lock */
	void *kbuf;			/* payload in kernel memory, or NULL: the SGEs */
	/* the kernel's own: instead of a CQE; takes over the memory. Under vqp.lock. */
	void (*done)(struct vqp_send *send, u32 status);
	u32 num_sge;
	struct vqp_sge sge[];		/* or inline data */
};

static inline struct vqp_send *vqp_send_of(struct vqp_msg *msg)
{
	return container_of(msg, struct vqp_send, msg);
}

/* A walk over the local memory of a request of vqp. */
void vqp_send_cursor(struct vqp_cursor *c, struct vqp *vqp, struct vqp_send *send, u32 access);

/*
 * Put requests on the send queue and set the carrier going. Takes as many as there is room for;
 * returns how many, or -errno.
 */
int vqp_send_queue(struct vqp *vqp, struct list_head *sends, u32 count);

/* ---- The carriers'; all under vqp->lock ---- */

/* struct vqp_tx_ops.complete: a request is over, with that enum vqp_wc_status. */
void vqp_send_complete(struct vqp_tx *tx, struct vqp_msg *msg, u32 status);

/* A carrier got on: others may go on. Not from within the engine. */
void vqp_send_resume(struct vqp *vqp);

/* Nobody has a part of rc_msgs any more: they go back, each with its fate. */
void vqp_send_take_back(struct vqp *vqp);

/*
 * The VQP has failed: the oldest request ends with `status`, the others with WR_FLUSH_ERR; those
 * that rc has, and all behind them, when it has let go of them.
 */
void vqp_send_abort(struct vqp *vqp, u32 status);

#endif
