/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the peer of an end is to be told but bytes: noted first, and sent by the trunk's work, or at
 * once.
 */
#ifndef VQP_SOCK_FAR_DUE_H
#define VQP_SOCK_FAR_DUE_H

#include <linux/types.h>
#include "sock/far.h"

struct vqp_frame;
struct vqp_trunk_user;

/* What the peer is to be told. */
enum vqp_far_due {
	VQP_FAR_DUE_OPEN,		/* in the order in which it is */
	VQP_FAR_DUE_ACK,
	VQP_FAR_DUE_CREDIT,
	VQP_FAR_DUE_PROBE,
	VQP_FAR_DUE_RECALL,
	VQP_FAR_DUE_RETURN,
	VQP_FAR_DUE_FIN,
	VQP_FAR_DUE_RST,
};

/* Have the peer told. Under the stream's lock. */
void vqp_far_set_due(struct vqp_far *far, enum vqp_far_due what);
/*
 * Tell the peer at once, since a program waits: without the trunk's work, which has to be
 * scheduled, unless the trunk has no room at present. Process context, without locks.
 */
void vqp_far_tell_now(struct vqp_far *far, enum vqp_far_due what);

/* Fill in a frame of that type, which tells of the room that there is. Under the stream's lock. */
void vqp_far_fill(struct vqp_far *far, struct vqp_frame *frame, u8 type);

/* A frame is about to be posted: vqp_far_frame_done() follows. Under the stream's lock. */
void vqp_far_frame_begin(struct vqp_far *far, u32 bytes);
/* A frame with so many bytes has arrived, or is given up, or was not posted. As above. */
void vqp_far_frame_done(struct vqp_far *far, u32 bytes);

/* vqp_trunk_user_ops.tell. */
int vqp_far_tell(struct vqp_trunk_user *user);

#endif
