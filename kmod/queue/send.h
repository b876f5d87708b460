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
	VQP_SEND_AGAIN,			/* It was not carried out; no accelerator takes it again. */
	VQP_SEND_DONE,			/* It was carried out, and completes in its turn. */
	/* Whether it was carried out is unknown, and doing it twice could be seen: it fails. */
	VQP_SEND_LOST,
};

/* One send request. */
struct vqp_send {
	struct vqp_msg msg;
	u64 wr_id;
	u32 opcode;			/* enum vqp_wr_opcode */
	u32 send_flags;			/* VQP_SEND_* */
	u32 fate;			/* enum vqp_send_fate; under vqp.lock */
	void *kbuf;			/* the payload in kernel memory; NULL: the SGEs name it, */
	bool kernel_sges;		/* be that kernel memory as well */
	/*
	 * The request is over, with that enum vqp_wc_status, and its memory is the poster's again.
	 * Called in place of a CQE, under vqp.lock. NULL: there is a CQE, and the request is freed.
	 */
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
 * Put `count` requests (vqp_send.msg.link), VQP_CARRIER_DEPTH at most, on the send queue, and have
 * carriers carry them out. Returns how many there was room for, which are off the list `sends`;
 * -ENOTCONN; -EIO: the VQP has failed; -ENOMEM: there is no room. Process context: the loop carrier
 * copies in this thread.
 */
int vqp_send_queue(struct vqp *vqp, struct list_head *sends, u32 count);

/* ---- What carriers call, all under vqp.lock ---- */

/* Complete a request, which is in no list any more, with that enum vqp_wc_status. */
void vqp_send_complete(struct vqp *vqp, struct vqp_send *send, u32 status);

/* A carrier has got on: hand out what can be. Must not be called from callbacks of the engine. */
void vqp_send_resume(struct vqp *vqp);

/*
 * May vqp send so many bytes now, as far as the rate of its namespace goes? Returns what
 * vqp_throttle_pass() does; after -EBUSY, vqp_carrier_ops.kick() is called when it may. What the
 * kernel READs by zero-copy is not charged: no message of a namespace with a rate is sent that way.
 */
int __must_check vqp_send_pass(struct vqp *vqp, u32 bytes);
/* Charge the rate for bytes that cannot wait; returns what vqp_throttle_charge() does. */
int __must_check vqp_send_charge(struct vqp *vqp, u32 bytes);
/* Refund bytes that were charged and not sent. A carrier that holds the request needs no lock. */
void vqp_send_refund(struct vqp *vqp, u32 bytes);

/* No request of vqp.lent is under way any more: all go back to vqp.unsent, with their fates. */
void vqp_send_take_back(struct vqp *vqp);

/*
 * The VQP has failed: complete the oldest request with `status`, the others with WR_FLUSH_ERR.
 * Returns true if requests are left, because one call completes a bounded number of those that no
 * carrier has: the caller has to call again when it has dropped the lock. While vqp.held is not 0
 * all this is put off until the carrier has let go of the parts that it holds.
 */
bool __must_check vqp_send_abort(struct vqp *vqp, u32 status);

#endif
