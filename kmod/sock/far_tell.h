/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Posting what is due to the peer of an end (far_due.h). */
#ifndef VQP_SOCK_FAR_TELL_H
#define VQP_SOCK_FAR_TELL_H

#include "sock/far_due.h"

struct vqp_far;
struct vqp_trunk_user;

/* vqp_trunk_user_ops.tell. */
int vqp_far_tell(struct vqp_trunk_user *user);

/*
 * Tell the peer at once, since a program waits: without the trunk's work, which has to be
 * scheduled, unless the trunk has no room at present. The end is new, and has no parcels. Process
 * context, without locks.
 */
void vqp_far_tell_now(struct vqp_far *far, enum vqp_far_due what);

#endif
