/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rc/ carries one-sided requests from NIC to NIC. It is an accelerator of dc, and knows dc, the
 * kernel's rpcs and the device. Of the other carriers only zcopy/ knows rc/. sock/ asks whether
 * there may be links at all.
 *
 * A link is an RC QP towards a peer that VQPs of this node read and write much. The VQPs share the
 * link. Their one-sided requests go over it from NIC to NIC, without a copy and without the
 * processors of the target. The node makes a link in the background when a peer is busy, ends it
 * when it has been unused for a while, and bounds the number of links. Where there is no link, all
 * requests go by dc.
 *
 * A link that fails costs no request. The initiator asks the target which PSN its half of the link
 * had reached: segments before that PSN were carried out, and the others go by dc. rc/link.c has
 * the life of links, rc/carrier.c the requests that go over them, and rc/segment.c their parts.
 *
 * Lock order: vqp.lock, then vqp_link.lock.
 */
#ifndef VQP_RC_LINK_H
#define VQP_RC_LINK_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/vqp.h>
#include <rdma/ib_verbs.h>
#include "engine/wire.h"
#include "queue/vqp.h"
#include "rc/window.h"

struct vqp_carrier_ops;
struct vqp_device_user;
struct vqp_peer;
struct vqp_send;

#define VQP_LINK_DEPTH		256	/* the most segments of a link that are under way */
#define VQP_LINK_VQP_DEPTH	64	/* the most of them that are one VQP's */
#define VQP_LINK_SGES		30	/* the most SGEs of a segment */

struct vqp_link {
	/* The list, the peer, each segment and each waiter have a reference. */
	struct kref ref;
	struct list_head node;		/* in the list of links, under rc/link.c's lock */
	struct vqp_peer *peer;		/* referenced, constant */
	u32 number;			/* unique until the module is unloaded, constant */
	struct vqp_dct dct;		/* the peer's metadata when the link was begun */
	struct ib_qp *qp;		/* `work` makes and destroys it. */
	bool connected;			/* The QP is connected; only `work` uses this. */
	struct ib_cqe probe;		/* of the QP's first request; see link_probe() */
	bool complained;		/* The device has reported an error of the QP. */
	bool probed;			/* That request has been answered. */
	bool writes;			/* The link carries WRITEs, too; constant once it is up. */
	bool seals_reads;		/* The device is soft RoCE; see rc/segment.c. */
	u32 sges;			/* the most SGEs of a segment, which the device bounds */
	u32 mtu;			/* bytes */
	/* The link takes requests, or has failed and takes no more: written under `lock`. */
	bool up;
	bool failed;
	unsigned long used_at;		/* when a request last went over it, in jiffies */

	spinlock_t lock;		/* guards the fields down to waiters */
	u32 psn;			/* the PSN that the next segment gets */
	u32 psn_given;			/* the PSN of the next segment that the QP is given */
	bool broken;			/* A segment has failed. */
	u32 nposted;			/* the segments in `posted`, and room reserved for others */
	struct list_head posted;	/* segments that are under way, in order of their PSNs */
	/* The last segments of `posted`, which the QP has not been given yet; or NULL. */
	struct ib_send_wr *chain;
	struct ib_send_wr *chain_last;	/* valid while there is a chain */
	u32 nchained;			/* the number of segments in the chain */
	struct list_head waiters;	/* the struct vqp_wait of VQPs that wait for room */

	/* These are under rc/rkey.c's lock. Each rkey is in one of the lists, by its state. */
	struct list_head rkeys_wanted;
	struct list_head rkeys_refused;	/* the oldest refusal first */
	struct list_head rkeys;		/* those that were asked for or are ready */
	u32 nrkeys;			/* the number of rkeys in all three */
	bool rkeys_closed;		/* No rkey is added any more. */
	struct work_struct ask_work;	/* It asks the target for the rkeys that are wanted. */
	struct work_struct kick_work;	/* It goes on where vqp_link_kick() has stopped. */
	/* It makes the QP, ends a link that is not used, and cleans up after a failure. */
	struct delayed_work work;
	struct rcu_head rcu;
};

int __init vqp_link_init(void);
void vqp_link_exit(void);

/* The most links of this node, which is the most rc targets as well. */
u32 vqp_link_max(void);

extern const struct vqp_carrier_ops vqp_rc_carrier;
extern struct vqp_device_user vqp_link_device_user;

/* The link with that number to node `gid`, referenced; or NULL. Any context. */
struct vqp_link *vqp_link_get(const u8 *gid, u32 number);
void vqp_link_put(struct vqp_link *link);

/* Have ask_work ask for the rkeys of the link that are wanted. Any context. */
void vqp_link_ask_later(struct vqp_link *link);

/* The QP failed a segment, or did not take one: the link takes no more, and ends. Any context. */
void vqp_link_fail(struct vqp_link *link);

/* ---- Requests: all these are called under vqp.lock. ---- */

/*
 * Can `send`, a READ or a WRITE without immediate data, go by rc? If it cannot now, the function
 * counts it as traffic of its peer, begins a link or asks for a window, so that a later request
 * can.
 */
bool vqp_link_ready(struct vqp *vqp, struct vqp_send *send);

/* The rights that `msg` needs of its target's region. A zero-copy READ of the kernel needs none. */
static inline u32 vqp_link_access(const struct vqp *vqp, const struct vqp_msg *msg)
{
	if (vqp_is_zcopy(vqp))
		return 0;
	return msg->op == VQP_OP_READ ? VQP_ACCESS_REMOTE_READ : VQP_ACCESS_REMOTE_WRITE;
}

/* The number of the `bytes` bytes at a target's address that lie in the first of its windows. */
static inline u32 vqp_link_window_part(u64 addr, u32 bytes)
{
	const u32 left = VQP_WINDOW_BYTES - (addr & (VQP_WINDOW_BYTES - 1));

	return min(bytes, left);
}

/*
 * Let the VQPs go on that wait for room of the link, as far as there is room; beyond
 * VQP_WAIT_BUDGET kick_work does. In a completion of the link's QP.
 */
void vqp_link_kick(struct vqp_link *link);

#endif
