/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* bind(2), connect(2), and which kind a connection is of. */
#ifndef VQP_SOCK_CONNECT_H
#define VQP_SOCK_CONNECT_H

#include "base/compat.h"

struct socket;

int vqp_sock_bind(struct socket *sock, struct sockaddr_unsized *addr, int bytes);
/* Decide the kind of a socket that sends with MSG_FASTOPEN; one of TCP connects as it sends. */
int vqp_sock_connect_now(struct socket *sock, const void *addr, int bytes);
int vqp_sock_connect(struct socket *sock, struct sockaddr_unsized *addr, int bytes, int flags);

#endif
