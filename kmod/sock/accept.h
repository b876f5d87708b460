/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * listen(2) and accept(2). A connection by vqp is handed out as a socket of this module, and one
 * that TCP has accepted as a socket of TCP, which is nothing of ours any more.
 */
#ifndef VQP_SOCK_ACCEPT_H
#define VQP_SOCK_ACCEPT_H

struct proto_accept_arg;
struct socket;

int vqp_sock_listen(struct socket *sock, int backlog);
int vqp_sock_accept(struct socket *sock, struct socket *newsock, struct proto_accept_arg *arg);

/* Has a listener something to accept? */
bool vqp_sock_may_accept(struct socket *sock);

/*
 * The inner socket may have been made to listen no more: then nor does this one, which is as new.
 * Under lock_sock().
 */
void vqp_sock_follow_listen(struct socket *sock);

/* shutdown(2) of a listener, which ends it unless TCP has no use for `how`. */
int vqp_sock_unlisten(struct socket *sock, int how);

#endif
