// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A VQP whose target has moved, or may have: look it up again, and go on at its new place. */
#include "api/api.h"
#include "api/internal.h"
#include "base/counters.h"
#include "base/dct_cache.h"
#include "dc/dc.h"
#include "meta/lookup.h"
#include "ns/movers.h"
#include "ns/namespace.h"
#include "queue/carrier.h"
#include "queue/recv.h"
#include "queue/vqp.h"

/*
 * The target is not where the metadata says. Look it up again and go on there, but only once
 * without a completion in between, so that wrong metadata cannot make a VQP move for ever.
 */
static void relocate_lost(struct vqp *vqp)
{
	struct vqp_route route;
	int ret = -EHOSTUNREACH;

	if (!vqp_is_lost(vqp))
		return;
	vqp_count_event(VQP_EV_STALE);
	if (!vqp->rerouted) {
		/* On loop, vqp->dc.dct is where the target was before, or nothing that is known. */
		vqp_dct_cache_disprove(vqp->ns->tenant, vqp->remote_gid, &vqp->dc.dct);
		ret = vqp_meta_route(vqp->ns, vqp->remote_gid, vqp, &route);
	}
	if (!ret) {
		vqp->rerouted = true;
		ret = vqp_attach(vqp, &route);
	}
	if (ret)
		vqp_fail(vqp, VQP_WC_RETRY_EXC_ERR);
}

/*
 * The target is silent. A node whose module was loaded anew has other lanes, and packets to the old
 * ones vanish without an answer. If the metadata has not changed, the flow retransmits until
 * giveup_us has passed.
 */
static void relocate_silent(struct vqp *vqp)
{
	struct vqp_route route;
	bool going;

	/* relocate_lost() may have moved the VQP to the loop carrier, or it may be lost by now. */
	spin_lock_bh(&vqp->lock);
	going = vqp->state == VQP_QP_CONNECTED && vqp->carrier == &vqp_dc_carrier &&
		!vqp->carrier->lost(vqp);
	spin_unlock_bh(&vqp->lock);
	if (!going)
		return;
	vqp_dct_cache_doubt(vqp->ns->tenant, vqp->remote_gid);
	if (vqp_meta_route(vqp->ns, vqp->remote_gid, vqp, &route))
		return;
	if (route.local || memcmp(&route.dct, &vqp->dc.dct, sizeof(route.dct)))
		vqp_attach(vqp, &route);
}

static void relocate_hold(struct vqp_wait *wait)
{
	kref_get(&container_of(wait, struct vqp, move)->ref);
}

/* vqp_wait_ops.go: a mover of the namespace has its turn with the VQP. */
static void relocate_go(struct vqp_wait *wait)
{
	struct vqp *vqp = container_of(wait, struct vqp, move);

	if (test_and_clear_bit(VQP_TODO_REROUTE, &vqp->todo))
		relocate_lost(vqp);
	if (test_and_clear_bit(VQP_TODO_SUSPECT, &vqp->todo))
		relocate_silent(vqp);
	vqp_put(vqp);
}

const struct vqp_wait_ops vqp_relocate_wait_ops = {
	.hold = relocate_hold,
	.go = relocate_go,
};

/* All tenants' VQPs share the workqueue: what waits for other nodes is left to the movers. */
void vqp_relocate_work(struct work_struct *work)
{
	struct vqp *vqp = container_of(work, struct vqp, work);

	if (test_and_clear_bit(VQP_TODO_WAKE, &vqp->todo))
		vqp_recv_wake_all(vqp);
	if (test_and_clear_bit(VQP_TODO_FLUSH, &vqp->todo))
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	if (READ_ONCE(vqp->todo) & (BIT(VQP_TODO_REROUTE) | BIT(VQP_TODO_SUSPECT)))
		vqp_movers_queue(vqp->ns->movers, &vqp->move);
	vqp_put(vqp);
}
