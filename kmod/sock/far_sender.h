/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sending bytes to another node: the sender's part of struct vqp_stream_ops. */
#ifndef VQP_SOCK_FAR_SENDER_H
#define VQP_SOCK_FAR_SENDER_H

#include <linux/types.h>

struct msghdr;
struct vqp_far;
struct vqp_stream;

int vqp_far_send(struct vqp_stream *s, struct msghdr *msg);
void vqp_far_finish(struct vqp_stream *s);
bool vqp_far_is_writable(struct vqp_stream *s);
u32 vqp_far_unread(const struct vqp_stream *s);
u32 vqp_far_excess(struct vqp_stream *s);

/* There may be room. One that lingers waits for all to have arrived. Any context. */
void vqp_far_room(struct vqp_far *far);

#endif
