/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Dumps, of which each message tells of one item: genl_ops.dumpit. */
#ifndef VQP_NETLINK_DUMP_H
#define VQP_NETLINK_DUMP_H

struct netlink_callback;
struct sk_buff;

int vqp_dump_namespaces(struct sk_buff *skb, struct netlink_callback *cb);
int vqp_dump_vqps(struct sk_buff *skb, struct netlink_callback *cb);
int vqp_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int vqp_dump_metas(struct sk_buff *skb, struct netlink_callback *cb);
int vqp_dump_cache(struct sk_buff *skb, struct netlink_callback *cb);
int vqp_dump_socks(struct sk_buff *skb, struct netlink_callback *cb);

#endif
