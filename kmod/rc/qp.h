/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RC QPs of both ends of a link. All functions are called in process context. */
#ifndef VQP_RC_QP_H
#define VQP_RC_QP_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct vqp_parent;

#define VQP_PSN_MASK	0xffffffU

/* The other end of a link. */
struct vqp_rc_dest {
	u8 gid[16];			/* of the node */
	u32 qpn;
	u32 psn;			/* the first PSN that the other end sends */
	u32 mtu;			/* in bytes, at most that of both ends */
	u32 reads;			/* the most READs that the other end answers at a time */
};

/* The most READs that this end answers at a time. */
u32 vqp_rc_qp_reads(const struct vqp_parent *parent);

/*
 * Make a QP for send_wrs requests of `sges` SGEs and one receive, and its CQ, whose cq_context is
 * ctx. complain(ctx), unless it is NULL, is called when the device reports an error of the QP,
 * until that is destroyed or retired: in any context, with interrupts off. ERR_PTR() on failure.
 */
struct ib_qp *vqp_rc_qp_create(struct vqp_parent *parent, void *ctx, void (*complain)(void *ctx),
			       u32 send_wrs, u32 sges);
/* Destroy at once a QP that has sent nothing. */
void vqp_rc_qp_destroy(struct ib_qp *qp);
/* Take any other QP out of service. It is destroyed some seconds later. */
void vqp_rc_qp_retire(struct ib_qp *qp);
/* Destroy the retired QPs that are left. No QP may be retired any more. */
void vqp_rc_qp_down(void);

/* Bring the QP up to sending; its first PSN is `psn`. 0 or -errno. */
int __must_check vqp_rc_qp_connect(struct ib_qp *qp, const struct vqp_parent *parent, u32 psn,
				   const struct vqp_rc_dest *dest);

/* *psn is the PSN that the QP expects next, as far as the device tells. 0 or -errno. */
int __must_check vqp_rc_qp_psn(struct ib_qp *qp, u32 *psn);

/*
 * Stop taking requests: what has not been carried out never will be. *psn is the next PSN that the
 * QP would have carried out. 0 or -errno.
 */
int __must_check vqp_rc_qp_stop(struct ib_qp *qp, u32 *psn);

/* The number of PSNs that a request of `bytes` bytes takes. */
static inline u32 vqp_rc_psns(u32 bytes, u32 mtu)
{
	return bytes ? (bytes - 1) / mtu + 1 : 1;
}

#endif
