/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connecting to listeners on other nodes. */
#ifndef VQP_SOCK_FAR_CONNECT_H
#define VQP_SOCK_FAR_CONNECT_H

struct sock;
struct vqp_names;

/*
 * Connect sk to a listener on another node, if the address is known there and its kernel takes the
 * connection. 0: it is connected; -EADDRNOTAVAIL as for vqp_near_connect(); another -errno: by TCP.
 * Under lock_sock(). Waits connect_ms, or three round trips up to FAR_ROUND_TRIPS_MAX_MS, and no
 * longer than SO_SNDTIMEO.
 */
int vqp_far_connect(struct sock *sk, struct vqp_names *names);

#endif
