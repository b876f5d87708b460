/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parcels: the sender's half of how large pieces of a stream reach another node; fetch.h has the
 * receiver's. A piece is copied into memory of the kernel's, a PARCEL frame says where that is,
 * and the receiver READs it. Its bytes take credit as those of DATA do. A parcel is over when the
 * peer has said that it has the bytes (FETCHED), or that it will not READ them (DECLINED): then
 * they go in DATA frames, which the trunk's work posts. If the connection breaks before, a READ
 * may be under way, and the memory is used for nothing else any more.
 *
 * That memory is the trunk's shelf (shelf.h). Who finds no room on it sends DATA.
 *
 * A peer fetches parcels if it has said so, by FETCHED: one that does not know of parcels never
 * does, and DATA are all that it gets.
 */
#ifndef VQP_SOCK_PARCEL_H
#define VQP_SOCK_PARCEL_H

#include <linux/types.h>

struct msghdr;
struct vqp_far;

/*
 * Send up to n bytes as a parcel: returns how many; -ENOBUFS: it is to be DATA; or as
 * vqp_stream_ops.send, or -EIO. Process context.
 */
int vqp_parcel_send(struct vqp_far *far, struct msghdr *msg, u32 n);

/* Do DATA have to wait for parcels? If so, the sender is woken. Process context. */
bool vqp_parcels_hold_up(struct vqp_far *far);

/*
 * The peer has all bytes before `seq`; if `declined`, it does not fetch those from there on.
 * -EPROTO: it was not sent that many. Under the stream's lock.
 */
int __must_check vqp_parcels_settle(struct vqp_far *far, u32 seq, bool declined);

/*
 * The connection is broken; `safe`: and the peer READs nothing any more. Under the stream's lock.
 */
void vqp_parcels_drop(struct vqp_far *far, bool safe);

/* Are there bytes that the peer has declined, to be posted now? Under the stream's lock. */
bool vqp_parcels_are_due(struct vqp_far *far);

/*
 * Post DATA frames with the bytes that the peer has declined. 0; -EAGAIN: not all now; or the
 * connection is to break. By the thread that tells the peer (far_tell.c).
 */
int vqp_parcels_resend(struct vqp_far *far);

#endif
