// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/module.h>
#include <net/genetlink.h>
#include <linux/vqp.h>
#include "netlink/answer.h"
#include "netlink/dump.h"
#include "netlink/netlink.h"
#include "netlink/request.h"
#include "netlink/status.h"

/* For commands without attributes: the kernel refuses attributes that a policy does not name. */
static const struct nla_policy netlink_no_policy[VQP_ATTR_MAX + 1];

static const struct genl_ops netlink_ops[] = {
	{ .cmd = VQP_CMD_NS_ADD, .policy = vqp_request_ns_add_policy, .flags = GENL_ADMIN_PERM,
	  .doit = vqp_request_ns_add },
	{ .cmd = VQP_CMD_NS_DEL, .policy = vqp_request_ns_del_policy, .flags = GENL_ADMIN_PERM,
	  .doit = vqp_request_ns_del },
	{ .cmd = VQP_CMD_NS_SET, .policy = vqp_request_ns_set_policy, .flags = GENL_ADMIN_PERM,
	  .doit = vqp_request_ns_set },
	{ .cmd = VQP_CMD_META_SET, .policy = vqp_request_meta_set_policy,
	  .flags = GENL_ADMIN_PERM, .doit = vqp_request_meta_set },
	{ .cmd = VQP_CMD_CACHE_FLUSH, .policy = vqp_request_cache_flush_policy,
	  .flags = GENL_ADMIN_PERM, .doit = vqp_request_cache_flush },
	{ .cmd = VQP_CMD_STATUS_GET, .doit = vqp_status_get },
	{ .cmd = VQP_CMD_NS_GET, .dumpit = vqp_dump_namespaces },
	{ .cmd = VQP_CMD_VQP_GET, .dumpit = vqp_dump_vqps },
	{ .cmd = VQP_CMD_PEER_GET, .dumpit = vqp_dump_peers },
	{ .cmd = VQP_CMD_META_GET, .dumpit = vqp_dump_metas },
	{ .cmd = VQP_CMD_CACHE_GET, .dumpit = vqp_dump_cache },
	/* Who talks to whom in containers is not for everybody on the node. */
	{ .cmd = VQP_CMD_SOCK_GET, .flags = GENL_ADMIN_PERM, .dumpit = vqp_dump_socks },
};

struct genl_family vqp_netlink_family = {
	.name = VQP_GENL_NAME,
	.version = VQP_GENL_VERSION,
	/* These are for commands without a policy of their own. */
	.maxattr = VQP_ATTR_MAX,
	.policy = netlink_no_policy,
	.module = THIS_MODULE,
	/* The end of a namespace may take seconds, and must not hold up other commands. */
	.parallel_ops = true,
	.ops = netlink_ops,
	.n_ops = ARRAY_SIZE(netlink_ops),
	/* The kernel checks the reserved header fields of all commands. */
	.resv_start_op = 0,
};

int __init vqp_netlink_init(void)
{
	return genl_register_family(&vqp_netlink_family);
}

void vqp_netlink_exit(void)
{
	genl_unregister_family(&vqp_netlink_family);
}
