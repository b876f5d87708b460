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
