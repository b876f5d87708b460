/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of ends on this node: by number, by which frames find them, until they are closed; and
 * the halves, which are servers' ends whose clients have not gone on. Process context.
 */
#ifndef VQP_SOCK_FAR_TABLE_H
#define VQP_SOCK_FAR_TABLE_H

#include <linux/types.h>

struct vqp_far;
struct vqp_ns;

/* Give a new end its number, and have frames find it until it leaves. */
void vqp_far_hash(struct vqp_far *far);
/* An end is closed, and has no parcels: no frame finds it, and it is none of its trunk's. */
void vqp_far_leave(struct vqp_far *far);

/* The end that a frame is for, which has come to ns from address `gid`, referenced; or NULL. */
struct vqp_far *vqp_far_find(const struct vqp_ns *ns, const u8 *gid, u32 id);

/* The end is a half from here on, with a reference of the caller's. */
void vqp_far_add_half(struct vqp_far *far);
/* Take a half that nobody has got yet: its reference is the caller's. False: it is none. */
bool vqp_far_take_half(struct vqp_far *far);
/* If it is a half, the connection comes to nothing before a listener has got it. */
void vqp_far_drop_half(struct vqp_far *far);
/* Nothing more is sent. A connect is told `err`, if it waits yet. True: it did. */
bool vqp_far_set_gone(struct vqp_far *far, int err);
/* Nothing leads to the peer any more: the connection is broken. */
void vqp_far_break(struct vqp_far *far);
/* Drop those of ns, which is dead. */
void vqp_far_drop_halves(struct vqp_ns *ns);
/* Drop those whose clients have had time enough. */
void vqp_far_drop_old_halves(void);
/* May ns have one more? There are `same` of them for that port. */
bool vqp_far_may_add_half(struct vqp_ns *ns, u16 port, u32 *same);

/* Call fn for each end; fn must not sleep. False: there is none. */
bool vqp_far_each(void (*fn)(struct vqp_far *far));

#endif
