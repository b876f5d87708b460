/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Segments: the parts of requests that a link has under way. Each is a work request of the link's
 * QP.
 */
#ifndef VQP_RC_SEGMENT_H
#define VQP_RC_SEGMENT_H

#include <linux/types.h>

struct vqp;
struct vqp_link;
struct vqp_send;

/*
 * Post the part of `send` that begins at vqp->rc.offset, for which the caller has reserved room in
 * the link. Returns the length of the part in bytes, or -errno. Under vqp.lock.
 */
int vqp_segment_post(struct vqp_link *link, struct vqp *vqp, struct vqp_send *send);

/*
 * Give the QP what is chained, before vqp.lock is released. vqp has segments on its link, which
 * hold the reference on the link. Under vqp.lock.
 */
void vqp_segments_flush(struct vqp *vqp);

/* ---- After a failure of the link. Process context. ---- */

/* The VQP of the oldest segment whose outcome is not known, referenced; or NULL. */
struct vqp *vqp_segments_first_vqp(struct vqp_link *link);

/*
 * The link has failed, and its QP completes nothing any more: release what the segments hold,
 * except for their references on VQPs.
 */
void vqp_segments_release(struct vqp_link *link);

/*
 * Afterwards: decide about each segment. A WRITE that ends before `psn` was carried out. READs, and
 * WRITEs that the target did not carry out, go by dc. If `psn` is not known, or cannot be right, a
 * WRITE that the QP was given is lost, and its request fails.
 */
void vqp_segments_settle(struct vqp_link *link, bool known, u32 psn);

#endif
