/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long a connection waits for a peer that is silent. */
#ifndef VQP_SOCK_FAR_ALIVE_H
#define VQP_SOCK_FAR_ALIVE_H

struct vqp_far;

/*
 * Break a connection whose peer has not taken for long what it is sent, and ask an idle one whether
 * it lives, as the socket's options have it. To be called about once a second. Process context.
 */
void vqp_far_check_alive(struct vqp_far *far);

#endif
