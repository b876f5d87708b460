// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <net/genetlink.h>
#include "netlink/terms.h"
#include "ns/namespace.h"
#include "ns/sockets.h"

/* Policies of 6.1 have it not const. */
static struct netlink_range_validation terms_ports = { .min = 1, .max = U16_MAX };

const struct nla_policy vqp_terms_rule_policy[VQP_ATTR_MAX + 1] = {
	[VQP_ATTR_PORT]		= NLA_POLICY_FULL_RANGE(NLA_U32, &terms_ports),
	[VQP_ATTR_PORT_LAST]	= NLA_POLICY_FULL_RANGE(NLA_U32, &terms_ports),
	[VQP_ATTR_GID]		= NLA_POLICY_EXACT_LEN(VQP_GID_BYTES),
	[VQP_ATTR_PREFIX_BITS]	= NLA_POLICY_MAX(NLA_U8, 8 * VQP_GID_BYTES),
	[VQP_ATTR_EXCEPT]	= { .type = NLA_FLAG },
};

/* A limit, or VQP_LIMIT_KEEP. At most S64_MAX, because an s64 counts what is used. */
static int terms_get_limit(struct genl_info *info, int type, u64 min, u64 *max)
{
	struct nlattr *attr = info->attrs[type];

	*max = attr ? nla_get_u64(attr) : VQP_LIMIT_KEEP;
	if (!attr || *max == VQP_UNLIMITED || (*max >= min && *max <= S64_MAX))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "a limit that is out of range");
	return -ERANGE;
}

/* One nested VQP_ATTR_SOCKETS_RULE. */
static int terms_parse_rule(struct nlattr *nest, struct vqp_sockets_rule *rule,
			    struct genl_info *info)
{
	struct nlattr *a[VQP_ATTR_MAX + 1], *port, *last, *gid, *bits;
	int ret;

	ret = nla_parse_nested(a, VQP_ATTR_MAX, nest, vqp_terms_rule_policy, info->extack);
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

static u32 terms_count_rules(struct genl_info *info)
{
	struct nlattr *attr;
	u32 count = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		count += nla_type(attr) == VQP_ATTR_SOCKETS_RULE;
	return count;
}

static int terms_parse_rules(struct vqp_sockets *sockets, struct genl_info *info)
{
	struct nlattr *nest;
	int rem, ret = 0;
	u32 i = 0;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rem) {
		if (!ret && nla_type(nest) == VQP_ATTR_SOCKETS_RULE)
			ret = terms_parse_rule(nest, &sockets->rules[i++], info);
	}
	return ret;
}

/* The sockets of a request, which are referenced, unless they are off or stay. */
static int terms_get_sockets(struct genl_info *info, struct vqp_ns_terms *terms)
{
	struct nlattr *on = info->attrs[VQP_ATTR_SOCKETS];
	const u32 nrules = terms_count_rules(info);
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
	ret = terms_parse_rules(terms->sockets, info);
	if (ret)
		vqp_sockets_put(terms->sockets);
	return ret;
}

int vqp_terms_get(struct genl_info *info, struct vqp_ns_terms *terms)
{
	struct nlattr *priority = info->attrs[VQP_ATTR_PRIORITY];

	terms->max[VQP_LIMIT_STREAMS] = VQP_LIMIT_KEEP;
	terms->priority = priority ? nla_get_u8(priority) : 0;
	return terms_get_limit(info, VQP_ATTR_MAX_VQPS, 0, &terms->max[VQP_LIMIT_VQPS]) ?:
	       terms_get_limit(info, VQP_ATTR_MAX_MRS, 0, &terms->max[VQP_LIMIT_MRS]) ?:
	       terms_get_limit(info, VQP_ATTR_MAX_BYTES, 0, &terms->max[VQP_LIMIT_BYTES]) ?:
	       terms_get_limit(info, VQP_ATTR_MAX_RATE, VQP_RATE_MIN, &terms->max_rate) ?:
	       terms_get_sockets(info, terms);
}
