/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fetching parcels: the receiver's half; parcel.h has the sender's. What a PARCEL frame names is
 * READ into the stream's own pages by a VQP of the kernel, of which a trunk has one: as any READ
 * it goes by rc where there is a link, and else by dc. A work of the trunk makes that VQP when the
 * first parcel comes, and posts the READs, so that the hub goes on with other frames. They
 * complete in order, and the sender is told FETCHED.
 *
 * What cannot be READ, or was not since the VQP has failed, is declined: the sender is told so
 * when no READ for the connection is under way, and nothing more is fetched for it until DATA
 * come.
 *
 * A fetch has a reference of the connection, whose pages wait for it: a stream that is closed
 * keeps those that are being filled. When a trunk ends, its VQP does, and with it all READs.
 */
#ifndef VQP_SOCK_FETCH_H
#define VQP_SOCK_FETCH_H

struct vqp_far;
struct vqp_frame;
struct vqp_trunk;
struct work_struct;

/* Have the parcel of a frame fetched, which is the next of the stream, or declined. */
void vqp_fetch(struct vqp_far *far, const struct vqp_frame *frame);

/* vqp_trunk.fetch. */
void vqp_fetch_work(struct work_struct *work);

/* The trunk is over, and that work has ended: nothing is READ any more. Process context. */
void vqp_fetch_end(struct vqp_trunk *trunk);

#endif
