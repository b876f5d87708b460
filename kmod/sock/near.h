/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections within the node: how they come about, and how bytes are sent and received. */
#ifndef VQP_SOCK_NEAR_H
#define VQP_SOCK_NEAR_H

#include <linux/poll.h>
#include <linux/types.h>

struct msghdr;
struct sock;
struct vqp_names;
struct vqp_stream;

/*
 * Connect sk within the node, if its namespace and that of names->remote have sockets on, and there
 * is a listener. 0: it is connected; -EADDRNOTAVAIL: it is bound to a port that has a connection of
 * these names; another -errno: not within the node. Under lock_sock().
 */
int vqp_near_connect(struct sock *sk, struct vqp_names *names);

/* sk, of a new socket, gets the end of a connection that a listener had. */
void vqp_near_accept(struct sock *sk, struct vqp_stream *s);

/* Process context, without locks. The bytes that were sent, or -errno. */
int vqp_near_send(struct sock *sk, struct msghdr *msg, size_t bytes);
int vqp_near_recv(struct sock *sk, struct msghdr *msg, size_t bytes, int flags);
__poll_t vqp_near_poll(struct sock *sk);

/* connect(AF_UNSPEC): the connection ends, and the socket is as new. Under lock_sock(). */
void vqp_near_dissolve(struct sock *sk);

/* close(2): wait, if the socket is to linger, and end the connection. Under lock_sock(). */
void vqp_near_close(struct sock *sk);

/* Is nothing more sent or received? */
bool vqp_near_is_over(const struct sock *sk);

/* shutdown(2), with SHUT_* of the kernel's: RCV_SHUTDOWN, SEND_SHUTDOWN. */
int vqp_near_shutdown(struct sock *sk, int how);

#endif
