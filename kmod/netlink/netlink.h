/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The operator's interface: generic netlink family "vqp" (docs/netlink/vqp.yaml). */
#ifndef VQP_NETLINK_NETLINK_H
#define VQP_NETLINK_NETLINK_H

#include <linux/init.h>

int __init vqp_netlink_init(void);
void vqp_netlink_exit(void);

#endif
