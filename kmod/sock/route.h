/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses of a connection: which address of its own a socket has towards another. */
#ifndef VQP_SOCK_ROUTE_H
#define VQP_SOCK_ROUTE_H

#include <linux/socket.h>
#include <linux/types.h>

struct sock;
struct vqp_names;

/*
 * The remote address and port of a connect to that address, as names->remote and remote_port.
 * False: TCP is to deal with it, since it is malformed, or no unicast address of the family.
 */
bool vqp_route_parse(const struct sock *sk, const void *addr, int bytes, struct vqp_names *names);

/*
 * The local address that TCP would have towards names->remote, and the local port if the socket is
 * bound, else 0. False: there is no route, or none without IPsec. Process context.
 */
bool vqp_route_find(struct sock *sk, struct vqp_names *names);

/* Let the socket have these names, as getsockname(2) and getpeername(2) tell them. */
void vqp_route_name(struct sock *sk, const struct vqp_names *names);

#endif
