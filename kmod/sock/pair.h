/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection within the node: both ends are in one struct vqp_pair. The sender copies a program's
 * bytes into pages of the receiver's stream, and the receiver copies them out: two copies, and no
 * packet. Neither takes the other's lock_sock().
 */
#ifndef VQP_SOCK_PAIR_H
#define VQP_SOCK_PAIR_H

struct vqp_ns;
struct vqp_stream;

/*
 * Make a connection from client_ns to server_ns, without names. Returns the client's end; both ends
 * are the caller's, who closes and puts each. ERR_PTR(): -EDQUOT at a namespace's limit; -ENOBUFS:
 * a namespace has its share of the budget; -ESHUTDOWN; or -ENOMEM. Process context.
 */
struct vqp_stream *vqp_pair_make(struct vqp_ns *client_ns, struct vqp_ns *server_ns);

/* Close and put both ends of a connection that came to nothing. */
void vqp_pair_abandon(struct vqp_stream *client);

#endif
