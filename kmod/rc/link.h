/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rc/ carries one-sided requests from NIC to NIC. It is an accelerator of dc, and knows dc, the
 * kernel's rpcs and the device; no other carrier knows it but zcopy/.
 *
 * The rc carrier's links: an RC QP towards a peer that VQPs of this node read and
 * write much. They share it; one-sided requests go by it from NIC to NIC, without
 * a copy and without the target's processors. A link is made in the background
 * once a peer is busy, let go when nobody uses it, and bounded in number; without
 * one, everything goes by dc.
 *
 * A link that fails costs no request: about what the QP did not bring to an end the
 * target is asked, whose half says which PSN it had reached. What was before it is done;
 * the others go by dc. rc/link.c is the life of links, rc/segment.c what goes over them.
 *
 * Locks: vqp.lock, then a link's lock.
 */
#ifndef VQP_RC_LINK_H
#define VQP_RC_LINK_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/vqp.h>
#include "engine/wire.h"
#include "queue/vqp.h"
#include "rc/window.h"

struct ib_qp;
struct ib_send_wr;
struct vqp_carrier_ops;
struct vqp_device_user;
struct vqp_peer;
struct vqp_send;

#define VQP_LINK_DEPTH		256	/* segments under way, of all VQPs; */
#define VQP_LINK_VQP_DEPTH	64	/* of one */
#define VQP_LINK_SGES		30	/* of a segment, at most */

struct vqp_link {
	struct kref ref;		/* the list's, its peer's, each segment's and waiter's */
	struct list_head node;		/* under rc/link.c's lock */
	struct vqp_peer *peer;		/* referenced; constant, as number */
	u32 number;			/* no other's of this load of the module */
	struct vqp_dct dct;		/* where the peer was when it was begun */
	struct ib_qp *qp;		/* made and destroyed by `work` */
	bool connected;			/* its */
	u32 sges;			/* of a segment */
	u32 mtu;
	bool up;			/* takes requests; written under lock */
	bool failed;			/* takes none any more; likewise */
	unsigned long used_at;		/* jiffies */

	spinlock_t lock;		/* guards down to waiters */
	u32 psn;			/* of the next segment */
	u32 psn_given;			/* of the next that the QP is given */
	bool broken;			/* a segment has failed */
	u32 nposted;			/* segments, and room kept for them */
	struct list_head posted;	/* segments, in order; */
	struct ib_send_wr *chain;	/* the last of them, which the QP has not been given */
	struct ib_send_wr *chain_last;	/* valid while there is a chain */
	u32 nchained;
	struct list_head waiters;	/* struct vqp_wait of VQPs that wait for room */

	struct list_head rkeys;		/* under rc/rkey.c's lock */
	u32 nrkeys;
	bool rkeys_closed;
	struct work_struct ask_work;	/* asks for rkeys */
	struct delayed_work work;	/* makes the QP; looks whether it is used; ends it */
	struct rcu_head rcu;
};

int __init vqp_link_init(void);
void vqp_link_exit(void);

/* Links and rc targets that there may be, each. */
u32 vqp_link_max(void);

extern const struct vqp_carrier_ops vqp_rc_carrier;
extern struct vqp_device_user vqp_link_device_user;

/* By the node it goes to and number, referenced, or NULL. */
struct vqp_link *vqp_link_get(const u8 *gid, u32 number);
void vqp_link_put(struct vqp_link *link);

/* Rkeys are wanted. Any context. */
void vqp_link_ask_later(struct vqp_link *link);

/* Its QP gave something back, or did not take it: it ends. Any context. */
void vqp_link_fail(struct vqp_link *link);

/* ---- Requests; all under vqp.lock ---- */

/*
 * Can the request, a READ or a WRITE without immediate data, go by rc? If it might, its peer's
 * traffic is noted, a link made, a window asked for, so that a later one can.
 */
bool vqp_link_ready(struct vqp *vqp, struct vqp_send *send);

/* What a request needs of its target's region: the kernel's own READs are for any. */
static inline u32 vqp_link_access(const struct vqp *vqp, const struct vqp_msg *msg)
{
	if (vqp_is_zcopy(vqp))
		return 0;
	return msg->op == VQP_OP_READ ? VQP_ACCESS_REMOTE_READ : VQP_ACCESS_REMOTE_WRITE;
}

/* Of the `bytes` bytes at a target's address, those in the first of its windows. */
static inline u32 vqp_link_window_part(u64 addr, u32 bytes)
{
	const u32 left = VQP_WINDOW_BYTES - (addr & (VQP_WINDOW_BYTES - 1));

	return min(bytes, left);
}

/* Whose request is in doubt, the oldest: referenced, or NULL. */
struct vqp *vqp_link_first_vqp(struct vqp_link *link);

/*
 * The link has failed and its QP says nothing any more: release what segments hold but their VQPs.
 */
void vqp_segments_release(struct vqp_link *link);

/* And decide over them: all that end before `psn` were carried out, if it is known. */
void vqp_segments_settle(struct vqp_link *link, bool known, u32 psn);

/* Who waits for room has none to wait for. */
void vqp_link_kick(struct vqp_link *link);

#endif
