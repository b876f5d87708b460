/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* RC QPs as both ends of a link between two nodes have them. Process context. */
#ifndef VQP_RC_QP_H
#define VQP_RC_QP_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct vqp_parent;

#define VQP_PSN_MASK	0xffffffU

/* Where the other end is. */
struct vqp_rc_dest {
	u8 gid[16];			/* its node */
	u32 qpn;
	u32 psn;			/* the first it sends */
	u32 mtu;			/* bytes that both can do */
	u32 reads;			/* that it answers at once */
};

/* READs that this end answers at once. */
u32 vqp_rc_qp_reads(const struct vqp_parent *parent);

/* A QP and its CQ, whose cq_context is ctx; send_wrs and one receive. */
struct ib_qp *vqp_rc_qp_create(struct vqp_parent *parent, void *ctx, u32 send_wrs, u32 sges);
/* At once: one that has sent nothing. */
void vqp_rc_qp_destroy(struct ib_qp *qp);
/* Others. It takes no part in anything any more, and is destroyed in some seconds. */
void vqp_rc_qp_retire(struct ib_qp *qp);
/* Destroys those that rest still. Nobody may retire one any more. */
void vqp_rc_qp_down(void);

/* Up to sending, from first PSN `psn` on. */
int __must_check vqp_rc_qp_connect(struct ib_qp *qp, const struct vqp_parent *parent, u32 psn,
				   const struct vqp_rc_dest *dest);

/*
 * Stop taking requests: what has not been carried out never will be. The PSN that would have
 * been the next.
 */
int __must_check vqp_rc_qp_stop(struct ib_qp *qp, u32 *psn);

/* PSNs that a request of so many bytes takes. */
static inline u32 vqp_rc_psns(u32 bytes, u32 mtu)
{
	return bytes ? (bytes - 1) / mtu + 1 : 1;
}

#endif
