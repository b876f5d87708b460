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

struct vqp_recv {
	struct list_head link;		/* in vqp.rq, unless taken */
	struct vqp *vqp;		/* referenced while taken */
	u64 wr_id;
	u32 bytes;			/* room */
	void *kbuf;			/* in kernel memory, or NULL: the SGEs */
	u32 num_sge;
	struct vqp_sge sge[];
};

/* What a completion of a receive says of its message. */
struct vqp_recv_info {
	u32 opcode;			/* enum vqp_wc_opcode */
	u32 bytes;
	bool with_imm;
	u32 imm;			/* wire order, as given */
	u32 src_qp;
	const u8 *src_gid;
};

/* Append; -ENOMEM if max_recv_wr are posted, -EIO in the error state. Consumes recv on success. */
int vqp_recv_post(struct vqp *vqp, struct vqp_recv *recv);

/* The oldest for a message of `bytes`; -EAGAIN, -EMSGSIZE, -ENOENT (VQP failed). Any context. */
int __must_check vqp_recv_take(struct vqp *vqp, u32 bytes, struct vqp_recv **recv);
void vqp_recv_put_back(struct vqp_recv *recv);
void vqp_recv_complete(struct vqp_recv *recv, const struct vqp_recv_info *info);

/*
 * Wait until vqp gets a receive, or will get none any more. go() may be called before this returns.
 */
void vqp_recv_wait(struct vqp *vqp, struct vqp_wait *wait);
/* Wait no longer. True: it waited, and the list's reference is the caller's. */
bool vqp_recv_unwait(struct vqp_wait *wait);
/* Receives were posted: as many as there are of those that wait go on. Any context. */
void vqp_recv_wake(struct vqp *vqp);

/* A walk over the memory of a receive that vqp has taken. */
void vqp_recv_cursor(struct vqp_cursor *c, struct vqp *vqp, const struct vqp_recv *recv);

/* The VQP failed: complete what is queued with WR_FLUSH_ERR, without a word if it is silent. */
void vqp_recv_flush(struct vqp *vqp);

#endif
