// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include "api.h"
#include "ask.h"
#include "carrier.h"
#include "client.h"
#include "context.h"
#include "dc.h"
#include "dct_cache.h"
#include "fetch.h"
#include "loop.h"
#include "meta.h"
#include "netlink.h"
#include "node.h"
#include "ns.h"
#include "parent.h"
#include "peer.h"
#include "pull.h"
#include "qp.h"
#include "rc.h"
#include "responder.h"

static unsigned int lanes = VQP_WIRE_LANES_MAX;
module_param(lanes, uint, 0444);
MODULE_PARM_DESC(lanes, "UD QPs in the pool, at most 8 (default: one per CPU)");

/* What ends first when a parent or a namespace goes comes first. */
static void __init vqp_use(void)
{
	vqp_device_use(&vqp_dc_device_user);
	vqp_device_use(&vqp_rc_device_user);
	vqp_device_use(&vqp_ask_device_user);
	vqp_ns_use(&vqp_owners_ns_user);
	vqp_ns_use(&vqp_dc_ns_user);
	vqp_carrier_register(&vqp_loop_carrier);
	vqp_carrier_register(&vqp_dc_carrier);
	/* In this order they are asked whether they want a request. */
	vqp_carrier_register(&vqp_rc_carrier);
	vqp_carrier_register(&vqp_pull_carrier);
}

static int __init vqp_module_init(void)
{
	int ret;

	vqp_node_init(min3(max(lanes, 1U), num_online_cpus(), (u32)VQP_WIRE_LANES_MAX));
	vqp_use();
	ret = vqp_init();
	if (ret)
		return ret;
	ret = vqp_client_init();
	if (ret)
		goto err_vqp;
	ret = vqp_loop_init();
	if (ret)
		goto err_client;
	ret = vqp_responder_init();
	if (ret)
		goto err_loop;
	ret = vqp_ns_init();
	if (ret)
		goto err_responder;
	ret = vqp_peer_init();
	if (ret)
		goto err_ns;
	ret = vqp_rc_init();
	if (ret)
		goto err_peer;
	ret = vqp_ask_init();
	if (ret)
		goto err_rc;
	ret = vqp_pull_init();
	if (ret)
		goto err_ask;
	ret = vqp_parent_init();
	if (ret)
		goto err_pull;
	ret = vqp_netlink_init();
	if (ret)
		goto err_parent;
	/* Last: from here on functions come in. */
	ret = vqp_context_init();
	if (ret)
		goto err_netlink;
	return 0;

err_netlink:
	vqp_netlink_exit();
	vqp_meta_exit();
err_parent:
	vqp_parent_exit();
err_pull:
	vqp_pull_exit();
err_ask:
	vqp_ask_exit();
	vqp_fetch_exit();
err_rc:
	vqp_rc_exit();
err_peer:
	vqp_peer_exit();
err_ns:
	vqp_ns_exit();
err_responder:
	vqp_responder_exit();
err_loop:
	vqp_loop_exit();
err_client:
	vqp_client_exit();
err_vqp:
	vqp_exit();
	vqp_dct_cache_clear();
	return ret;
}

/* No context is open: each holds the module. */
static void __exit vqp_module_exit(void)
{
	vqp_context_exit();
	vqp_netlink_exit();
	vqp_meta_exit();
	vqp_parent_exit();
	vqp_pull_exit();
	vqp_ask_exit();
	vqp_fetch_exit();
	vqp_rc_exit();
	vqp_peer_exit();
	vqp_ns_exit();
	/* Until then namespaces let go of their contexts. */
	vqp_responder_exit();
	vqp_loop_exit();
	vqp_client_exit();
	vqp_exit();
	/* What was under way until now may have left something. */
	vqp_dct_cache_clear();
}

module_init(vqp_module_init);
module_exit(vqp_module_exit);
MODULE_DESCRIPTION("Virtual RDMA queue pairs for containers");
MODULE_LICENSE("Dual BSD/GPL");
