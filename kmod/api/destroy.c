// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>
#include "api/api.h"
#include "api/internal.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "queue/vqp.h"

/*
 * The callbacks of a VQP without CQs use memory of its owner. Wait until no carrier has a request
 * of the VQP, and no message has one of its receives. A carrier completes requests that it releases
 * before it drops the lock, and vqp_flush_sends() all that are left.
 */
static void destroy_wait(struct vqp *vqp)
{
	if (!vqp->send_cq) {
		wait_var_event(&vqp->held, !READ_ONCE(vqp->held));
		vqp_flush_sends(vqp);
	}
	if (vqp->on_recv)
		wait_var_event(&vqp->receiving, !atomic_read(&vqp->receiving));
}

void vqp_destroy_all(struct vqp_owner *owner)
{
	struct vqp *vqp;

	/* None of them looks its target up any more, so that none has to wait for a lookup. */
	list_for_each_entry(vqp, &owner->vqps, owner_link) {
		vqp_silence(vqp);
		cond_resched();
	}
	while ((vqp = list_first_entry_or_null(&owner->vqps, struct vqp, owner_link))) {
		list_del_init(&vqp->owner_link);
		kref_get(&vqp->ref);
		vqp_teardown(vqp);
		destroy_wait(vqp);
		vqp_put(vqp);
	}
	mutex_lock(&owner->lock);
	vqp_mr_destroy_all(owner);
	mutex_unlock(&owner->lock);
}

int vqp_destroy(struct vqp *vqp)
{
	struct vqp_owner *owner = vqp->owner;
	bool mine;

	mutex_lock(&owner->lock);
	/* Two threads may destroy the VQP at once. The first finds it in the owner's list. */
	mine = !list_empty(&vqp->owner_link);
	list_del_init(&vqp->owner_link);
	mutex_unlock(&owner->lock);
	if (!mine)
		return -ENOENT;
	/* This may wait for the VQP's work, which looks addresses up; so the lock is dropped. */
	vqp_teardown(vqp);
	/*
	 * The caller may use the memory of its messages and receives again afterwards: no node may
	 * be READing the former, nor the device carrying out a request of rc; nor may a VQP of this
	 * node be writing to the latter. A process that is killed cannot use that memory any more,
	 * and need not wait.
	 */
	wait_var_event_killable(&vqp->held, !READ_ONCE(vqp->held));
	wait_var_event_killable(&vqp->receiving, !atomic_read(&vqp->receiving));
	destroy_wait(vqp);
	return 0;
}
EXPORT_SYMBOL_GPL(vqp_destroy);

static void owner_kill(struct vqp_owner *owner)
{
	struct vqp *vqp;

	lockdep_assert_held(&owner->ns->lock);
	mutex_lock(&owner->lock);
	owner->dead = true;
	list_for_each_entry(vqp, &owner->vqps, owner_link)
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	vqp_mr_revoke_all(owner);
	mutex_unlock(&owner->lock);
}

/* vqp_ns_user.kill: all VQPs of the namespace fail, and no peer can reach its regions any more. */
static void owners_kill(struct vqp_ns *ns)
{
	struct vqp_owner *owner;

	mutex_lock(&ns->lock);
	list_for_each_entry(owner, &ns->owners, ns_link)
		owner_kill(owner);
	/* Peers that do not answer have had their time by then, or have it once. */
	list_for_each_entry(owner, &ns->owners, ns_link) {
		mutex_lock(&owner->lock);
		vqp_mr_wait_all(owner);
		mutex_unlock(&owner->lock);
	}
	mutex_unlock(&ns->lock);
}

struct vqp_ns_user vqp_owners_ns_user = {
	.kill = owners_kill,
};
