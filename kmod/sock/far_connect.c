// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <net/sock.h>
#include "ns/namespace.h"
#include "sock/conn.h"
#include "sock/far.h"
#include "sock/far_connect.h"
#include "sock/far_life.h"
#include "sock/far_tell.h"
#include "sock/far_window.h"
#include "sock/hub.h"
#include "sock/route.h"
#include "sock/sock.h"
#include "sock/stream.h"
#include "sock/trunk.h"

static unsigned int connect_ms = 300;
module_param(connect_ms, uint, 0644);
MODULE_PARM_DESC(connect_ms, "for another node to answer a connect of a stream socket, which is of TCP otherwise (default: 300)");

#define FAR_ROUND_TRIPS_MAX_MS	1000

/*
 * For a trunk to open and the peer to answer: more than connect_ms if three round trips take more,
 * as far as the trunk knows, and less if the program has less.
 */
static long far_patience(const struct sock *sk, struct vqp_trunk *trunk)
{
	struct vqp_trunk_info info;
	u32 ms;

	vqp_trunk_look(trunk, &info);
	ms = min_t(u32, 3 * info.srtt_us / 1000, FAR_ROUND_TRIPS_MAX_MS);
	ms = max(ms, READ_ONCE(connect_ms));
	return min_t(long, msecs_to_jiffies(ms), READ_ONCE(sk->sk_sndtimeo));
}

/* Have the peer answer. 0, or -errno; nothing happens to the end after a failure. */
static int far_ask(struct vqp_far *far, long patience)
{
	long left;
	int ret;

	vqp_far_tell_now(far, VQP_FAR_DUE_OPEN);
	left = wait_for_completion_killable_timeout(&far->answered, patience);
	spin_lock_bh(&far->s.lock);
	ret = far->answer;
	if (far->state == VQP_FAR_CONNECTING) {
		far->state = VQP_FAR_GONE;
		ret = left < 0 ? -EINTR : -ETIMEDOUT;
	}
	spin_unlock_bh(&far->s.lock);
	return ret;
}

static int far_connect_by(struct sock *sk, struct vqp_ns *ns, struct vqp_trunk *trunk,
			  struct vqp_names *names)
{
	struct vqp_far *far;
	int ret;

	if (vqp_trunk_is_refused(trunk, names->remote_port))
		return -ECONNREFUSED;
	far = vqp_far_make(ns, trunk);
	if (IS_ERR(far))
		return PTR_ERR(far);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		vqp_far_set_window(&far->s, READ_ONCE(sk->sk_rcvbuf));
	ret = vqp_conn_name(sk, &far->s, names);
	if (!ret) {
		ret = far_ask(far, far_patience(sk, trunk));
		if (ret && ret != -EINTR)
			vqp_trunk_note_refused(trunk, names->remote_port, ret);
	}
	if (ret) {
		vqp_stream_close(&far->s, true);
		vqp_far_put(far);
		return ret;
	}
	vqp_conn_connected(sk, &far->s);
	return 0;
}

static int far_connect(struct sock *sk, struct vqp_ns *ns, struct vqp_names *names)
{
	struct vqp_trunk *trunk = vqp_trunk_get(ns, names->remote, VQP_TRUNK_TO_CONNECT);
	int ret;

	if (IS_ERR(trunk))
		return PTR_ERR(trunk);
	ret = far_connect_by(sk, ns, trunk, names);
	vqp_trunk_put(trunk);
	return ret;
}

int vqp_far_connect(struct sock *sk, struct vqp_names *names)
{
	int ret = -EHOSTUNREACH;
	struct vqp_ns *ns;

	sock_owned_by_me(sk);
	if (!vqp_ns_sockets_on(sock_net(sk)) || !vqp_route_find(sk, names))
		return ret;
	ns = vqp_ns_of_tenant(sock_net(sk), names->local);
	if (!ns)
		return ret;
	/* It had no memory for one before. */
	if (!READ_ONCE(ns->hub))
		vqp_hub_begin(ns);
	if (ns->vnet == vqp_ns_net(sock_net(sk)))
		ret = vqp_far_may(ns, names->remote, names->remote_port) ?:
		      far_connect(sk, ns, names);
	vqp_ns_put(ns);
	return ret;
}
