// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/log2.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include "base/dct_cache.h"
#include "meta/server.h"
#include "netlink/request.h"
#include "netlink/terms.h"
#include "ns/namespace.h"
#include "ns/sockets.h"

static const struct nla_policy request_meta_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NODE_GID]	= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES),
	[VQP_ATTR_EPOCH]	= { .type = NLA_U32 },
	[VQP_ATTR_QKEY]		= { .type = NLA_U32 },
	[VQP_ATTR_LANE_QPN]	= NLA_POLICY_MASK(NLA_U32, 0xffffff),
	[VQP_ATTR_META_KEY]	= { .type = NLA_U32 },
	[VQP_ATTR_META_ADDR]	= { .type = NLA_U64 },
	[VQP_ATTR_META_BUCKETS]	= NLA_POLICY_MIN(NLA_U32, 1),
};

#define REQUEST_POLICY_ADDRESS							\
	[VQP_ATTR_TENANT]	= { .type = NLA_U32 },				\
	[VQP_ATTR_GID]		= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES)

const struct nla_policy vqp_request_ns_add_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	[VQP_ATTR_NAME]		= { .type = NLA_NUL_STRING, .len = VQP_NAME_MAX - 1 },
	[VQP_ATTR_EXCLUSIVE]	= { .type = NLA_FLAG },
	REQUEST_POLICY_ADDRESS,
	VQP_TERMS_POLICY,
};

const struct nla_policy vqp_request_ns_set_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	REQUEST_POLICY_ADDRESS,
	VQP_TERMS_POLICY,
};

const struct nla_policy vqp_request_ns_del_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	[VQP_ATTR_NAME]		= { .type = NLA_NUL_STRING, .len = VQP_NAME_MAX - 1 },
	[VQP_ATTR_NETNS_INO]	= NLA_POLICY_MIN(NLA_U32, 1),
	[VQP_ATTR_NO_WAIT]	= { .type = NLA_FLAG },
	REQUEST_POLICY_ADDRESS,
};

const struct nla_policy vqp_request_meta_set_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_META]		= NLA_POLICY_NESTED(request_meta_policy),
};

const struct nla_policy vqp_request_cache_flush_policy[VQP_ATTR_MAX + 1] = {
	REQUEST_POLICY_ADDRESS,
};

static struct net *request_get_net(struct genl_info *info)
{
	struct nlattr *fd = info->attrs[VQP_ATTR_NETNS_FD];

	if (!fd)
		return ERR_PTR(-EINVAL);
	return get_net_ns_by_fd(nla_get_u32(fd));
}

int vqp_request_ns_add(struct sk_buff *skb, struct genl_info *info)
{
	const bool exclusive = nla_get_flag(info->attrs[VQP_ATTR_EXCLUSIVE]);
	struct nlattr **a = info->attrs;
	struct vqp_ns_terms terms;
	struct net *net;
	int ret;

	if (!a[VQP_ATTR_TENANT] || !a[VQP_ATTR_GID]) {
		GENL_SET_ERR_MSG(info, "tenant and gid are needed");
		return -EINVAL;
	}
	ret = vqp_terms_get(info, &terms);
	if (ret)
		return ret;
	net = request_get_net(info);
	if (IS_ERR(net)) {
		GENL_SET_ERR_MSG(info, "no network namespace behind netns-fd");
		ret = PTR_ERR(net);
		goto put_sockets;
	}
	ret = vqp_ns_add(net, nla_get_u32(a[VQP_ATTR_TENANT]), nla_data(a[VQP_ATTR_GID]),
			 a[VQP_ATTR_NAME] ? nla_data(a[VQP_ATTR_NAME]) : "", &terms, exclusive);
	put_net(net);
	if (ret == -EEXIST && exclusive)
		GENL_SET_ERR_MSG(info, "it is there, or the netns has one of another tenant");
	else if (ret == -EEXIST)
		GENL_SET_ERR_MSG(info, "the network namespace has one of another tenant");
	if (ret == -EADDRINUSE)
		GENL_SET_ERR_MSG(info, "the tenant's address is taken on this node");
put_sockets:
	vqp_sockets_put(terms.sockets);
	return ret;
}

static int request_found(struct genl_info *info, int ret)
{
	if (ret == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no such VQP namespace");
	return ret;
}

int vqp_request_ns_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct nlattr *ino = a[VQP_ATTR_NETNS_INO], *name = a[VQP_ATTR_NAME];
	const bool wait = !nla_get_flag(a[VQP_ATTR_NO_WAIT]);
	struct net *net;
	int ret;

	if (a[VQP_ATTR_TENANT] && a[VQP_ATTR_GID])
		return request_found(info, vqp_ns_del(nla_get_u32(a[VQP_ATTR_TENANT]),
						 nla_data(a[VQP_ATTR_GID]),
						 ino ? nla_get_u32(ino) : 0,
						 name ? nla_data(name) : NULL, wait));
	if (ino || name) {
		GENL_SET_ERR_MSG(info, "netns-ino and name are conditions of tenant and gid");
		return -EINVAL;
	}
	net = request_get_net(info);
	if (IS_ERR(net))
		return PTR_ERR(net);
	ret = vqp_ns_del_net(net, wait);
	put_net(net);
	return request_found(info, ret);
}

static int request_set_terms(struct genl_info *info, const struct vqp_ns_terms *terms)
{
	struct nlattr **a = info->attrs;
	struct net *net;
	int ret;

	if (a[VQP_ATTR_TENANT] && a[VQP_ATTR_GID])
		return vqp_ns_set(nla_get_u32(a[VQP_ATTR_TENANT]), nla_data(a[VQP_ATTR_GID]),
				  terms);
	net = request_get_net(info);
	if (IS_ERR(net))
		return PTR_ERR(net);
	ret = vqp_ns_set_net(net, terms);
	put_net(net);
	return ret;
}

int vqp_request_ns_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vqp_ns_terms terms;
	int ret;

	ret = vqp_terms_get(info, &terms);
	if (ret)
		return ret;
	ret = request_set_terms(info, &terms);
	vqp_sockets_put(terms.sockets);
	return request_found(info, ret);
}

/* One nested VQP_ATTR_META. */
static int request_parse_meta(struct nlattr *nest, struct vqp_meta_table *t, struct genl_info *info)
{
	struct nlattr *a[VQP_ATTR_MAX + 1], *lane;
	int rem, ret;

	ret = nla_parse_nested(a, VQP_ATTR_MAX, nest, request_meta_policy, info->extack);
	if (ret)
		return ret;
	if (!a[VQP_ATTR_NODE_GID] || !a[VQP_ATTR_EPOCH] || !a[VQP_ATTR_QKEY] ||
	    !a[VQP_ATTR_LANE_QPN] || !a[VQP_ATTR_META_KEY] || !a[VQP_ATTR_META_ADDR] ||
	    !a[VQP_ATTR_META_BUCKETS])
		return -EINVAL;
	*t = (struct vqp_meta_table) {
		.dct.epoch = nla_get_u32(a[VQP_ATTR_EPOCH]),
		.dct.qkey = nla_get_u32(a[VQP_ATTR_QKEY]),
		.key = nla_get_u32(a[VQP_ATTR_META_KEY]),
		.addr = nla_get_u64(a[VQP_ATTR_META_ADDR]),
		.buckets = nla_get_u32(a[VQP_ATTR_META_BUCKETS]),
	};
	memcpy(t->dct.node_gid, nla_data(a[VQP_ATTR_NODE_GID]), VQP_GID_BYTES);
	nla_for_each_nested(lane, nest, rem) {
		if (nla_type(lane) != VQP_ATTR_LANE_QPN)
			continue;
		if (t->dct.lanes == VQP_WIRE_LANES_MAX)
			return -E2BIG;
		t->dct.qpn[t->dct.lanes++] = nla_get_u32(lane);
	}
	return is_power_of_2(t->buckets) ? 0 : -EINVAL;
}

int vqp_request_meta_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vqp_meta_table tables[VQP_META_MAX];
	struct nlattr *nest;
	u32 count = 0;
	int rem, ret;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(nest) != VQP_ATTR_META)
			continue;
		if (count == VQP_META_MAX)
			return -E2BIG;
		ret = request_parse_meta(nest, &tables[count++], info);
		if (ret)
			return ret;
	}
	return vqp_meta_set(tables, count);
}

int vqp_request_cache_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;

	if (!a[VQP_ATTR_TENANT] != !a[VQP_ATTR_GID])
		return -EINVAL;
	if (a[VQP_ATTR_GID])
		vqp_dct_cache_forget(nla_get_u32(a[VQP_ATTR_TENANT]), nla_data(a[VQP_ATTR_GID]));
	else
		vqp_dct_cache_clear();
	return 0;
}
