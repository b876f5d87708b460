// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/sched/signal.h>
#include "api/api.h"
#include "api/internal.h"
#include "dc/dc.h"
#include "loop/loop.h"
#include "meta/lookup.h"
#include "ns/namespace.h"
#include "queue/vqp.h"

int vqp_attach(struct vqp *vqp, struct vqp_route *route)
{
	struct vqp_ns *local = route->local;

	route->local = NULL;
	return local ? vqp_loop_attach(vqp, local) : vqp_dc_attach(vqp, &route->dct);
}

static const u8 nowhere[VQP_GID_BYTES];

static void connect_set_target(struct vqp *vqp, const u8 *gid, u16 port, u32 qp_num)
{
	spin_lock_bh(&vqp->lock);
	memcpy(vqp->remote_gid, gid, VQP_GID_BYTES);
	vqp->remote_port = port;
	vqp->remote_qp = qp_num;
	spin_unlock_bh(&vqp->lock);
}

int vqp_connect_to(struct vqp *vqp, const u8 *gid, u16 port, u32 qp_num)
{
	struct vqp_route route;
	int ret;

	ret = vqp_meta_route(vqp->ns, gid, vqp, &route);
	if (ret == -EINTR && !fatal_signal_pending(current))
		return vqp_ns_alive(vqp->ns) ? -ENOENT : -ESHUTDOWN;
	if (ret)
		return ret;
	if (!route.local)
		ret = vqp_dc_resolve(&route.dct);
	if (ret)
		return ret;
	/* Deregistration may hold the lock for seconds, and a process that waits can be killed. */
	ret = mutex_lock_killable(&vqp->owner->lock);
	if (ret)
		goto end_route;
	if (!vqp_ns_alive(vqp->ns)) {
		ret = -ESHUTDOWN;
		goto unlock;
	}
	if (list_empty(&vqp->owner_link)) {
		ret = -ENOENT;
		goto unlock;
	}
	if (vqp->state != VQP_QP_INIT) {
		ret = vqp->state == VQP_QP_CONNECTED ? -EISCONN : -EINVAL;
		goto unlock;
	}
	connect_set_target(vqp, gid, port, qp_num);
	ret = vqp_attach(vqp, &route);
	if (ret)
		connect_set_target(vqp, nowhere, 0, 0);
unlock:
	mutex_unlock(&vqp->owner->lock);
end_route:
	vqp_route_end(&route);
	return ret;
}

int vqp_connect(struct vqp *vqp, const u8 *gid, u16 port)
{
	return port ? vqp_connect_to(vqp, gid, port, 0) : -EINVAL;
}
EXPORT_SYMBOL_GPL(vqp_connect);
