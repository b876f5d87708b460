/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A VQP's receive queue. A message takes the oldest request, fills it, and
 * completes it, or puts it back if the message breaks off: a sender that dies
 * costs its receiver nothing.
 */
#ifndef VQP_QUEUE_RECV_H
#define VQP_QUEUE_RECV_H

#include <linux/list.h>
#include <linux/vqp.h>

struct vqp;
struct vqp_cursor;
struct vqp_wait;

/* A receive request. */
struct vqp_recv {
	struct list_head link;		/* in vqp.rq, unless a message has taken the request */
	struct vqp *vqp;		/* referenced while a message has it */
	u64 wr_id;
	u32 bytes;			/* A longer message does not fit. */
	void *kbuf;			/* room in kernel memory; NULL: the SGEs name it */
	u32 num_sge;
	struct vqp_sge sge[];
};

/* What a completion of a receive says of its message. */
struct vqp_recv_info {
	u32 opcode;			/* enum vqp_wc_opcode */
	u32 bytes;
	bool with_imm;
	u32 imm;			/* in wire order, as the sender gave it */
	u32 src_qp;
	const u8 *src_gid;
};

/*
 * Append a request to the receive queue; on success it is the queue's. -ENOMEM: max_recv_wr are
 * posted; -EIO: the VQP has failed. The caller calls vqp_recv_wake() after its last one.
 */
int vqp_recv_post(struct vqp *vqp, struct vqp_recv *recv);

/*
 * Take the oldest request for a message of `bytes` bytes, until one of the two below gives it back.
 * -EAGAIN: none is posted; -EMSGSIZE: the message does not fit; -ENOENT: the VQP has failed. Any
 * context.
 */
int __must_check vqp_recv_take(struct vqp *vqp, u32 bytes, struct vqp_recv **recv);
void vqp_recv_put_back(struct vqp_recv *recv);
void vqp_recv_complete(struct vqp_recv *recv, const struct vqp_recv_info *info);

/*
 * Have `wait` set going when vqp has a receive or has failed, which may be before this returns.
 */
void vqp_recv_wait(struct vqp *vqp, struct vqp_wait *wait);
/* End the wait. True: it had not ended, and the list's reference is the caller's. */
bool vqp_recv_unwait(struct vqp_wait *wait);
/*
 * Receives were posted, or vqp has failed: set as many waits going as there are receives, or all.
 * A sender that was set going and takes no receive calls this function for the next one. Any
 * context, also under the vqp.lock of a sender: beyond VQP_WAIT_BUDGET the VQP's work does it.
 */
void vqp_recv_wake(struct vqp *vqp);
/* The same, without the work. Process context, without a lock. */
void vqp_recv_wake_all(struct vqp *vqp);

/* A walk over the memory of a receive that vqp has taken. */
void vqp_recv_cursor(struct vqp_cursor *c, struct vqp *vqp, const struct vqp_recv *recv);

/*
 * The VQP has failed: complete what is queued with WR_FLUSH_ERR, or free it if it is silent.
 * Process context.
 */
void vqp_recv_flush(struct vqp *vqp);

#endif
