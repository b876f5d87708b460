// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/capability.h>
#include <linux/netlink.h>
#include <net/netlink.h>
#include <linux/vqp.h>
#include "base/dct_cache.h"
#include "netlink/answer.h"

bool vqp_answer_may_have_keys(const struct sk_buff *request)
{
	return netlink_capable(request, CAP_NET_ADMIN);
}

int vqp_answer_put_dct(struct sk_buff *skb, const struct vqp_dct *dct, bool keys)
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

int vqp_answer_put_counter(struct sk_buff *skb, const char *name, const u64 *made,
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
