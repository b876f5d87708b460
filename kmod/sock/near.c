// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <net/sock.h>
#include "ns/namespace.h"
#include "sock/conn.h"
#include "sock/listener.h"
#include "sock/near.h"
#include "sock/pair.h"
#include "sock/route.h"
#include "sock/sock.h"
#include "sock/stream.h"

/* A connection that has its names; ERR_PTR(-EADDRNOTAVAIL): sk is bound, and they are taken. */
static struct vqp_stream *near_make(struct sock *sk, struct vqp_ns *ns, struct vqp_ns *peer,
				    struct vqp_names *names)
{
	struct vqp_stream *s = vqp_pair_make(ns, peer);
	int ret;

	if (IS_ERR(s))
		return s;
	ret = vqp_conn_name(sk, s, names);
	if (ret) {
		vqp_pair_abandon(s);
		return ERR_PTR(ret);
	}
	return s;
}

/* Connect sk, of a namespace, to another, both of which let it. */
static int near_connect(struct sock *sk, struct vqp_ns *ns, struct vqp_ns *peer,
			struct vqp_names *names)
{
	struct vqp_stream *s;
	int ret;

	if (!vqp_listener_exists(peer, names->remote, names->remote_port))
		return -ECONNREFUSED;
	s = near_make(sk, ns, peer, names);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		s->ops->set_window(s, READ_ONCE(sk->sk_rcvbuf));
	ret = vqp_listener_offer(peer, s->peer, false);
	if (ret) {
		vqp_pair_abandon(s);
		return ret;
	}
	vqp_conn_connected(sk, s);
	return 0;
}

/*
 * May the two be connected? 0; -EACCES: sockets are off, or the rules of either put it out;
 * -EHOSTUNREACH: an address that has left its interface may have another owner.
 */
static int near_may(const struct vqp_ns *ns, const struct vqp_ns *peer,
		    const struct vqp_names *names)
{
	if (ns->tenant != peer->tenant || READ_ONCE(ns->address.away) ||
	    READ_ONCE(peer->address.away))
		return -EHOSTUNREACH;
	if (!vqp_ns_lets_sockets(ns, names->remote, names->remote_port) ||
	    !vqp_ns_lets_sockets(peer, names->local, names->remote_port))
		return -EACCES;
	return 0;
}

int vqp_near_connect(struct sock *sk, struct vqp_names *names)
{
	struct vqp_ns *ns = NULL, *peer;
	int ret = -EHOSTUNREACH;

	sock_owned_by_me(sk);
	peer = vqp_ns_of_tenant(sock_net(sk), names->remote);
	if (!peer)
		return -EREMOTE;
	if (vqp_route_find(sk, names))
		ns = vqp_ns_of_tenant(sock_net(sk), names->local);
	if (ns && ns->vnet == vqp_ns_net(sock_net(sk)))
		ret = near_may(ns, peer, names) ?: near_connect(sk, ns, peer, names);
	if (ns)
		vqp_ns_put(ns);
	vqp_ns_put(peer);
	return ret;
}
