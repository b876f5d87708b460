// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/export.h>
#include "api/api.h"
#include "api/internal.h"
#include "ns/namespace.h"
#include "queue/cq.h"
#include "queue/vqp.h"

int vqp_add(struct vqp *vqp)
{
	struct vqp_owner *owner = vqp->owner;
	int ret = -ESHUTDOWN;

	mutex_lock(&owner->lock);
	if (owner->dead)
		vqp_uncharge(vqp);
	else
		ret = vqp_publish(vqp);
	if (!ret) {
		kref_get(&vqp->ref);
		list_add(&vqp->owner_link, &owner->vqps);
	}
	mutex_unlock(&owner->lock);
	return ret;
}

struct vqp *vqp_create(struct vqp_owner *owner, const struct vqp_init_attr *attr)
{
	struct vqp *vqp;
	int ret;

	if (attr->flags & ~VQP_QP_SQ_SIG_ALL ||
	    attr->max_send_wr > VQP_MAX_WR || attr->max_recv_wr > VQP_MAX_WR ||
	    attr->max_send_sge > VQP_MAX_SGE || attr->max_recv_sge > VQP_MAX_SGE)
		return ERR_PTR(-EINVAL);
	vqp = vqp_alloc(owner);
	if (IS_ERR(vqp))
		return vqp;
	INIT_WORK(&vqp->work, vqp_relocate_work);
	vqp_wait_init(&vqp->move, &vqp_relocate_wait_ops);
	vqp_set_cqs(vqp, attr->send_cq, attr->recv_cq);
	vqp->on_recv = attr->on_recv;
	vqp->max_send_wr = attr->max_send_wr;
	vqp->max_recv_wr = attr->max_recv_wr;
	vqp->max_send_sge = attr->max_send_sge;
	vqp->max_recv_sge = attr->max_recv_sge;
	vqp->flags = attr->flags;
	ret = vqp_add(vqp);
	if (ret) {
		vqp_put(vqp);
		return ERR_PTR(ret);
	}
	return vqp;
}
EXPORT_SYMBOL_GPL(vqp_create);
