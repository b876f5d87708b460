// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include "compat.h"
#include "counters.h"
#include "gate.h"

static void gate_arm(struct vqp_gate *gate)
{
	lockdep_assert_held(&gate->lock);
	if (!list_empty(&gate->waiters))
		hrtimer_start(&gate->timer,
			      ns_to_ktime(vqp_rate_wait_ns(&gate->rate, ktime_get_ns())),
			      HRTIMER_MODE_REL_SOFT);
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
static struct vqp_wait *gate_grant(struct vqp_gate *gate)
{
	const u64 now_ns = ktime_get_ns();
	struct vqp_gate_turn *turn;

	lockdep_assert_held(&gate->lock);
	while (!list_empty(&gate->waiters) && vqp_rate_allows(&gate->rate, now_ns)) {
		turn = list_first_entry(&gate->waiters, struct vqp_gate_turn, wait.link);
		list_move_tail(&turn->wait.link, &gate->waiters);
		if (gate->rate.max) {
			vqp_rate_charge(&gate->rate, gate_turn_bytes(gate), now_ns);
			turn->granted += gate_turn_bytes(gate);
			if (turn->granted < turn->asked)
				continue;
		} else {
			turn->granted = 0;
		}
		vqp_wait_unqueue(&turn->wait);
		return &turn->wait;
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
	struct vqp_wait *wait;

	spin_lock_bh(&gate->lock);
	while ((wait = gate_grant(gate))) {
		spin_unlock_bh(&gate->lock);
		wait->go(wait);
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
static bool gate_lets(struct vqp_gate *gate, struct vqp_gate_turn *turn, u32 bytes)
{
	const u64 now_ns = ktime_get_ns();

	if (!list_empty(&turn->wait.link))
		return false;
	if (turn->granted >= bytes) {
		turn->granted -= bytes;
		return true;
	}
	if (bytes > VQP_RATE_BURST_BYTES || !list_empty(&gate->waiters) ||
	    !vqp_rate_allows(&gate->rate, now_ns))
		return false;
	vqp_rate_charge(&gate->rate, bytes - turn->granted, now_ns);
	turn->granted = 0;
	return true;
}

static void gate_wait(struct vqp_gate *gate, struct vqp_gate_turn *turn, u32 bytes)
{
	const bool first = list_empty(&gate->waiters);

	if (!vqp_wait_queue(&turn->wait, &gate->waiters))
		return;
	turn->asked = bytes;
	vqp_count_event(VQP_EV_CURBED);
	if (first)
		gate_arm(gate);
}

int vqp_gate_pass(struct vqp_gate *gate, struct vqp_gate_turn *turn, u32 bytes)
{
	int ret = 0;

	if (likely(!vqp_gate_max(gate)) || !bytes)
		return 0;
	spin_lock(&gate->lock);
	if (!gate->rate.max) {
		/* It was lifted meanwhile. */
	} else if (gate_lets(gate, turn, bytes)) {
		ret = !list_empty(&gate->waiters) || !vqp_rate_allows(&gate->rate, ktime_get_ns());
	} else {
		gate_wait(gate, turn, bytes);
		ret = -EBUSY;
	}
	spin_unlock(&gate->lock);
	return ret;
}

void vqp_gate_refund(struct vqp_gate *gate, u32 bytes)
{
	if (!vqp_gate_max(gate))
		return;
	spin_lock_bh(&gate->lock);
	if (gate->rate.max) {
		vqp_rate_refund(&gate->rate, bytes);
		gate_arm(gate);
	}
	spin_unlock_bh(&gate->lock);
}

bool vqp_gate_leave(struct vqp_gate *gate, struct vqp_gate_turn *turn)
{
	bool waited;

	spin_lock_bh(&gate->lock);
	waited = vqp_wait_unqueue(&turn->wait);
	spin_unlock_bh(&gate->lock);
	return waited;
}
