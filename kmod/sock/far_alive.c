// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A connection breaks with ETIMEDOUT when nothing of what its peer is sent arrives for as long as
 * TCP would try: TCP_USER_TIMEOUT, else what net.ipv4.tcp_retries2 comes to. Meanwhile the trunk
 * tries to bring it. SO_KEEPALIVE has an idle peer asked by a CREDIT, which it answers by RST if it
 * has no such connection.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "sock/far.h"
#include "sock/far_alive.h"
#include "sock/far_due.h"
#include "sock/parcel.h"
#include "sock/sock.h"
#include "sock/stream.h"

/* TCP's least retransmission timeout, which doubles up to the greatest. */
#define ALIVE_RTO_MIN	(HZ / 5)
#define ALIVE_RTO_MAX	(120 * HZ)

/* The value of an option that was set, or that other one. */
static int alive_option(const struct sock *sk, enum vqp_sock_option i, int unset)
{
	const struct vqp_sock *vs = vqp_sk(sk);

	return READ_ONCE(vs->set) & BIT(i) ? READ_ONCE(vs->values[i]) : unset;
}

/* After so long TCP has sent a packet again as often as the sysctl says, and gives up. */
static unsigned long alive_retries(const struct sock *sk)
{
	const u32 retries = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_retries2);
	const u32 doublings = min_t(u32, retries, ilog2(ALIVE_RTO_MAX / ALIVE_RTO_MIN));

	return ((2UL << doublings) - 1) * ALIVE_RTO_MIN +
	       (unsigned long)(retries - doublings) * ALIVE_RTO_MAX;
}

static unsigned long alive_idle(const struct sock *sk)
{
	const int idle = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_keepalive_time) / HZ;

	return (unsigned long)alive_option(sk, VQP_SOCK_KEEPIDLE, idle) * HZ;
}

/* For so long an idle peer may owe the answer: the time that TCP has for all its probes. */
static unsigned long alive_probes(const struct sock *sk)
{
	const struct net *net = sock_net(sk);
	const int interval = READ_ONCE(net->ipv4.sysctl_tcp_keepalive_intvl) / HZ;
	const int count = READ_ONCE(net->ipv4.sysctl_tcp_keepalive_probes);

	return (unsigned long)alive_option(sk, VQP_SOCK_KEEPINTVL, interval) *
	       alive_option(sk, VQP_SOCK_KEEPCNT, count) * HZ;
}

/* For so long the peer may not take what it is sent. */
static unsigned long alive_patience(const struct vqp_far *far, const struct sock *sk)
{
	const int ms = alive_option(sk, VQP_SOCK_USER_TIMEOUT, 0);

	if (ms)
		return msecs_to_jiffies(ms);
	return far->probing && !far->under_way ? alive_probes(sk) : alive_retries(sk);
}

/*
 * Is the connection to break? Else the peer is asked, perhaps. One that was closed may have
 * parcels.
 */
static bool alive_is_over(struct vqp_far *far, const struct sock *sk)
{
	lockdep_assert_held(&far->s.lock);
	if (far->s.closed)
		return !list_empty(&far->parcels) &&
		       time_after(jiffies, far->moved_at + VQP_TRUNK_ORPHAN_JIFFIES);
	if (!sk)
		return false;
	if (vqp_far_is_busy(far))
		return time_after(jiffies, far->moved_at + alive_patience(far, sk));
	if (sock_flag(sk, SOCK_KEEPOPEN) &&
	    time_after_eq(jiffies, far->moved_at + alive_idle(sk)) &&
	    time_after_eq(jiffies, far->heard_at + alive_idle(sk))) {
		far->probing = true;
		vqp_far_set_due(far, VQP_FAR_DUE_PROBE);
	}
	return false;
}

void vqp_far_check_alive(struct vqp_far *far)
{
	struct vqp_stream *s = &far->s;
	bool over;

	spin_lock_bh(&s->lock);
	over = far->state == VQP_FAR_OPEN && alive_is_over(far, s->sk);
	if (over) {
		vqp_parcels_drop(far, false);
		/* If the peer is there nevertheless, it learns of it. */
		vqp_far_set_due(far, VQP_FAR_DUE_RST);
		far->state = VQP_FAR_GONE;
	}
	spin_unlock_bh(&s->lock);
	if (over)
		vqp_stream_break(s, ETIMEDOUT);
}
