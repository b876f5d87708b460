/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the peer of an end is to be told: what each frame says; and what is told but bytes and
 * parcels, which is noted here first, and sent by the trunk's work or at once (far_tell.h).
 */
#ifndef VQP_SOCK_FAR_DUE_H
#define VQP_SOCK_FAR_DUE_H

#include <linux/types.h>
#include "sock/far.h"

struct vqp_frame;

/* What the peer is to be told. */
enum vqp_far_due {
	VQP_FAR_DUE_OPEN,		/* in the order in which it is */
	VQP_FAR_DUE_ACK,
	VQP_FAR_DUE_FETCHED,
	VQP_FAR_DUE_DECLINED,
	VQP_FAR_DUE_CREDIT,
	VQP_FAR_DUE_PROBE,
	VQP_FAR_DUE_RECALL,
	VQP_FAR_DUE_RETURN,
	VQP_FAR_DUE_FIN,
	VQP_FAR_DUE_RST,
};

/* What the peer had been told of reading before a frame was to say more. */
struct vqp_far_told {
	u32 told, taken;
	bool due;			/* It was to be told by a CREDIT. */
};

/* The peer is to be told that, and the caller sees to it. Under the stream's lock. */
void vqp_far_note(struct vqp_far *far, enum vqp_far_due what);
/* Have the trunk's work tell it. As above. */
void vqp_far_set_due(struct vqp_far *far, enum vqp_far_due what);

/* Fill in a frame of that type, which tells of the room that there is. Under the stream's lock. */
void vqp_far_fill(struct vqp_far *far, struct vqp_frame *frame, u8 type);

/* A frame is about to be posted: vqp_far_frame_done() follows. Under the stream's lock. */
void vqp_far_frame_begin(struct vqp_far *far, u32 bytes);
/* A frame with so many bytes has arrived, or is given up, or was not posted. As above. */
void vqp_far_frame_done(struct vqp_far *far, u32 bytes);

/*
 * The next `bytes` bytes are about to be posted by a frame of that type, which is filled in. 0;
 * -EAGAIN: their room was recalled meanwhile. Under the stream's lock.
 */
int __must_check vqp_far_begin(struct vqp_far *far, u8 type, u32 bytes, struct vqp_frame *frame,
			       struct vqp_far_told *told);
/* The frame was not posted. As above. */
void vqp_far_undo(struct vqp_far *far, u32 bytes, const struct vqp_far_told *told);

#endif
