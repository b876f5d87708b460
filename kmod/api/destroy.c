// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include "api/api.h"
#include "api/internal.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "queue/vqp.h"
#include "zcopy/send.h"

void vqp_destroy_all(struct vqp_owner *owner)
{
	struct vqp_mr *mr, *next;
	struct vqp *vqp;

	while ((vqp = list_first_entry_or_null(&owner->vqps, struct vqp, owner_link))) {
		list_del_init(&vqp->owner_link);
		vqp_teardown(vqp);
	}
	mutex_lock(&owner->lock);
	list_for_each_entry_safe(mr, next, &owner->mrs, owner_link)
		vqp_mr_destroy(mr);
	mutex_unlock(&owner->lock);
}

int vqp_destroy(struct vqp *vqp)
{
	struct vqp_owner *owner = vqp->owner;
	bool mine;

	mutex_lock(&owner->lock);
	/* Two threads may have found it; one destroys it. */
	mine = !list_empty(&vqp->owner_link);
	list_del_init(&vqp->owner_link);
	mutex_unlock(&owner->lock);
	if (!mine)
		return -ENOENT;
	/* May wait for a lookup that is under way: not with the lock. */
	vqp_teardown(vqp);
	/* What it has sent may be written to from here on. A process that ends takes it away. */
	vqp_zcopy_wait(vqp);
	return 0;
}
EXPORT_SYMBOL_GPL(vqp_destroy);

static void owner_kill(struct vqp_owner *owner)
{
	struct vqp *vqp;
	struct vqp_mr *mr;

	lockdep_assert_held(&owner->ns->lock);
	mutex_lock(&owner->lock);
	owner->dead = true;
	list_for_each_entry(vqp, &owner->vqps, owner_link)
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	list_for_each_entry(mr, &owner->mrs, owner_link)
		vqp_mr_revoke(mr);
	mutex_unlock(&owner->lock);
}

/* Every VQP of the namespace moves to the error state, and no region can be reached any more. */
static void owners_kill(struct vqp_ns *ns)
{
	struct vqp_owner *owner;

	mutex_lock(&ns->lock);
	list_for_each_entry(owner, &ns->owners, ns_link)
		owner_kill(owner);
	mutex_unlock(&ns->lock);
}

struct vqp_ns_user vqp_owners_ns_user = {
	.kill = owners_kill,
};
