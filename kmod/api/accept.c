// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/export.h>
#include "api/api.h"
#include "api/internal.h"
#include "queue/vqp.h"

struct vqp *vqp_accept(struct vqp *vqp, const u8 *src_gid, u32 src_qp)
{
	const struct vqp_init_attr attr = {
		.send_cq = vqp->send_cq,
		.recv_cq = vqp->recv_cq,
		.max_send_wr = vqp->max_send_wr,
		.max_send_sge = vqp->max_send_sge,
		.flags = vqp->flags,
	};
	struct vqp *reply;
	int ret;

	if (!src_qp || vqp->state != VQP_QP_BOUND)
		return ERR_PTR(-EINVAL);
	reply = vqp_create(vqp->owner, &attr);
	if (IS_ERR(reply))
		return reply;
	ret = vqp_connect_to(reply, src_gid, 0, src_qp);
	if (ret) {
		vqp_destroy(reply);
		vqp_put(reply);
		return ERR_PTR(ret);
	}
	return reply;
}
EXPORT_SYMBOL_GPL(vqp_accept);
