/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * device/ is the RDMA device and the pool of UD QPs on it. It knows no VQP: packets go to the user
 * that registered for them, and a flow that waits for a send slot is a struct vqp_wait here.
 *
 * The parent is the RDMA device that this node uses, with the fixed pool of UD QPs (lanes) on it.
 * It is made when the device has an address, and is destroyed when the device goes.
 */
#ifndef VQP_DEVICE_PARENT_H
#define VQP_DEVICE_PARENT_H

#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "device/gid.h"
#include "engine/tx.h"

struct vqp_lane;
struct vqp_parent;

/*
 * A target may forget a flow that it has not heard of for so long. An initiator fails a flow that
 * was not answered for so long and may have been carried out, and sends nothing of it again.
 */
#define VQP_FORGET_US	(25U * 1000 * 1000)

/*
 * What uses the device. Each callback may sleep, and may be NULL. They are called in the order of
 * registration, one after the other.
 */
struct vqp_device_user {
	struct list_head link;		/* in device/parent.c's list */
	/* A parent has been made, but is not visible yet. Add to pool_bytes what it costs. */
	void (*up)(struct vqp_parent *parent);
	/* The parent is visible no more, and its lanes are about to go: let go of both. */
	void (*down)(void);
	/*
	 * A packet has arrived from node `gid`, QP `qpn`. One user takes packets. Called with
	 * bottom halves off.
	 */
	void (*input)(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes,
		      bool ce);
};

struct vqp_parent {
	struct ib_device *dev;
	struct ib_pd *pd;
	/* The node's address. Its index may change, and is read without a lock. */
	struct vqp_gid gid;
	unsigned long made_at;		/* jiffies */
	/* The device lacks that address, and since when. Under device/parent.c's lock. */
	bool gone;
	unsigned long gone_at;		/* jiffies */
	u32 mtu;			/* the bytes of a UD payload */
	struct vqp_tx_cfg cfg;		/* for the flows of this parent */
	struct vqp_dct dct;		/* the metadata that other nodes send by */
	u32 nlanes;
	struct vqp_lane *lanes[VQP_WIRE_LANES_MAX];
	u64 pool_bytes;			/* the memory of the lanes, and of users for them */
	u32 life;			/* unique among the parents of this load of the module */
	/* A copy of vqp_device_user.input, which one user has. */
	void (*input)(struct vqp_lane *lane, const u8 *gid, u32 qpn, const void *buf, u32 bytes,
		      bool ce);
	struct delayed_work *recheck;	/* It checks whether this is still a good parent. */
	bool broken;			/* A lane has failed for good. */
};

int __init vqp_parent_init(void);
void vqp_parent_exit(void);

/* Register a user for good, before vqp_parent_init(). */
void __init vqp_device_use(struct vqp_device_user *user);

/* The parent, or NULL; it is valid inside the RCU read-side critical section. */
struct vqp_parent *vqp_parent_rcu(void);

/*
 * The same for process context that sleeps: the parent stays until vqp_parent_leave(*token). NULL:
 * there is none, and vqp_parent_leave() must not be called.
 */
struct vqp_parent *vqp_parent_enter(int *token);
void vqp_parent_leave(int token);

bool vqp_parent_is_up(void);

/* Does the event say that a QP has failed? */
static inline bool vqp_is_qp_failure(const struct ib_event *event)
{
	return event->event == IB_EVENT_QP_FATAL || event->event == IB_EVENT_QP_REQ_ERR ||
	       event->event == IB_EVENT_QP_ACCESS_ERR;
}

/*
 * Free a CQ of IB_POLL_SOFTIRQ whose QPs have been destroyed. None of its completion handlers runs
 * afterwards. May sleep.
 */
void vqp_parent_free_cq(struct ib_cq *cq);

/*
 * A lane has failed for good: have the parent destroyed and made anew, a little later. Any context.
 */
void vqp_parent_break(struct vqp_parent *parent);

#endif
