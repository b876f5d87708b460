/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of trunks share: trunk_life.c, trunk_users.c, trunk_send.c and others. */
#ifndef VQP_SOCK_TRUNK_INTERNAL_H
#define VQP_SOCK_TRUNK_INTERNAL_H

#include "queue/vqp.h"
#include "sock/trunk.h"

/* A trunk that nothing finds yet; or NULL. */
struct vqp_trunk *vqp_trunk_alloc(struct vqp_ns *ns, const u8 *gid);

/* Have the trunk's work run. Any context. */
void vqp_trunk_queue_work(struct vqp_trunk *trunk);

/* The same a moment later, when there may be memory again. By the work. */
void vqp_trunk_queue_later(struct vqp_trunk *trunk);
/* Have its parcels fetched; under trunk->lock, since nobody does once the trunk is over. */
void vqp_trunk_queue_fetch(struct vqp_trunk *trunk);
/* Run what may wait for peers. Any context. */
void vqp_trunk_queue_slow(struct work_struct *work);

/* The state; FAILED if its VQP has failed. Process context. */
enum vqp_trunk_state vqp_trunk_check(struct vqp_trunk *trunk);

/* Does it lead anywhere, or is it about to? Under trunk->lock. */
static inline bool vqp_trunk_takes(const struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	return trunk->state == VQP_TRUNK_OPENING || trunk->state == VQP_TRUNK_UP;
}

/* Its VQP, referenced, if there is one; or NULL. Under trunk->lock. */
static inline struct vqp *vqp_trunk_vqp_get(struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	if (trunk->vqp)
		kref_get(&trunk->vqp->ref);
	return trunk->vqp;
}

/* Have a trunk opened that is idle. 0, also if it is not; -EHOSTDOWN as vqp_trunk_get(). */
int vqp_trunk_begin(struct vqp_trunk *trunk, enum vqp_trunk_use use);

/* Have who opens the trunk give up, and nobody open it any more, unless it is up. */
void vqp_trunk_stop(struct vqp_trunk *trunk);
/* End a trunk that is off the table, and drop its reference. Waits for its works. */
void vqp_trunk_end(struct vqp_trunk *trunk);

/* Is there room for frames with bytes, so that those who wait may go on? Under trunk->lock. */
bool vqp_trunk_has_room(const struct vqp_trunk *trunk);

/* Post a BYE: connections with numbers before that one are over. 0, or -errno. */
int vqp_trunk_bye(struct vqp_trunk *trunk, u32 before);

/* Fill in what a VQP is given of a frame whose header is written. */
void vqp_trunk_frame_prepare(struct vqp_frame_send *f);
/* A frame has arrived, or is given up, and is in no list. Any context. */
void vqp_trunk_frame_end(struct vqp_frame_send *f);

/* ---- trunk_users.c ---- */

/* Break the connections that the peer has not answered yet: these are made by TCP. */
void vqp_trunk_break_asking(struct vqp_trunk *trunk);
/* Ask those that are due what there is to tell, as far as there is room. By the work. */
void vqp_trunk_tell(struct vqp_trunk *trunk);
/* There is room: who waits may go on. By the work. */
void vqp_trunk_tell_room(struct vqp_trunk *trunk);

/* ---- trunk_again.c: frames that may not have arrived ---- */

/* The VQP has failed: keep the frame for the next one, unless it is of no use then. */
bool vqp_trunk_keep(struct vqp_frame_send *f);
/* Give the trunk's new VQP what was kept. 0, or -errno. By its opener. */
int vqp_trunk_send_again(struct vqp_trunk *trunk, struct vqp *vqp);
/*
 * Give up what is not worth sending any more, or with `all` everything that waits. Nobody opens
 * the trunk meanwhile, and it has no VQP. Process context.
 */
void vqp_trunk_give_up(struct vqp_trunk *trunk, bool all);

/* Post the replies. */
void vqp_trunk_post_replies(struct vqp_trunk *trunk);

#endif
