/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Plain options are those with which a connection within the node does what one of TCP would. Any
 * other may be a rule about packets: with it a socket is one of TCP.
 */
#ifndef VQP_SOCK_PLAIN_H
#define VQP_SOCK_PLAIN_H

#include <linux/types.h>

/* Of an option that option.c does not keep. Any context. */
bool vqp_option_is_plain(int level, int name);

/* Is it one of SOL_SOCKET that vqp_inner_copy_options() copies, or without effect? */
bool vqp_option_is_copied(int name);

#endif
