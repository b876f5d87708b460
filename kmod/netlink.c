// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include "api/api.h"
#include "base/counters.h"
#include "base/dct_cache.h"
#include "device/parent.h"
#include "device/peer.h"
#include "meta/server.h"
#include "netlink.h"
#include "ns/namespace.h"
#include "ns/sockets.h"
#include "queue/vqp.h"
#include "sock/hook.h"
#include "sock/table.h"

static struct genl_family nl_family;

static const struct nla_policy nl_meta_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NODE_GID]	= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES),
	[VQP_ATTR_EPOCH]	= { .type = NLA_U32 },
	[VQP_ATTR_QKEY]		= { .type = NLA_U32 },
	[VQP_ATTR_LANE_QPN]	= NLA_POLICY_MASK(NLA_U32, 0xffffff),
	[VQP_ATTR_META_KEY]	= { .type = NLA_U32 },
	[VQP_ATTR_META_ADDR]	= { .type = NLA_U64 },
	[VQP_ATTR_META_BUCKETS]	= NLA_POLICY_MIN(NLA_U32, 1),
};

/* Policies of 6.1 have it not const. */
static struct netlink_range_validation nl_ports = { .min = 1, .max = U16_MAX };

static const struct nla_policy nl_rule_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_PORT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &nl_ports),
	[VQP_ATTR_PORT_LAST]	= NLA_POLICY_FULL_RANGE(NLA_U32, &nl_ports),
	[VQP_ATTR_GID]		= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES),
	[VQP_ATTR_PREFIX_BITS]	= NLA_POLICY_MAX(NLA_U8, 8 * VQP_GID_BYTES),
	[VQP_ATTR_EXCEPT]	= { .type = NLA_FLAG },
};

#define NL_POLICY_TERMS								\
	[VQP_ATTR_MAX_VQPS]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_MRS]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_BYTES]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_RATE]	= { .type = NLA_U64 },				\
	[VQP_ATTR_PRIORITY]	= NLA_POLICY_RANGE(NLA_U8, VQP_PRIORITY_LOW, VQP_PRIORITY_HIGH), \
	[VQP_ATTR_SOCKETS]	= NLA_POLICY_MAX(NLA_U8, 1),			\
	[VQP_ATTR_SOCKETS_RULE]	= NLA_POLICY_NESTED(nl_rule_policy)

#define NL_POLICY_ADDRESS							\
	[VQP_ATTR_TENANT]	= { .type = NLA_U32 },				\
	[VQP_ATTR_GID]		= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES)

static const struct nla_policy nl_ns_add_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	[VQP_ATTR_NAME]		= { .type = NLA_NUL_STRING, .len = VQP_NAME_MAX - 1 },
	[VQP_ATTR_EXCLUSIVE]	= { .type = NLA_FLAG },
	NL_POLICY_ADDRESS,
	NL_POLICY_TERMS,
};

static const struct nla_policy nl_ns_set_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	NL_POLICY_ADDRESS,
	NL_POLICY_TERMS,
};

static const struct nla_policy nl_ns_del_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_NETNS_FD]	= { .type = NLA_U32 },
	[VQP_ATTR_NAME]		= { .type = NLA_NUL_STRING, .len = VQP_NAME_MAX - 1 },
	[VQP_ATTR_NETNS_INO]	= NLA_POLICY_MIN(NLA_U32, 1),
	[VQP_ATTR_NO_WAIT]	= { .type = NLA_FLAG },
	NL_POLICY_ADDRESS,
};

static const struct nla_policy nl_meta_set_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_META]		= NLA_POLICY_NESTED(nl_meta_policy),
};

static const struct nla_policy nl_cache_flush_policy[VQP_ATTR_MAX + 1] = {
	NL_POLICY_ADDRESS,
};

/* For commands without attributes: the kernel refuses attributes that a policy does not name. */
static const struct nla_policy nl_no_policy[VQP_ATTR_MAX + 1];

/* ---- Requests ---- */

static struct net *nl_get_net(struct genl_info *info)
{
	struct nlattr *fd = info->attrs[VQP_ATTR_NETNS_FD];

	if (!fd)
		return ERR_PTR(-EINVAL);
	return get_net_ns_by_fd(nla_get_u32(fd));
}

/* A limit, or VQP_LIMIT_KEEP. At most S64_MAX, because an s64 counts what is used. */
static int nl_get_limit(struct genl_info *info, int type, u64 min, u64 *max)
{
	struct nlattr *attr = info->attrs[type];

	*max = attr ? nla_get_u64(attr) : VQP_LIMIT_KEEP;
	if (!attr || *max == VQP_UNLIMITED || (*max >= min && *max <= S64_MAX))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "a limit that is out of range");
	return -ERANGE;
}

/* One nested VQP_ATTR_SOCKETS_RULE. */
static int nl_parse_rule(struct nlattr *nest, struct vqp_sockets_rule *rule,
			 struct genl_info *info)
{
	struct nlattr *a[VQP_ATTR_MAX + 1], *port, *last, *gid, *bits;
	int ret;

	ret = nla_parse_nested(a, VQP_ATTR_MAX, nest, nl_rule_policy, info->extack);
	if (ret)
		return ret;
	port = a[VQP_ATTR_PORT];
	last = a[VQP_ATTR_PORT_LAST];
	gid = a[VQP_ATTR_GID];
	bits = a[VQP_ATTR_PREFIX_BITS];
	if (!port != !last || !gid != !bits || !port == !gid ||
	    (port && nla_get_u32(port) > nla_get_u32(last))) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest,
				    "a rule has port and port-last, or gid and prefix-bits");
		return -EINVAL;
	}
	rule->except = nla_get_flag(a[VQP_ATTR_EXCEPT]);
	if (port) {
		rule->port = nla_get_u32(port);
		rule->last = nla_get_u32(last);
	} else {
		memcpy(rule->gid, nla_data(gid), VQP_GID_BYTES);
		rule->bits = nla_get_u8(bits);
	}
	return 0;
}

static u32 nl_count_rules(struct genl_info *info)
{
	struct nlattr *attr;
	u32 count = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == VQP_ATTR_SOCKETS_RULE;
	return count;
}

static int nl_parse_rules(struct vqp_sockets *sockets, struct genl_info *info)
{
	struct nlattr *nest;
	int rem, ret = 0;
	u32 i = 0;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (!ret && nla_type(nest) == VQP_ATTR_SOCKETS_RULE)
			ret = nl_parse_rule(nest, &sockets->rules[i++], info);
	}
	return ret;
}

/* The sockets of a request, which are referenced, unless they are off or stay. */
static int nl_get_sockets(struct genl_info *info, struct vqp_ns_terms *terms)
{
	struct nlattr *on = info->attrs[VQP_ATTR_SOCKETS];
	const u32 nrules = nl_count_rules(info);
	int ret;

	terms->keep_sockets = !on;
	terms->sockets = NULL;
	if (nrules > VQP_SOCKETS_RULES_MAX) {
		GENL_SET_ERR_MSG(info, "too many rules of sockets");
		return -E2BIG;
	}
	if (!on || !nla_get_u8(on)) {
		if (nrules)
			GENL_SET_ERR_MSG(info, "rules come with sockets that are on");
		return nrules ? -EINVAL : 0;
	}
	terms->sockets = vqp_sockets_make(nrules);
	if (!terms->sockets)
		return -ENOMEM;
	ret = nl_parse_rules(terms->sockets, info);
	if (ret)
		vqp_sockets_put(terms->sockets);
	return ret;
}

/*
 * The terms of a request, whose sockets the caller puts. With a rate below VQP_RATE_MIN a VQP among
 * many might have to wait for its turn so long that its target forgets the flow.
 */
static int nl_get_terms(struct genl_info *info, struct vqp_ns_terms *terms)
{
	struct nlattr *priority = info->attrs[VQP_ATTR_PRIORITY];

	terms->max[VQP_LIMIT_STREAMS] = VQP_LIMIT_KEEP;
	terms->priority = priority ? nla_get_u8(priority) : 0;
	return nl_get_limit(info, VQP_ATTR_MAX_VQPS, 0, &terms->max[VQP_LIMIT_VQPS]) ?:
	       nl_get_limit(info, VQP_ATTR_MAX_MRS, 0, &terms->max[VQP_LIMIT_MRS]) ?:
	       nl_get_limit(info, VQP_ATTR_MAX_BYTES, 0, &terms->max[VQP_LIMIT_BYTES]) ?:
	       nl_get_limit(info, VQP_ATTR_MAX_RATE, VQP_RATE_MIN, &terms->max_rate) ?:
	       nl_get_sockets(info, terms);
}

static int nl_ns_add(struct sk_buff *skb, struct genl_info *info)
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
	ret = nl_get_terms(info, &terms);
	if (ret)
		return ret;
	net = nl_get_net(info);
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

static int nl_found(struct genl_info *info, int ret)
{
	if (ret == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no such VQP namespace");
	return ret;
}

static int nl_ns_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct nlattr *ino = a[VQP_ATTR_NETNS_INO], *name = a[VQP_ATTR_NAME];
	const bool wait = !nla_get_flag(a[VQP_ATTR_NO_WAIT]);
	struct net *net;
	int ret;

	if (a[VQP_ATTR_TENANT] && a[VQP_ATTR_GID])
		return nl_found(info, vqp_ns_del(nla_get_u32(a[VQP_ATTR_TENANT]),
						 nla_data(a[VQP_ATTR_GID]),
						 ino ? nla_get_u32(ino) : 0,
						 name ? nla_data(name) : NULL, wait));
	if (ino || name) {
		GENL_SET_ERR_MSG(info, "netns-ino and name are conditions of tenant and gid");
		return -EINVAL;
	}
	net = nl_get_net(info);
	if (IS_ERR(net))
		return PTR_ERR(net);
	ret = vqp_ns_del_net(net, wait);
	put_net(net);
	return nl_found(info, ret);
}

static int nl_set_terms(struct genl_info *info, const struct vqp_ns_terms *terms)
{
	struct nlattr **a = info->attrs;
	struct net *net;
	int ret;

	if (a[VQP_ATTR_TENANT] && a[VQP_ATTR_GID])
		return vqp_ns_set(nla_get_u32(a[VQP_ATTR_TENANT]), nla_data(a[VQP_ATTR_GID]),
				  terms);
	net = nl_get_net(info);
	if (IS_ERR(net))
		return PTR_ERR(net);
	ret = vqp_ns_set_net(net, terms);
	put_net(net);
	return ret;
}

static int nl_ns_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vqp_ns_terms terms;
	int ret;

	ret = nl_get_terms(info, &terms);
	if (ret)
		return ret;
	ret = nl_set_terms(info, &terms);
	vqp_sockets_put(terms.sockets);
	return nl_found(info, ret);
}

/* One nested VQP_ATTR_META. */
static int nl_parse_meta(struct nlattr *nest, struct vqp_meta_table *t, struct genl_info *info)
{
	struct nlattr *a[VQP_ATTR_MAX + 1], *lane;
	int rem, ret;

	ret = nla_parse_nested(a, VQP_ATTR_MAX, nest, nl_meta_policy, info->extack);
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

static int nl_meta_set(struct sk_buff *skb, struct genl_info *info)
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
		ret = nl_parse_meta(nest, &tables[count++], info);
		if (ret)
			return ret;
	}
	return vqp_meta_set(tables, count);
}

static int nl_cache_flush(struct sk_buff *skb, struct genl_info *info)
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

/* ---- Answers ---- */

/* With a Q_Key, or a meta table's key, any user of uverbs could send packets as a kernel does. */
static bool nl_may_see_keys(const struct sk_buff *request)
{
	return netlink_capable(request, CAP_NET_ADMIN);
}

static int nl_put_dct(struct sk_buff *skb, const struct vqp_dct *dct, bool keys)
{
	u32 i;

	if (nla_put(skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, dct->node_gid) ||
	    nla_put_u32(skb, VQP_ATTR_EPOCH, dct->epoch) ||
	    (keys && nla_put_u32(skb, VQP_ATTR_QKEY, dct->qkey)))
		return -EMSGSIZE;
	for (i = 0; i < dct->lanes; i++)
		if (nla_put_u32(skb, VQP_ATTR_LANE_QPN, dct->qpn[i]))
			return -EMSGSIZE;
	return 0;
}

static int nl_put_counter(struct sk_buff *skb, const char *name, const u64 *made,
			  const u64 *freed, const u64 *value)
{
	struct nlattr *nest = nla_nest_start(skb, VQP_ATTR_COUNTER);

	if (!nest || nla_put_string(skb, VQP_ATTR_COUNTER_NAME, name) ||
	    (made && nla_put_u64_64bit(skb, VQP_ATTR_COUNTER_MADE, *made, VQP_ATTR_PAD)) ||
	    (freed && nla_put_u64_64bit(skb, VQP_ATTR_COUNTER_FREED, *freed, VQP_ATTR_PAD)) ||
	    (value && nla_put_u64_64bit(skb, VQP_ATTR_COUNTER_VALUE, *value, VQP_ATTR_PAD)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int nl_put_counters(struct sk_buff *skb)
{
	struct vqp_counters sum;
	int i, ret = 0;

	vqp_counters_sum(&sum);
	for (i = 0; i < VQP_OBJ_MAX && !ret; i++)
		ret = nl_put_counter(skb, vqp_object_names[i], &sum.made[i], &sum.freed[i], NULL);
	for (i = 0; i < VQP_EV_MAX && !ret; i++)
		ret = nl_put_counter(skb, vqp_event_names[i], NULL, NULL, &sum.events[i]);
	return ret;
}

static int nl_put_parent(struct sk_buff *skb, bool keys)
{
	struct vqp_parent *parent;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return 0;
	if (nla_put_string(skb, VQP_ATTR_PARENT, dev_name(&parent->dev->dev)) ||
	    nl_put_dct(skb, &parent->dct, keys) ||
	    nla_put_u32(skb, VQP_ATTR_MTU, parent->mtu) ||
	    nla_put_u64_64bit(skb, VQP_ATTR_POOL_BYTES, parent->pool_bytes, VQP_ATTR_PAD))
		ret = -EMSGSIZE;
	vqp_parent_leave(token);
	return ret;
}

static int nl_status_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr;
	int ret = -EMSGSIZE;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &nl_family, 0, VQP_CMD_STATUS_GET);
	if (!hdr)
		goto free;
	ret = nl_put_parent(msg, nl_may_see_keys(skb));
	if (!ret)
		ret = nla_put_u32(msg, VQP_ATTR_HOOK, vqp_hook_state());
	if (!ret)
		ret = nl_put_counters(msg);
	if (ret)
		goto free;
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
free:
	nlmsg_free(msg);
	return ret;
}

/*
 * ---- Dumps. cb->args[0] is the number of items dumped, or of the next one; and args[1] the place
 * inside one. ----
 */

struct nl_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static void *nl_dump_put(struct nl_dump *d, u8 cmd)
{
	void *hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
				&nl_family, NLM_F_MULTI, cmd);

	/* If the table has changed since the dump began, the reader is told to start again. */
	if (hdr)
		genl_dump_check_consistent(d->cb, hdr);
	return hdr;
}

/* End the message of one item. Returns -EMSGSIZE if the item did not fit. */
static int nl_dump_end(struct nl_dump *d, void *hdr, bool fits)
{
	if (!fits) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	return 0;
}

static bool nl_put_ns_id(struct sk_buff *skb, u32 tenant, const u8 *gid)
{
	return !nla_put_u32(skb, VQP_ATTR_TENANT, tenant) &&
	       !nla_put(skb, VQP_ATTR_GID, VQP_GID_BYTES, gid);
}

static u64 nl_used(const struct vqp_ns *ns, enum vqp_limited what)
{
	return atomic64_read(&ns->limits[what].used);
}

static u64 nl_max(const struct vqp_ns *ns, enum vqp_limited what)
{
	return READ_ONCE(ns->limits[what].max);
}

static bool nl_put_rule(struct sk_buff *skb, const struct vqp_sockets_rule *rule)
{
	struct nlattr *nest = nla_nest_start(skb, VQP_ATTR_SOCKETS_RULE);
	bool fits;

	if (!nest || (rule->except && nla_put_flag(skb, VQP_ATTR_EXCEPT)))
		return false;
	if (rule->port)
		fits = !nla_put_u32(skb, VQP_ATTR_PORT, rule->port) &&
		       !nla_put_u32(skb, VQP_ATTR_PORT_LAST, rule->last);
	else
		fits = !nla_put(skb, VQP_ATTR_GID, VQP_GID_BYTES, rule->gid) &&
		       !nla_put_u8(skb, VQP_ATTR_PREFIX_BITS, rule->bits);
	nla_nest_end(skb, nest);
	return fits;
}

/* With all rules that there can be, a namespace fits into the smallest message of a dump. */
static bool nl_put_sockets(struct sk_buff *skb, const struct vqp_ns *ns)
{
	const struct vqp_sockets *sockets;
	bool fits;
	u32 i;

	rcu_read_lock();
	sockets = rcu_dereference(ns->sockets);
	fits = !nla_put_u8(skb, VQP_ATTR_SOCKETS, !!sockets);
	for (i = 0; fits && sockets && i < sockets->nrules; i++)
		fits = nl_put_rule(skb, &sockets->rules[i]);
	rcu_read_unlock();
	return fits;
}

static int nl_dump_one_ns(struct vqp_ns *ns, void *arg)
{
	struct nl_dump *d = arg;
	void *hdr = nl_dump_put(d, VQP_CMD_NS_GET);

	return !hdr ? -EMSGSIZE : nl_dump_end(d, hdr,
		nl_put_ns_id(d->skb, ns->tenant, ns->gid) &&
		!nla_put_string(d->skb, VQP_ATTR_NAME, ns->name) &&
		!nla_put_u32(d->skb, VQP_ATTR_NETNS_INO, ns->netns_ino) &&
		!nla_put_u32(d->skb, VQP_ATTR_VQPS, nl_used(ns, VQP_LIMIT_VQPS)) &&
		!nla_put_u32(d->skb, VQP_ATTR_MRS, nl_used(ns, VQP_LIMIT_MRS)) &&
		!nla_put_u32(d->skb, VQP_ATTR_CONTEXTS, atomic_read(&ns->nowners)) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_PINNED_BYTES, nl_used(ns, VQP_LIMIT_BYTES),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_VQPS, nl_max(ns, VQP_LIMIT_VQPS),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_MRS, nl_max(ns, VQP_LIMIT_MRS),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_BYTES, nl_max(ns, VQP_LIMIT_BYTES),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_RATE, vqp_throttle_max(&ns->throttle),
				   VQP_ATTR_PAD) &&
		!nla_put_u8(d->skb, VQP_ATTR_PRIORITY, READ_ONCE(ns->priority)) &&
		nl_put_sockets(d->skb, ns));
}

static int nl_ns_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_ns_walk(cb->args[0], &cb->seq, nl_dump_one_ns, &d);
	return skb->len;
}

static int nl_dump_one_vqp(struct nl_dump *d, struct vqp_ns *ns, struct vqp *vqp)
{
	void *hdr = nl_dump_put(d, VQP_CMD_VQP_GET);
	struct vqp_query_qp q;

	if (!hdr)
		return -EMSGSIZE;
	vqp_query(vqp, &q);
	return nl_dump_end(d, hdr,
		nl_put_ns_id(d->skb, ns->tenant, ns->gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_QP_NUM, q.qp_num) &&
		!nla_put_u32(d->skb, VQP_ATTR_QP_STATE, q.state) &&
		!nla_put_u32(d->skb, VQP_ATTR_CARRIER, q.carrier) &&
		!nla_put_u32(d->skb, VQP_ATTR_PORT, q.port) &&
		!nla_put(d->skb, VQP_ATTR_REMOTE_GID, VQP_GID_BYTES, q.remote_gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_REMOTE_PORT, q.remote_port) &&
		!nla_put_u32(d->skb, VQP_ATTR_SENDS_PENDING, q.sends_pending) &&
		!nla_put_u32(d->skb, VQP_ATTR_RECVS_PENDING, q.recvs_pending) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_MSGS, READ_ONCE(vqp->tx_msgs),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_MSGS, READ_ONCE(vqp->rx_msgs),
				   VQP_ATTR_PAD));
}

static int nl_dump_ns_vqps(struct vqp_ns *ns, void *arg)
{
	struct nl_dump *d = arg;
	unsigned long qp_num;
	struct vqp *vqp;
	int ret;

	xa_for_each_start(&ns->vqps, qp_num, vqp, d->cb->args[1]) {
		vqp = vqp_find(ns, qp_num, 0);
		if (!vqp)
			continue;
		ret = nl_dump_one_vqp(d, ns, vqp);
		vqp_put(vqp);
		if (ret) {
			d->cb->args[1] = qp_num;
			return ret;
		}
	}
	d->cb->args[1] = 0;
	return 0;
}

static int nl_vqp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_ns_walk(cb->args[0], &cb->seq, nl_dump_ns_vqps, &d);
	return skb->len;
}

static int nl_dump_one_peer(struct vqp_peer *peer, void *arg)
{
	struct nl_dump *d = arg;
	void *hdr = nl_dump_put(d, VQP_CMD_PEER_GET);

	return !hdr ? -EMSGSIZE : nl_dump_end(d, hdr,
		!nla_put(d->skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, peer->gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_EPOCH, READ_ONCE(peer->epoch)) &&
		(!nl_may_see_keys(d->cb->skb) ||
		 !nla_put_u32(d->skb, VQP_ATTR_QKEY, READ_ONCE(peer->qkey))) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_PACKETS, READ_ONCE(peer->tx_packets),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_PACKETS, READ_ONCE(peer->rx_packets),
				   VQP_ATTR_PAD));
}

static int nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_peer_walk(cb->args[0], nl_dump_one_peer, &d);
	return skb->len;
}

static bool nl_put_meta(struct sk_buff *skb, const struct vqp_meta_table *t, bool keys)
{
	struct nlattr *nest = nla_nest_start(skb, VQP_ATTR_META);

	if (!nest || nl_put_dct(skb, &t->dct, keys) ||
	    (keys && nla_put_u32(skb, VQP_ATTR_META_KEY, t->key)) ||
	    nla_put_u64_64bit(skb, VQP_ATTR_META_ADDR, t->addr, VQP_ATTR_PAD) ||
	    nla_put_u32(skb, VQP_ATTR_META_BUCKETS, t->buckets))
		return false;
	nla_nest_end(skb, nest);
	return true;
}

static int nl_dump_one_meta(const struct vqp_meta_table *table, void *arg)
{
	struct nl_dump *d = arg;
	void *hdr = nl_dump_put(d, VQP_CMD_META_GET);

	if (!hdr)
		return -EMSGSIZE;
	return nl_dump_end(d, hdr, nl_put_meta(d->skb, table, nl_may_see_keys(d->cb->skb)));
}

static int nl_meta_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_meta_walk(cb->args[0], nl_dump_one_meta, &d);
	return skb->len;
}

static int nl_dump_one_cached(u32 tenant, const u8 *gid, const struct vqp_dct *dct, void *arg)
{
	struct nl_dump *d = arg;
	void *hdr = nl_dump_put(d, VQP_CMD_CACHE_GET);

	return !hdr ? -EMSGSIZE : nl_dump_end(d, hdr,
		nl_put_ns_id(d->skb, tenant, gid) &&
		!nla_put(d->skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, dct->node_gid));
}

static int nl_cache_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_dct_cache_walk(cb->args[0], nl_dump_one_cached, &d);
	return skb->len;
}

static int nl_dump_one_sock(const struct vqp_sock_info *info, void *arg)
{
	struct nl_dump *d = arg;
	void *hdr = nl_dump_put(d, VQP_CMD_SOCK_GET);

	return !hdr ? -EMSGSIZE : nl_dump_end(d, hdr,
		nl_put_ns_id(d->skb, info->tenant, info->names.local) &&
		!nla_put_u32(d->skb, VQP_ATTR_NETNS_INO, info->netns_ino) &&
		!nla_put_u32(d->skb, VQP_ATTR_SOCK_KIND, info->kind) &&
		!nla_put_u32(d->skb, VQP_ATTR_TCP_STATE, info->tcp_state) &&
		!nla_put_u32(d->skb, VQP_ATTR_PORT, info->names.local_port) &&
		!nla_put(d->skb, VQP_ATTR_REMOTE_GID, VQP_GID_BYTES, info->names.remote) &&
		!nla_put_u32(d->skb, VQP_ATTR_REMOTE_PORT, info->names.remote_port) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_BYTES, info->tx_bytes, VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_BYTES, info->rx_bytes, VQP_ATTR_PAD) &&
		!nla_put_u32(d->skb, VQP_ATTR_RECV_QUEUE, info->recv_queue) &&
		!nla_put_u32(d->skb, VQP_ATTR_SEND_QUEUE, info->send_queue) &&
		!nla_put_u32(d->skb, VQP_ATTR_WINDOW, info->window));
}

/* Sockets come and go all the time: one that does so during the dump may be in it or not. */
static int nl_sock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_dump d = { skb, cb };

	cb->args[0] = vqp_sock_walk(cb->args[0], nl_dump_one_sock, &d);
	return skb->len;
}

static const struct genl_ops nl_ops[] = {
	{ .cmd = VQP_CMD_NS_ADD, .policy = nl_ns_add_policy, .flags = GENL_ADMIN_PERM,
	  .doit = nl_ns_add },
	{ .cmd = VQP_CMD_NS_DEL, .policy = nl_ns_del_policy, .flags = GENL_ADMIN_PERM,
	  .doit = nl_ns_del },
	{ .cmd = VQP_CMD_NS_SET, .policy = nl_ns_set_policy, .flags = GENL_ADMIN_PERM,
	  .doit = nl_ns_set },
	{ .cmd = VQP_CMD_META_SET, .policy = nl_meta_set_policy, .flags = GENL_ADMIN_PERM,
	  .doit = nl_meta_set },
	{ .cmd = VQP_CMD_CACHE_FLUSH, .policy = nl_cache_flush_policy, .flags = GENL_ADMIN_PERM,
	  .doit = nl_cache_flush },
	{ .cmd = VQP_CMD_STATUS_GET, .doit = nl_status_get },
	{ .cmd = VQP_CMD_NS_GET, .dumpit = nl_ns_dump },
	{ .cmd = VQP_CMD_VQP_GET, .dumpit = nl_vqp_dump },
	{ .cmd = VQP_CMD_PEER_GET, .dumpit = nl_peer_dump },
	{ .cmd = VQP_CMD_META_GET, .dumpit = nl_meta_dump },
	{ .cmd = VQP_CMD_CACHE_GET, .dumpit = nl_cache_dump },
	/* Who talks to whom in containers is not for everybody on the node. */
	{ .cmd = VQP_CMD_SOCK_GET, .flags = GENL_ADMIN_PERM, .dumpit = nl_sock_dump },
};

static struct genl_family nl_family = {
	.name = VQP_GENL_NAME,
	.version = VQP_GENL_VERSION,
	/* These are for commands without a policy of their own. */
	.maxattr = VQP_ATTR_MAX,
	.policy = nl_no_policy,
	.module = THIS_MODULE,
	/* The end of a namespace may take seconds, and must not hold up other commands. */
	.parallel_ops = true,
	.ops = nl_ops,
	.n_ops = ARRAY_SIZE(nl_ops),
	/* The kernel checks the reserved header fields of all commands. */
	.resv_start_op = 0,
};

int __init vqp_netlink_init(void)
{
	return genl_register_family(&nl_family);
}

void vqp_netlink_exit(void)
{
	genl_unregister_family(&nl_family);
}
