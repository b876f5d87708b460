/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The target's ends of RC links. Their QPs take requests for windows and nothing
 * else, without any of this node's processors hearing of it. What an end had
 * reached when it stopped is remembered for a while: its initiator will ask, to
 * know which of its requests were carried out.
 */
#ifndef VQP_RC_END_H
#define VQP_RC_END_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/vqp.h>

struct ib_qp;
struct vqp_ask;

struct vqp_rc_end {
	struct kref ref;		/* the list's, each window's */
	struct list_head node;		/* under end_mutex */
	u8 gid[VQP_GID_BYTES];		/* constant, as are epoch and link: the initiator's */
	u32 epoch;
	u32 link;
	struct mutex lock;		/* guards all below, but for windows */
	struct ib_qp *qp;		/* NULL: stopped */
	int stop_status;		/* then: is psn known? */
	u32 psn;
	unsigned long stopped_at;	/* jiffies */
	u32 seen_psn;			/* when it was looked at last */
	struct list_head windows;	/* under window.c's lock */
};

int __init vqp_rc_end_init(void);
void vqp_rc_end_exit(void);

/* The parent goes: all stop. */
void vqp_rc_end_down(void);

/* VQP_ASK_RC_OPEN and VQP_ASK_RC_CLOSE from node gid. 0 or -errno. Process context. */
int vqp_rc_end_open(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at);
int vqp_rc_end_close(const u8 *gid, struct vqp_ask *msg, unsigned long heard_at);

/* The one that node gid means, referenced, or NULL. */
struct vqp_rc_end *vqp_rc_end_get(const u8 *gid, const struct vqp_ask *msg);
void vqp_rc_end_hold(struct vqp_rc_end *end);
void vqp_rc_end_put(struct vqp_rc_end *end);

/* It carries out nothing more, and its windows are gone. Process context. */
void vqp_rc_end_stop(struct vqp_rc_end *end);

#endif
