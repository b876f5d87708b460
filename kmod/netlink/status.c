// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <net/genetlink.h>
#include "base/counters.h"
#include "device/parent.h"
#include "netlink/answer.h"
#include "netlink/status.h"
#include "sock/hook.h"

static int status_put_counters(struct sk_buff *skb)
{
	struct vqp_counters sum;
	int i, ret = 0;

	vqp_counters_sum(&sum);
	for (i = 0; i < VQP_OBJ_MAX && !ret; i++)
		ret = vqp_answer_put_counter(skb, vqp_object_names[i], &sum.made[i],
					     &sum.freed[i], NULL);
	for (i = 0; i < VQP_EV_MAX && !ret; i++)
		ret = vqp_answer_put_counter(skb, vqp_event_names[i], NULL, NULL, &sum.events[i]);
	return ret;
}

static int status_put_parent(struct sk_buff *skb, bool keys)
{
	struct vqp_parent *parent;
	int token, ret = 0;

	parent = vqp_parent_enter(&token);
	if (!parent)
		return 0;
	if (nla_put_string(skb, VQP_ATTR_PARENT, dev_name(&parent->dev->dev)) ||
	    vqp_answer_put_dct(skb, &parent->dct, keys) ||
	    nla_put_u32(skb, VQP_ATTR_MTU, parent->mtu) ||
	    nla_put_u64_64bit(skb, VQP_ATTR_POOL_BYTES, parent->pool_bytes, VQP_ATTR_PAD))
		ret = -EMSGSIZE;
	vqp_parent_leave(token);
	return ret;
}

int vqp_status_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *hdr;
	int ret = -EMSGSIZE;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &vqp_netlink_family, 0, VQP_CMD_STATUS_GET);
	if (!hdr)
		goto free;
	ret = status_put_parent(msg, vqp_answer_may_have_keys(skb));
	if (!ret)
		ret = nla_put_u32(msg, VQP_ATTR_HOOK, vqp_hook_state());
	if (!ret)
		ret = status_put_counters(msg);
	if (ret)
		goto free;
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
free:
	nlmsg_free(msg);
	return ret;
}
