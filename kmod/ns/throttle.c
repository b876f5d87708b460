// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/vqp.h>
#include "base/compat.h"
#include "base/counters.h"
#include "ns/throttle.h"

/* The most VQPs that the timer's handler lets go on; it runs again at once for the others. */
#define THROTTLE_BUDGET	8

static void throttle_arm(struct vqp_throttle *throttle)
{
	lockdep_assert_held(&throttle->lock);
	if (!list_empty(&throttle->waiters))
		hrtimer_start(&throttle->timer,
			      ns_to_ktime(vqp_rate_wait_ns(&throttle->rate, ktime_get_ns())),
			      HRTIMER_MODE_REL_SOFT);
}

/*
 * The bytes that a waiting VQP is granted at a time: at least a packet, and else what the rate
 * yields in 61 us, so that a long list of waiters is not walked for little.
 */
static u32 throttle_turn_bytes(const struct vqp_throttle *throttle)
{
	return clamp_t(u64, throttle->rate.max >> 14, SZ_4K, SZ_1M);
}

/*
 * Grant bytes to the waiting VQPs in turn, until one has been granted all that it waits for.
 * Returns the wait of that VQP, off the list; or NULL if the rate allows no more, or no VQP waits.
 * Bytes that are granted beyond what the VQP waits for count for its next packet.
 */
static struct vqp_wait *throttle_grant(struct vqp_throttle *throttle)
{
	const u64 now_ns = ktime_get_ns();
	struct vqp_throttle_turn *turn;

	lockdep_assert_held(&throttle->lock);
	while (!list_empty(&throttle->waiters) && vqp_rate_allows(&throttle->rate, now_ns)) {
		turn = list_first_entry(&throttle->waiters, struct vqp_throttle_turn, wait.link);
		list_move_tail(&turn->wait.link, &throttle->waiters);
		if (throttle->rate.max) {
			vqp_rate_charge(&throttle->rate, throttle_turn_bytes(throttle), now_ns);
			turn->granted += throttle_turn_bytes(throttle);
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
 * The timer's handler, in softirq. A VQP goes on without the lock, because it calls
 * vqp_throttle_pass() for its next packet, and then waits behind the others. Its reference on the
 * namespace keeps the throttle until vqp_wait_go() has dropped the VQP's, and vqp_throttle_end()
 * waits for the rest of the handler.
 */
static enum hrtimer_restart throttle_open(struct hrtimer *timer)
{
	struct vqp_throttle *throttle = container_of(timer, struct vqp_throttle, timer);
	u32 budget = THROTTLE_BUDGET;
	struct vqp_wait *wait;

	spin_lock_bh(&throttle->lock);
	while (budget-- && (wait = throttle_grant(throttle))) {
		spin_unlock_bh(&throttle->lock);
		vqp_wait_go(wait);
		spin_lock_bh(&throttle->lock);
	}
	throttle_arm(throttle);
	spin_unlock_bh(&throttle->lock);
	return HRTIMER_NORESTART;
}

void vqp_throttle_init(struct vqp_throttle *throttle)
{
	spin_lock_init(&throttle->lock);
	INIT_LIST_HEAD(&throttle->waiters);
	hrtimer_setup(&throttle->timer, throttle_open, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

void vqp_throttle_end(struct vqp_throttle *throttle)
{
	hrtimer_cancel(&throttle->timer);
}

/* In struct vqp_rate a max of 0 stands for an unlimited rate. */
void vqp_throttle_set(struct vqp_throttle *throttle, u64 max)
{
	const u64 rate = max == VQP_UNLIMITED ? 0 : max;

	spin_lock_bh(&throttle->lock);
	if (throttle->rate.max != rate) {
		vqp_rate_set(&throttle->rate, rate, ktime_get_ns());
		throttle_arm(throttle);
	}
	spin_unlock_bh(&throttle->lock);
}

u64 vqp_throttle_max(const struct vqp_throttle *throttle)
{
	return READ_ONCE(throttle->rate.max) ?: VQP_UNLIMITED;
}

/*
 * Charge `bytes` bytes, first of those that were granted. If no VQP waits, a VQP may send up to a
 * burst without having waited.
 */
static bool throttle_lets(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn, u32 bytes)
{
	const u64 now_ns = ktime_get_ns();

	if (!list_empty(&turn->wait.link))
		return false;
	if (turn->granted >= bytes) {
		turn->granted -= bytes;
		return true;
	}
	if (bytes > VQP_RATE_BURST_BYTES || !list_empty(&throttle->waiters) ||
	    !vqp_rate_allows(&throttle->rate, now_ns))
		return false;
	vqp_rate_charge(&throttle->rate, bytes - turn->granted, now_ns);
	turn->granted = 0;
	return true;
}

static void throttle_wait(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn, u32 bytes)
{
	const bool first = list_empty(&throttle->waiters);

	if (!vqp_wait_queue(&turn->wait, &throttle->waiters))
		return;
	turn->asked = bytes;
	vqp_count_event(VQP_EV_THROTTLED);
	if (first)
		throttle_arm(throttle);
}

int vqp_throttle_pass(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn, u32 bytes)
{
	int ret = 0;

	if (likely(!READ_ONCE(throttle->rate.max)) || !bytes)
		return 0;
	spin_lock(&throttle->lock);
	if (!throttle->rate.max) {
		/* The rate has become unlimited since. */
	} else if (throttle_lets(throttle, turn, bytes)) {
		ret = !list_empty(&throttle->waiters) || !vqp_rate_allows(&throttle->rate,
									  ktime_get_ns());
	} else {
		throttle_wait(throttle, turn, bytes);
		ret = -EBUSY;
	}
	spin_unlock(&throttle->lock);
	return ret;
}

int vqp_throttle_charge(struct vqp_throttle *throttle, u32 bytes)
{
	int ret = 0;

	if (likely(!READ_ONCE(throttle->rate.max)) || !bytes)
		return 0;
	spin_lock(&throttle->lock);
	if (throttle->rate.max) {
		vqp_rate_charge(&throttle->rate, bytes, ktime_get_ns());
		ret = 1;
	}
	spin_unlock(&throttle->lock);
	return ret;
}

void vqp_throttle_refund(struct vqp_throttle *throttle, u32 bytes)
{
	if (!READ_ONCE(throttle->rate.max))
		return;
	spin_lock_bh(&throttle->lock);
	if (throttle->rate.max) {
		vqp_rate_refund(&throttle->rate, bytes);
		throttle_arm(throttle);
	}
	spin_unlock_bh(&throttle->lock);
}

bool vqp_throttle_leave(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn)
{
	bool waited;

	spin_lock_bh(&throttle->lock);
	waited = vqp_wait_unqueue(&turn->wait);
	spin_unlock_bh(&throttle->lock);
	return waited;
}
