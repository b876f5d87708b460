/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The inner socket: the kernel's TCP, which has what does not go by vqp. It has no descriptor,
 * but the outer socket's file and queue are lent to it: filters know its owner, and who waits for
 * it waits at that queue, so that a poll(2) that has begun before it was made is woken, too.
 */
#ifndef VQP_SOCK_INNER_H
#define VQP_SOCK_INNER_H

#include <linux/poll.h>
#include <linux/sockptr.h>
#include <linux/types.h>

struct socket;
struct sock;
struct vqp_sock;

/*
 * The inner socket, which is made if need be, with the options of the outer one; or ERR_PTR().
 * Under lock_sock() of the outer socket.
 */
struct socket *vqp_inner_get(struct sock *sk);

/* Set an option of the inner socket: 0, or -errno. The outer one's lock_sock() may be held. */
int vqp_inner_set(struct socket *inner, int level, int name, sockptr_t value, unsigned int bytes);

/* The inner socket, or NULL. Any context. */
struct socket *vqp_inner_of(const struct vqp_sock *vs);

/* The outer socket is being released: destroy the inner one, as TCP closes one. */
void vqp_inner_release(struct vqp_sock *vs);

/* Let `to` have the options at the level of sockets that `from` has. */
void vqp_inner_copy_options(struct sock *to, const struct sock *from);

/*
 * Calls of a socket of kind TCP are made between these two. getsockopt(SO_ERROR) looks at the outer
 * socket alone, and both have an error until one of them has told it.
 */
struct socket *vqp_inner_enter(struct vqp_sock *vs);
void vqp_inner_leave(struct vqp_sock *vs);

/* What poll(2) says of the inner socket; the caller waits at the outer one. */
__poll_t vqp_inner_poll(struct vqp_sock *vs, struct file *file);

#endif
