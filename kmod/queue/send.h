/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue. What is posted waits in vqp.unsent until a carrier takes it (queue/carrier.h).
 */
#ifndef VQP_QUEUE_SEND_H
#define VQP_QUEUE_SEND_H

#include <linux/vqp.h>
#include "engine/tx.h"

struct vqp;
struct vqp_cursor;

/* What has become of a request that an accelerator gave back. */
enum vqp_send_fate {
	VQP_SEND_FRESH,			/* No accelerator has had it. */
	VQP_SEND_AGAIN,			/* It was not carried out, and is for none of them. */
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

/* ---- What carriers call, all under vqp.lock ---- */

/* A request is over, with that enum vqp_wc_status. It is in no list any more. */
void vqp_send_complete(struct vqp *vqp, struct vqp_send *send, u32 status);

/* A carrier got on, and others may go on. Not from within the engine. */
void vqp_send_resume(struct vqp *vqp);

/*
 * May vqp send so many bytes now, as far as its namespace's rate goes? As vqp_throttle_pass(), and
 * carrier.kick() is called when it may. What the kernel fetches is charged to nobody: senders
 * that have a rate are not fetched from.
 */
int __must_check vqp_send_pass(struct vqp *vqp, u32 bytes);
/* They were charged, and not sent. Or without the lock, by a carrier that holds the request. */
void vqp_send_refund(struct vqp *vqp, u32 bytes);

/* Nothing of vqp.lent is under way any more: all goes back, each request with its fate. */
void vqp_send_take_back(struct vqp *vqp);

/*
 * The VQP has failed: the oldest request ends with `status`, the others with WR_FLUSH_ERR. While
 * a carrier holds parts of requests, that is put off until it has let go of them.
 */
void vqp_send_abort(struct vqp *vqp, u32 status);

#endif
