/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spinning before sleeping. To sleep and to be woken costs more than a near peer takes to answer.
 * So a receive that blocks first looks again and again whether bytes have come: for 50 us, or as
 * long as SO_BUSY_POLL or net.core.busy_read says, and only while nothing else wants the processor.
 *
 * A processor may be wanted although nothing else runs on it: a cgroup's cpu.max counts what is
 * spun, and takes the processor away when it is needed. No function of the kernel tells a module of
 * that limit, but the time for which a task could run and had no processor tells of both. A task
 * that had none for more than a millisecond does not spin for 64 times as long.
 *
 * A socket whose waits take longer than the spin soon spins in one of 64 of them alone. That bounds
 * what is lost, so that the length of a spin needs no estimate of the round trip.
 *
 * This is the adaptive half of RR-Compound's BPEV ("busy-polling driven with events").
 */
#ifndef VQP_SOCK_SPIN_H
#define VQP_SOCK_SPIN_H

#include <linux/types.h>
#include <net/sock.h>

struct vqp_stream;

/* What SO_BUSY_POLL or net.core.busy_read says, in us; 0: nothing. */
static inline u32 vqp_spin_asked_us(const struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	return READ_ONCE(sk->sk_ll_usec);
#else
	return 0;
#endif
}

static inline void vqp_spin_ask(struct sock *sk, u32 us)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, us);
#endif
}

/*
 * Look until `stop` is true, which may be asked without locks, or it is time to sleep. Called with
 * lock_sock(), which is dropped meanwhile.
 */
void vqp_spin(struct sock *sk, bool (*stop)(const struct sock *sk, const struct vqp_stream *s,
					    u32 seen),
	      const struct vqp_stream *s, u32 seen);

#endif
