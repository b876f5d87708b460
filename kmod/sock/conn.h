/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections by vqp, be they near or far: sending, receiving, polling and closing. What the two
 * kinds do each in its own way is in vqp_stream_ops.
 */
#ifndef VQP_SOCK_CONN_H
#define VQP_SOCK_CONN_H

#include <linux/poll.h>
#include <linux/types.h>

struct msghdr;
struct sock;
struct vqp_names;
struct vqp_stream;

/*
 * Give a client's end its names: names->local_port if the socket is bound, else a port that TCP
 * would choose from. 0; -EADDRNOTAVAIL: it is bound, and they are taken; -EADDRINUSE: no free port
 * was found. Under lock_sock().
 */
int vqp_conn_name(struct sock *sk, struct vqp_stream *s, struct vqp_names *names);

/* sk is connected by its end s. Under lock_sock(). */
void vqp_conn_connected(struct sock *sk, struct vqp_stream *s);

/* sk, of a new socket, gets the end of a connection that a listener had. */
void vqp_conn_accept(struct sock *sk, struct vqp_stream *s);

/* Process context, without locks. The bytes that were sent, or -errno. */
int vqp_conn_send(struct sock *sk, struct msghdr *msg, size_t bytes);
int vqp_conn_recv(struct sock *sk, struct msghdr *msg, size_t bytes, int flags);
__poll_t vqp_conn_poll(struct sock *sk);

/* connect(AF_UNSPEC): the connection ends, and the socket is as new. Under lock_sock(). */
void vqp_conn_dissolve(struct sock *sk);

/* close(2): wait, if the socket is to linger, and end the connection. Under lock_sock(). */
void vqp_conn_close(struct sock *sk);

/* Is nothing more sent or received? */
bool vqp_conn_is_over(const struct sock *sk);

/* shutdown(2), with SHUT_* of the kernel's: RCV_SHUTDOWN, SEND_SHUTDOWN. */
int vqp_conn_shutdown(struct sock *sk, int how);

#endif
