/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The state of the node, and its counters. */
#ifndef VQP_NETLINK_STATUS_H
#define VQP_NETLINK_STATUS_H

struct genl_info;
struct sk_buff;

int vqp_status_get(struct sk_buff *skb, struct genl_info *info);	/* genl_ops.doit */

#endif
