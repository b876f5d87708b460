// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include "api/api.h"
#include "ns/namespace.h"
#include "queue/vqp.h"

#define BIND_PORT_FIRST	32768		/* the least port that is handed out for port 0 */

int vqp_bind(struct vqp *vqp, u32 *arg)
{
	struct vqp_owner *owner = vqp->owner;
	u32 port = *arg;
	int ret;

	if (port > U16_MAX)
		return -EINVAL;
	mutex_lock(&owner->lock);
	if (vqp->state != VQP_QP_INIT || list_empty(&vqp->owner_link)) {
		ret = -EINVAL;
		goto unlock;
	}
	if (port)
		ret = xa_insert(&vqp->ns->ports, port, vqp, GFP_KERNEL_ACCOUNT);
	else
		ret = xa_alloc(&vqp->ns->ports, &port, vqp,
			       XA_LIMIT(BIND_PORT_FIRST, U16_MAX), GFP_KERNEL_ACCOUNT);
	if (ret) {
		ret = ret == -EBUSY ? -EADDRINUSE : ret;
		goto unlock;
	}
	spin_lock_bh(&vqp->lock);
	vqp->port = port;
	if (vqp->state == VQP_QP_INIT)
		vqp->state = VQP_QP_BOUND;
	spin_unlock_bh(&vqp->lock);
	*arg = port;
unlock:
	mutex_unlock(&owner->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(vqp_bind);
