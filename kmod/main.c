// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include "api/api.h"
#include "base/dct_cache.h"
#include "base/node.h"
#include "dc/dc.h"
#include "dc/responder.h"
#include "dev/file.h"
#include "device/parent.h"
#include "device/peer.h"
#include "loop/loop.h"
#include "mem/pull.h"
#include "meta/client.h"
#include "meta/lookup.h"
#include "meta/rpc.h"
#include "netlink/netlink.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/vqp.h"
#include "rc/link.h"
#include "sock/family.h"
#include "sock/far_input.h"
#include "sock/far_life.h"
#include "sock/hook.h"
#include "sock/hub.h"
#include "sock/stream.h"
#include "sock/trunk.h"
#include "zcopy/recv.h"
#include "zcopy/send.h"

static unsigned int lanes = VQP_WIRE_LANES_MAX;
module_param(lanes, uint, 0444);
MODULE_PARM_DESC(lanes, "UD QPs in the pool, at most 8 (default: one per CPU)");

/* Users are registered in the order in which they end when a parent or a namespace goes. */
static void __init vqp_use(void)
{
	vqp_device_use(&vqp_dc_device_user);
	vqp_device_use(&vqp_link_device_user);
	vqp_device_use(&vqp_rpc_device_user);
	vqp_ns_use(&vqp_stream_ns_user);
	vqp_ns_use(&vqp_far_ns_user);
	vqp_ns_use(&vqp_hook_ns_user);
	vqp_ns_use(&vqp_owners_ns_user);
	vqp_ns_use(&vqp_responder_ns_user);
	vqp_ns_use(&vqp_pull_ns_user);
	vqp_carrier_register(&vqp_loop_carrier);
	vqp_carrier_register(&vqp_dc_carrier);
	/* Accelerators are asked whether they want a request in this order. */
	vqp_carrier_register(&vqp_rc_carrier);
	vqp_carrier_register(&vqp_zcopy_carrier);
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
	ret = vqp_trunk_init();
	if (ret)
		goto err_responder;
	ret = vqp_hub_init(vqp_far_input);
	if (ret)
		goto err_trunk;
	ret = vqp_ns_init();
	if (ret)
		goto err_hub;
	ret = vqp_peer_init();
	if (ret)
		goto err_ns;
	ret = vqp_link_init();
	if (ret)
		goto err_peer;
	ret = vqp_rpc_init();
	if (ret)
		goto err_link;
	ret = vqp_zcopy_init();
	if (ret)
		goto err_rpc;
	ret = vqp_parent_init();
	if (ret)
		goto err_zcopy;
	ret = vqp_netlink_init();
	if (ret)
		goto err_parent;
	/* These are last, because functions may open the device, and sockets, from here on. */
	ret = vqp_file_init();
	if (ret)
		goto err_netlink;
	ret = vqp_family_init();
	if (ret)
		goto err_file;
	vqp_hook_init();
	return 0;

err_file:
	vqp_file_exit();
err_netlink:
	vqp_netlink_exit();
	vqp_far_exit();
	vqp_meta_exit();
err_parent:
	vqp_parent_exit();
err_zcopy:
	vqp_zcopy_exit();
err_rpc:
	vqp_rpc_exit();
	vqp_zcopy_recv_exit();
err_link:
	vqp_link_exit();
err_peer:
	vqp_peer_exit();
err_ns:
	vqp_ns_exit();
err_hub:
	vqp_hub_exit();
err_trunk:
	vqp_trunk_exit();
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

/* No context and no socket is open here, since each has a reference on the module. */
static void __exit vqp_module_exit(void)
{
	vqp_hook_exit();
	vqp_family_exit();
	vqp_file_exit();
	vqp_netlink_exit();
	vqp_far_exit();
	vqp_meta_exit();
	vqp_parent_exit();
	vqp_zcopy_exit();
	vqp_rpc_exit();
	vqp_zcopy_recv_exit();
	vqp_link_exit();
	vqp_peer_exit();
	vqp_ns_exit();
	/* After vqp_ns_exit(), because namespaces that end use these. */
	vqp_hub_exit();
	vqp_trunk_exit();
	/* As well, because namespaces that end release their responder contexts. */
	vqp_responder_exit();
	vqp_loop_exit();
	vqp_client_exit();
	vqp_exit();
	/* Work that was under way until here may have added entries. */
	vqp_dct_cache_clear();
}

module_init(vqp_module_init);
module_exit(vqp_module_exit);
MODULE_DESCRIPTION("Virtual RDMA queue pairs for containers");
MODULE_LICENSE("Dual BSD/GPL");
