/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How connections within the node come about. */
#ifndef VQP_SOCK_NEAR_H
#define VQP_SOCK_NEAR_H

struct sock;
struct vqp_names;

/*
 * Connect sk within the node, if its namespace and that of names->remote have sockets on, and there
 * is a listener. 0: it is connected; -EADDRNOTAVAIL: it is bound to a port that has a connection of
 * these names; -EREMOTE: the address is not on this node; another -errno: by TCP. Under
 * lock_sock().
 */
int vqp_near_connect(struct sock *sk, struct vqp_names *names);

#endif
