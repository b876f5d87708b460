/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hook by which programs that ask for TCP get sockets of this module: where a network namespace
 * has sockets on, socket(AF_INET or AF_INET6, SOCK_STREAM) with the protocol 0, TCP or MPTCP is one
 * with IPPROTO_VQP. It takes what socket(2), socketcall(2) and io_uring make, be the program static
 * or not. It leaves alone what else makes sockets in the kernel, be it for the kernel or by
 * sock_create() for a program: drivers use the struct tcp_sock.
 *
 * It is probes of four functions, and is there only while some namespace has sockets on. Where the
 * kernel allows none, sockets are those that are asked for by number.
 */
#ifndef VQP_SOCK_HOOK_H
#define VQP_SOCK_HOOK_H

#include <linux/init.h>
#include <linux/types.h>
#include <linux/vqp.h>

struct vqp_ns_user;

/* The protocol is there. From here on the hook follows the namespaces. */
void __init vqp_hook_init(void);
/* Before the protocol goes: no socket is changed any more when it returns. */
void vqp_hook_exit(void);

/*
 * Is the current task in a call by which its program asks for TCP, and to get a socket of this
 * module? Sockets may have been turned off meanwhile: it is not to be refused. Any context.
 */
bool vqp_hook_is_asked(void);

enum vqp_hook vqp_hook_state(void);

/* It has the hook there while some namespace has sockets on. */
extern struct vqp_ns_user vqp_hook_ns_user;

#endif
