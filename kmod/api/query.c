// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/vqp.h>
#include "api/api.h"
#include "queue/vqp.h"

void vqp_query(struct vqp *vqp, struct vqp_query_qp *q)
{
	spin_lock_bh(&vqp->lock);
	*q = (struct vqp_query_qp) {
		.qp_num = vqp->qp_num,
		.state = vqp->state,
		.carrier = vqp->shown_carrier,
		.port = vqp->port,
		.remote_port = vqp->remote_port,
		.remote_qp = vqp->remote_qp,
		.sends_pending = vqp->sends,
		.recvs_pending = READ_ONCE(vqp->recvs),
	};
	memcpy(q->remote_gid, vqp->remote_gid, VQP_GID_BYTES);
	spin_unlock_bh(&vqp->lock);
}
EXPORT_SYMBOL_GPL(vqp_query);
