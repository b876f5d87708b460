// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/export.h>
#include "api/api.h"
#include "api/internal.h"
#include "ns/namespace.h"

int vqp_open(struct vqp_owner *owner, struct net *net, const u8 *gid)
{
	struct vqp_ns *ns;
	int ret;

	ns = vqp_ns_of_net(net, gid);
	if (IS_ERR(ns))
		return PTR_ERR(ns);
	ret = vqp_owner_bind(owner, ns);
	if (ret)
		vqp_ns_put(ns);
	return ret;
}
EXPORT_SYMBOL_GPL(vqp_open);

void vqp_close(struct vqp_owner *owner)
{
	if (!owner->ns)
		return;
	vqp_owner_unlist(owner);
	vqp_destroy_all(owner);
	vqp_owner_release(owner);
}
EXPORT_SYMBOL_GPL(vqp_close);
