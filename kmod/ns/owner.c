// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/export.h>
#include "ns/namespace.h"
#include "ns/owner.h"

void vqp_owner_init(struct vqp_owner *owner)
{
	owner->ns = NULL;
	INIT_LIST_HEAD(&owner->ns_link);
	mutex_init(&owner->lock);
	INIT_LIST_HEAD(&owner->vqps);
	INIT_LIST_HEAD(&owner->mrs);
	owner->dead = false;
}
EXPORT_SYMBOL_GPL(vqp_owner_init);

int vqp_owner_bind(struct vqp_owner *owner, struct vqp_ns *ns)
{
	int ret = 0;

	mutex_lock(&ns->lock);
	mutex_lock(&owner->lock);
	if (owner->ns) {
		ret = -EISCONN;
	} else if (!vqp_ns_alive(ns)) {
		ret = -ESHUTDOWN;
	} else {
		list_add(&owner->ns_link, &ns->owners);
		atomic_inc(&ns->nowners);
		/* Pairs with vqp_owner_is_bound(). */
		smp_store_release(&owner->ns, ns);
	}
	mutex_unlock(&owner->lock);
	mutex_unlock(&ns->lock);
	return ret;
}

void vqp_owner_unlist(struct vqp_owner *owner)
{
	mutex_lock(&owner->ns->lock);
	list_del(&owner->ns_link);
	mutex_unlock(&owner->ns->lock);
}

void vqp_owner_release(struct vqp_owner *owner)
{
	atomic_dec(&owner->ns->nowners);
	vqp_ns_put(owner->ns);
}
