// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/time64.h>
#include <asm/processor.h>
#include <net/sock.h>
#include "base/counters.h"
#include "sock/sock.h"
#include "sock/spin.h"

#define SPIN_US		50
#define SPIN_US_MAX	1000ULL	/* the most that SO_BUSY_POLL is heeded for */
#define SPIN_MISSES_MAX	6	/* 2 to the power of that is the most waits to one that spins */
#define SPIN_STARVED_NS	NSEC_PER_MSEC	/* To be woken takes some of it, and is no hunger. */
#define SPIN_REPENT	64	/* It does not spin for so many times as long as it starved. */

/* For how long the socket may spin. */
static u64 spin_ns(const struct sock *sk)
{
	const u64 us = vqp_spin_asked_us(sk) ?: SPIN_US;

	return min(us, SPIN_US_MAX) * NSEC_PER_USEC;
}

/* For how long the current task could have run and had no processor, in all. */
static u64 spin_starved(void)
{
#ifdef CONFIG_SCHED_INFO
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

/* Note what the task has had of its processor since it last waited here. May it spin now? */
static bool spin_may_begin(struct vqp_spin *spin)
{
	const u64 starved = spin_starved(), now = local_clock();

	if (spin->task == current->pid && starved > spin->starved + SPIN_STARVED_NS)
		spin->not_before = max(spin->not_before,
				       now + SPIN_REPENT * (starved - spin->starved));
	spin->task = current->pid;
	spin->starved = starved;
	if (now < spin->not_before)
		return false;
	if (spin->skips) {
		spin->skips--;
		return false;
	}
	return true;
}

/* Has the current task the processor for itself, and nothing else to do? */
static bool spin_may_go_on(void)
{
	return !need_resched() && single_task_running() && !signal_pending(current);
}

void vqp_spin(struct sock *sk, bool (*stop)(const struct sock *sk, const struct vqp_stream *s,
					    u32 seen),
	      const struct vqp_stream *s, u32 seen)
{
	struct vqp_spin *spin = &vqp_sk(sk)->spin;
	bool stopped;
	u64 end;

	sock_owned_by_me(sk);
	if (!spin_may_begin(spin))
		return;
	release_sock(sk);
	end = local_clock() + spin_ns(sk);
	while (!(stopped = stop(sk, s, seen)) && spin_may_go_on() && local_clock() < end)
		cpu_relax();
	lock_sock(sk);
	spin->misses = stopped ? 0 : min(spin->misses + 1, SPIN_MISSES_MAX);
	spin->skips = (1 << spin->misses) - 1;
	vqp_count_event(stopped ? VQP_EV_SOCK_SPUN : VQP_EV_SOCK_SPUN_IN_VAIN);
}
