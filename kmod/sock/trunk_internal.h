/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of trunks share: trunk_life.c, trunk_send.c and trunk_table.c. */
#ifndef VQP_SOCK_TRUNK_INTERNAL_H
#define VQP_SOCK_TRUNK_INTERNAL_H

#include "sock/trunk.h"

/* A trunk that nothing finds yet; or NULL. */
struct vqp_trunk *vqp_trunk_alloc(struct vqp_ns *ns, const u8 *gid);

/* Have the trunk's work run. Any context. */
void vqp_trunk_queue_work(struct vqp_trunk *trunk);

/* The state; FAILED if its VQP has failed. Process context. */
enum vqp_trunk_state vqp_trunk_check(struct vqp_trunk *trunk);

/* Have a trunk opened that is idle. 0, also if it is not; -EHOSTDOWN as vqp_trunk_get(). */
int vqp_trunk_begin(struct vqp_trunk *trunk, enum vqp_trunk_use use);

/* Have who opens the trunk give up, and nobody open it any more, unless it is up. */
void vqp_trunk_stop(struct vqp_trunk *trunk);
/* End a trunk that is off the table, and drop its reference. Waits for its works. */
void vqp_trunk_end(struct vqp_trunk *trunk);

/* Is there room for frames with bytes, so that those who wait may go on? Under trunk->lock. */
bool vqp_trunk_has_room(const struct vqp_trunk *trunk);

/* Post a BYE: all connections of the trunk are over. 0, or -errno. */
int vqp_trunk_bye(struct vqp_trunk *trunk);

/* The oldest reply, off the list; or NULL. */
struct vqp_frame_send *vqp_trunk_take_reply(struct vqp_trunk *trunk);
/* Post the replies. */
void vqp_trunk_post_replies(struct vqp_trunk *trunk);

#endif
