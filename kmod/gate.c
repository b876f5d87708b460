// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include "compat.h"
#include "counters.h"
#include "dc.h"
#include "gate.h"
#include "loop.h"
#include "ns.h"
#include "qp.h"

static void gate_arm(struct vqp_gate *gate)
{
	lockdep_assert_held(&gate->lock);
	if (!list_empty(&gate->waiters))
		hrtimer_start(&gate->timer,
			      ns_to_ktime(vqp_rate_wait_ns(&gate->rate, ktime_get_ns())),
			      HRTIMER_MODE_REL_SOFT);
}

static void gate_kick(struct vqp *vqp)
{
	if (READ_ONCE(vqp->carrier) == VQP_CARRIER_LOOP)
		vqp_loop_later(vqp);
	else
		vqp_dc_kick(vqp);
}

/* A packet, or what comes in some 60 us: a long line is not gone through for nothing. */
static u32 gate_turn_bytes(const struct vqp_gate *gate)
{
	return clamp_t(u64, gate->rate.max >> 14, SZ_4K, SZ_1M);
}

/*
 * Turns, until somebody has all that it waits for; NULL: no more may pass now, or nobody waits.
 * What is left of a turn is for what it sends next.
 */
static struct vqp *gate_grant(struct vqp_gate *gate)
{
	const u64 now_ns = ktime_get_ns();
	struct vqp *vqp;

	lockdep_assert_held(&gate->lock);
	while (!list_empty(&gate->waiters) && vqp_rate_allows(&gate->rate, now_ns)) {
		vqp = list_first_entry(&gate->waiters, struct vqp, gate_wait);
		list_move_tail(&vqp->gate_wait, &gate->waiters);
		if (gate->rate.max) {
			vqp_rate_charge(&gate->rate, gate_turn_bytes(gate), now_ns);
			vqp->gate_granted += gate_turn_bytes(gate);
			if (vqp->gate_granted < vqp->gate_asked)
				continue;
		} else {
			vqp->gate_granted = 0;
		}
		list_del_init(&vqp->gate_wait);
		return vqp;
	}
	return NULL;
}

/*
 * A VQP that was granted all is set going without the lock: it comes back here, and waits
 * behind the others for what it sends next. It holds the namespace until it has been put, and
 * vqp_gate_end() waits for the rest.
 */
static enum hrtimer_restart gate_open(struct hrtimer *timer)
{
	struct vqp_gate *gate = container_of(timer, struct vqp_gate, timer);
	struct vqp *vqp;

	spin_lock_bh(&gate->lock);
	while ((vqp = gate_grant(gate))) {
		spin_unlock_bh(&gate->lock);
		gate_kick(vqp);
		vqp_put(vqp);
		spin_lock_bh(&gate->lock);
	}
	gate_arm(gate);
	spin_unlock_bh(&gate->lock);
	return HRTIMER_NORESTART;
}

void vqp_gate_init(struct vqp_gate *gate)
{
	spin_lock_init(&gate->lock);
	INIT_LIST_HEAD(&gate->waiters);
	hrtimer_setup(&gate->timer, gate_open, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

void vqp_gate_end(struct vqp_gate *gate)
{
	hrtimer_cancel(&gate->timer);
}

void vqp_gate_set(struct vqp_gate *gate, u64 max)
{
	spin_lock_bh(&gate->lock);
	if (gate->rate.max != max) {
		vqp_rate_set(&gate->rate, max, ktime_get_ns());
		gate_arm(gate);
	}
	spin_unlock_bh(&gate->lock);
}

/* What was granted; or whatever fits into a burst, if nobody waits. */
static bool gate_lets(struct vqp_gate *gate, struct vqp *vqp, u32 bytes)
{
	const u64 now_ns = ktime_get_ns();

	if (!list_empty(&vqp->gate_wait))
		return false;
	if (vqp->gate_granted >= bytes) {
		vqp->gate_granted -= bytes;
		return true;
	}
	if (bytes > VQP_RATE_BURST_BYTES || !list_empty(&gate->waiters) ||
	    !vqp_rate_allows(&gate->rate, now_ns))
		return false;
	vqp_rate_charge(&gate->rate, bytes - vqp->gate_granted, now_ns);
	vqp->gate_granted = 0;
	return true;
}

static void gate_wait(struct vqp_gate *gate, struct vqp *vqp, u32 bytes)
{
	const bool first = list_empty(&gate->waiters);

	if (!list_empty(&vqp->gate_wait))
		return;
	kref_get(&vqp->ref);
	vqp->gate_asked = bytes;
	list_add_tail(&vqp->gate_wait, &gate->waiters);
	vqp_count_event(VQP_EV_CURBED);
	if (first)
		gate_arm(gate);
}

int vqp_gate_pass(struct vqp *vqp, u32 bytes)
{
	struct vqp_gate *gate = &vqp->ns->gate;
	int ret = 0;

	if (likely(!vqp_gate_max(gate)) || !bytes || vqp_fetches(vqp))
		return 0;
	lockdep_assert_held(&vqp->lock);
	spin_lock(&gate->lock);
	if (!gate->rate.max) {
		/* It was lifted meanwhile. */
	} else if (gate_lets(gate, vqp, bytes)) {
		ret = !list_empty(&gate->waiters) || !vqp_rate_allows(&gate->rate, ktime_get_ns());
	} else {
		gate_wait(gate, vqp, bytes);
		ret = -EBUSY;
	}
	spin_unlock(&gate->lock);
	return ret;
}

void vqp_gate_refund(struct vqp *vqp, u32 bytes)
{
	struct vqp_gate *gate = &vqp->ns->gate;

	if (!vqp_gate_max(gate) || vqp_fetches(vqp))
		return;
	spin_lock_bh(&gate->lock);
	if (gate->rate.max) {
		vqp_rate_refund(&gate->rate, bytes);
		gate_arm(gate);
	}
	spin_unlock_bh(&gate->lock);
}

void vqp_gate_leave(struct vqp *vqp)
{
	struct vqp_gate *gate = &vqp->ns->gate;
	bool waited;

	spin_lock_bh(&gate->lock);
	waited = !list_empty(&vqp->gate_wait);
	list_del_init(&vqp->gate_wait);
	spin_unlock_bh(&gate->lock);
	if (waited)
		vqp_put(vqp);
}
