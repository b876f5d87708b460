/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The targets' halves of links. Their QPs take requests for windows and nothing
 * else, without any of this node's processors hearing of it. What a target had
 * reached when it stopped is remembered for a while: its initiator will ask, to
 * know which of its requests were carried out.
 */
#ifndef VQP_RC_TARGET_H
#define VQP_RC_TARGET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/vqp.h>

struct ib_qp;
struct vqp_rpc_msg;

struct vqp_rc_target {
	struct kref ref;		/* the list's, each window's */
	struct list_head node;		/* under target_mutex */
	u8 gid[VQP_GID_BYTES];		/* constant, as are epoch and link: the initiator's */
	u32 epoch;
	u32 link;
	struct mutex lock;		/* guards all below, but for windows */
	struct ib_qp *qp;		/* NULL: stopped */
	int stop_status;		/* then: is psn known? */
	u32 psn;
	unsigned long stopped_at;	/* jiffies */
	u32 seen_psn;			/* when it was looked at last */
	struct list_head windows;	/* under rc/window.c's lock */
};

int __init vqp_rc_target_init(void);
void vqp_rc_target_exit(void);

/* The parent goes: all stop. */
void vqp_rc_target_down(void);

/* VQP_RPC_LINK_OPEN and VQP_RPC_LINK_CLOSE from node gid. 0 or -errno. Process context. */
int vqp_rc_target_open(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);
int vqp_rc_target_close(const u8 *gid, struct vqp_rpc_msg *msg, unsigned long received_at);

/* The one that node gid means, referenced, or NULL. */
struct vqp_rc_target *vqp_rc_target_get(const u8 *gid, const struct vqp_rpc_msg *msg);
void vqp_rc_target_hold(struct vqp_rc_target *target);
void vqp_rc_target_put(struct vqp_rc_target *target);

/* It carries out nothing more, and its windows are gone. Process context. */
void vqp_rc_target_stop(struct vqp_rc_target *target);

#endif
