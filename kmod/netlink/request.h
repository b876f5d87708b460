/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests that change something: genl_ops.doit and genl_ops.policy of each. */
#ifndef VQP_NETLINK_REQUEST_H
#define VQP_NETLINK_REQUEST_H

#include <net/netlink.h>
#include <linux/vqp.h>

struct genl_info;
struct sk_buff;

extern const struct nla_policy vqp_request_ns_add_policy[VQP_ATTR_MAX + 1];
extern const struct nla_policy vqp_request_ns_set_policy[VQP_ATTR_MAX + 1];
extern const struct nla_policy vqp_request_ns_del_policy[VQP_ATTR_MAX + 1];
extern const struct nla_policy vqp_request_meta_set_policy[VQP_ATTR_MAX + 1];
extern const struct nla_policy vqp_request_cache_flush_policy[VQP_ATTR_MAX + 1];

int vqp_request_ns_add(struct sk_buff *skb, struct genl_info *info);
int vqp_request_ns_set(struct sk_buff *skb, struct genl_info *info);
int vqp_request_ns_del(struct sk_buff *skb, struct genl_info *info);
int vqp_request_meta_set(struct sk_buff *skb, struct genl_info *info);
int vqp_request_cache_flush(struct sk_buff *skb, struct genl_info *info);

#endif
