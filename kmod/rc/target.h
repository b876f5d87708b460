/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An rc target is the target's half of a link. Its QP carries out requests for windows and nothing
 * else, without any work of this node's processors. The PSN that a target had reached when it
 * stopped is kept for a while, since its initiator asks which requests were carried out.
 */
#ifndef VQP_RC_TARGET_H
#define VQP_RC_TARGET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/vqp.h>

struct ib_qp;
struct vqp_rpc_msg;

struct vqp_rc_target {
	/* The list, each held window, and `revoke` and `ask` while they are queued have one. */
	struct kref ref;
	struct list_head node;		/* in the list of targets, under target_mutex */
	/* The initiator's node, its epoch and the number of its link are constant. */
	u8 gid[VQP_GID_BYTES];
	u32 epoch;
	u32 link;
	u32 first_psn;			/* the PSN of the initiator's first request, constant */
	unsigned long made_at;		/* jiffies, constant */
	struct mutex lock;		/* guards the fields below, except for windows */
	struct ib_qp *qp;		/* NULL: the target has stopped. */
	int stop_status;		/* when stopped: 0 if psn is known, else -errno */
	u32 psn;			/* when stopped: the first PSN that was not carried out */
	unsigned long stopped_at;	/* jiffies */
	u32 seen_psn;			/* the PSN at the latest check for traffic */
	bool tells_psn;			/* The device has told that the PSN has moved. */
	u32 used_psn;			/* the PSN when its use was measured last */
	struct list_head windows;	/* struct window_holder, under rc/window.c's lock */
	struct work_struct revoke;	/* has the initiator let go of windows that end */
	struct work_struct ask;		/* stops the target unless there is still a link */
};

int __init vqp_rc_target_init(void);
void vqp_rc_target_exit(void);

/* The parent goes: stop all rc targets. Process context. */
void vqp_rc_target_down(void);

/* VQP_RPC_LINK_ROOM, _OPEN, _PROBED and _CLOSE from node gid. 0 or -errno. Process context. */
int vqp_rc_target_room(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_rc_target_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_rc_target_probed(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_rc_target_close(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* The rc target that `msg` of node gid names, referenced; or NULL. */
struct vqp_rc_target *vqp_rc_target_get(const u8 *gid, const struct vqp_rpc_msg *msg);
void vqp_rc_target_hold(struct vqp_rc_target *target);
void vqp_rc_target_put(struct vqp_rc_target *target);

/* Have the target carry out nothing more, and end its windows. Process context. */
void vqp_rc_target_stop(struct vqp_rc_target *target);

#endif
