/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Options and ioctls. Those at the level of sockets are the outer socket's, and the inner one's as
 * well if there is one. Some of TCP are kept here; all others are the inner socket's, which is made
 * for them: so TCP says what is valid, and gives back what was set.
 */
#ifndef VQP_SOCK_OPTION_H
#define VQP_SOCK_OPTION_H

#include <linux/sockptr.h>

struct socket;
struct vqp_sock;

int vqp_setsockopt(struct socket *sock, int level, int name, sockptr_t value, unsigned int bytes);
int vqp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *bytes);
int vqp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* A connection that was accepted by vqp has the options of its listener. */
void vqp_option_inherit(struct vqp_sock *to, const struct vqp_sock *from);

#endif
