/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The protocol in the families AF_INET and AF_INET6. */
#ifndef VQP_SOCK_FAMILY_H
#define VQP_SOCK_FAMILY_H

#include <linux/init.h>

int __init vqp_family_init(void);
/* No socket of the protocol is left, since each has a reference on the module. */
void vqp_family_exit(void);

#endif
