/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sockets of the module, as they are seen from outside: those of all containers of the node. */
#ifndef VQP_SOCK_TABLE_H
#define VQP_SOCK_TABLE_H

#include <linux/types.h>
#include <linux/vqp.h>
#include "sock/stream.h"
#include "sock/trunk.h"

struct sock;
struct vqp_sock;

/* What there is to tell of a socket. Its parts need not be of the same moment. */
struct vqp_sock_info {
	u32 netns_ino;
	u32 tenant;			/* of its network namespace, or 0 */
	u32 kind;			/* enum vqp_sock_kind */
	u32 tcp_state;			/* TCP_ESTABLISHED and so on, also of near ones */
	struct vqp_names names;		/* the remote ones are zero without a connection */
	u64 tx_bytes, rx_bytes;		/* of its connection */
	u32 recv_queue;			/* unread bytes; of a listener, who waits for accept(2) */
	u32 send_queue;			/* what the peer has not yet; a listener's backlog */
	u32 window;			/* the most unread bytes */
	u64 resent;			/* of TCP: packets that were sent again */
	struct vqp_trunk_info trunk;	/* of a far connection, what leads to its peer */
};

/* A new socket, before anybody has it; and one that is released, before anything of it goes. */
int vqp_sock_table_add(struct vqp_sock *vs);
void vqp_sock_table_remove(struct vqp_sock *vs);

/* The caller has a socket that is not released, or lock_sock() of one that is. */
void vqp_sock_info_get(const struct vqp_sock *vs, struct vqp_sock_info *info);
/* The same of a socket of the kernel's TCP, as a listener has accepted one. */
void vqp_sock_info_of_tcp(const struct sock *sk, struct vqp_sock_info *info);

/*
 * Call fn for each socket whose number is at least `from`, in this order, until fn returns
 * non-zero. Returns the number to go on from. Nothing is locked while fn runs. Process context.
 */
u32 vqp_sock_walk(u32 from, int (*fn)(const struct vqp_sock_info *info, void *arg), void *arg);

#endif
