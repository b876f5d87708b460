/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What may come from another node: the window of an end, and what its peer is granted of it. */
#ifndef VQP_SOCK_FAR_WINDOW_H
#define VQP_SOCK_FAR_WINDOW_H

#include <linux/types.h>

#include "sock/stream.h"

struct vqp_far;

/* A window begins with the page that is not charged, and an idle one has no more. */
#define VQP_FAR_WINDOW_FIRST	VQP_STREAM_PAGE_BYTES

/* Grant the peer what the window, the budget and what is unread leave. Under the stream's lock. */
void vqp_far_grant(struct vqp_far *far);

/* Bytes have come, for whose room the sender has waited or not. Any context. */
void vqp_far_grow(struct vqp_far *far, bool waited);

/*
 * If nothing has come since the last call, have the peer give back what room it has, but for a
 * page. Process context.
 */
void vqp_far_recall(struct vqp_far *far);
/*
 * It has, as that recall demands: no more than `limit` bytes come in all. -EPROTO: it cannot be.
 */
int __must_check vqp_far_returned(struct vqp_far *far, u8 recalls, u32 limit);

/* vqp_stream_ops.consumed and .set_window. */
void vqp_far_consumed(struct vqp_stream *s, bool freed);
void vqp_far_set_window(struct vqp_stream *s, u32 bytes);

#endif
