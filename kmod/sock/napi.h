/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Busy polling by epoll(7), where a program asks for it (EPIOCSPARAMS) or the operator does
 * (net.core.busy_poll). Before it sleeps, epoll polls the NAPI instance of which the last of its
 * sockets to be ready has the number. Near and far connections have that of one instance for all,
 * which belongs to no device.
 *
 * There is nothing that its poll function could fetch. What is near is put into the stream by the
 * peer's program. What is far comes by a lane, whose completions a softirq takes as soon as the
 * device tells of them, and a work of the hub, which may sleep, where a poll function may not. So
 * epoll just looks whether there are events until there are, its time is over, or it has yielded
 * the processor to who wants it; and it neither sleeps nor is woken.
 *
 * The other half of RR-Compound's BPEV is spin.h.
 */
#ifndef VQP_SOCK_NAPI_H
#define VQP_SOCK_NAPI_H

#include <linux/init.h>

struct sock;

/* Before there are sockets, and after the last. Process context. */
int __init vqp_napi_init(void);
void vqp_napi_exit(void);

/* From here on, who waits for the socket by epoll may busy-poll; and no more. */
void vqp_napi_mark(struct sock *sk);
void vqp_napi_unmark(struct sock *sk);

#endif
