/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parent: the physical RDMA device this node uses, and the fixed pool of
 * UD QPs (lanes) on it. Everything is made once when the device has an address
 * and is gone when the device goes.
 */
#ifndef VQP_PARENT_H
#define VQP_PARENT_H

#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "engine/tx.h"

struct vqp_lane;

struct vqp_parent {
	struct ib_device *dev;
	struct ib_pd *pd;
	u32 port;
	int gid_index;
	u32 mtu;			/* bytes of a UD payload */
	struct vqp_tx_cfg cfg;		/* for flows over it */
	struct vqp_dct dct;		/* what other nodes must know */
	u32 nlanes;
	struct vqp_lane *lanes[VQP_WIRE_LANES_MAX];
	u64 pool_bytes;
	u32 life;			/* no other parent's */
	struct work_struct *recheck;	/* looks whether this is still a good parent */
	bool broken;			/* a lane failed */
};

int __init vqp_parent_init(void);
void vqp_parent_exit(void);

/* The parent, or NULL; valid inside the RCU read section. */
struct vqp_parent *vqp_parent_rcu(void);

/*
 * The same for process context that sleeps: it stays in place until vqp_parent_leave(). NULL: none,
 * do not leave.
 */
struct vqp_parent *vqp_parent_enter(int *token);
void vqp_parent_leave(int token);

bool vqp_parent_is_up(void);

/* A lane failed for good: all start anew, a little later. Any context. */
void vqp_parent_break(struct vqp_parent *parent);

#endif
