// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/in.h>
#include <linux/net.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "base/counters.h"
#include "base/trace.h"
#include "ns/namespace.h"
#include "sock/accept.h"
#include "sock/conn.h"
#include "sock/connect.h"
#include "sock/far_connect.h"
#include "sock/inner.h"
#include "sock/near.h"
#include "sock/route.h"
#include "sock/sock.h"
#include "sock/stream.h"

int vqp_sock_bind(struct socket *sock, struct sockaddr_unsized *addr, int bytes)
{
	struct sock *sk = sock->sk;
	struct socket *inner;
	int ret = -EINVAL;

	lock_sock(sk);
	if (!vqp_sock_is_conn(vqp_sk(sk))) {
		inner = vqp_inner_get(sk);
		ret = IS_ERR(inner) ? PTR_ERR(inner) : inner->ops->bind(inner, addr, bytes);
	}
	release_sock(sk);
	return ret;
}

static bool is_unspec(const void *addr, int bytes)
{
	const struct sockaddr *to = addr;

	return bytes >= (int)sizeof(to->sa_family) && to->sa_family == AF_UNSPEC;
}

/* What TCP refuses at once leaves a socket as it was. 0, or -errno. */
static int connect_check(const struct sock *sk, const void *addr, int bytes)
{
	const int least = sk->sk_family == AF_INET6 ? SIN6_LEN_RFC2133 : sizeof(struct sockaddr_in);
	const struct sockaddr *to = addr;

	if (bytes < least)
		return -EINVAL;
	return to->sa_family == sk->sk_family ? 0 : -EAFNOSUPPORT;
}

/* Other threads may look at connections that were dissolved: there are not many of them. */
static bool connect_may_leave_tcp(const struct vqp_sock *vs)
{
	return !vqp_sock_is_tcp_only(vs) && vs->npast < VQP_SOCK_PAST_MAX;
}

/* Connect by vqp, if that can be. 0, or -errno; but for -EADDRNOTAVAIL, it is to be by TCP. */
static int connect_by_vqp(struct sock *sk, const void *addr, int bytes, struct vqp_names *names)
{
	int ret = -EHOSTUNREACH;

	if (!vqp_route_parse(sk, addr, bytes, names))
		return ret;
	if (connect_may_leave_tcp(vqp_sk(sk))) {
		ret = vqp_near_connect(sk, names);
		if (ret == -EREMOTE)
			ret = vqp_far_connect(sk, names);
	} else {
		/* Its namespace is told that it is by TCP. */
		vqp_route_find(sk, names);
	}
	return ret;
}

/* A socket connects by TCP, `why` being the reason; `names`, as far as they are known. */
static void connect_count_tcp(const struct sock *sk, const struct vqp_names *names, int why)
{
	vqp_count_event(VQP_EV_SOCK_TCP);
	vqp_ns_tally(sock_net(sk), names->local, VQP_TALLY_TCP);
	if (why == -EACCES)
		vqp_ns_tally(sock_net(sk), names->local, VQP_TALLY_RULED_OUT);
}

/* Decide the kind of a socket that connects. 0, or -errno, which the caller is told. */
static int connect_decide(struct sock *sk, const void *addr, int bytes)
{
	struct vqp_names names = {};
	struct socket *inner;
	bool by_tcp;
	int ret;

	ret = connect_check(sk, addr, bytes);
	if (ret)
		return ret;
	ret = connect_by_vqp(sk, addr, bytes, &names);
	by_tcp = ret && ret != -EADDRNOTAVAIL;
	trace_vqp_sock_connect(sock_net(sk)->ns.inum, names.remote, names.remote_port,
			       by_tcp ? VQP_SOCK_TCP : vqp_sock_kind(vqp_sk(sk)), ret);
	if (!by_tcp)
		return ret;
	inner = vqp_inner_get(sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	vqp_sock_become(vqp_sk(sk), VQP_SOCK_TCP);
	connect_count_tcp(sk, &names, ret);
	return 0;
}

/*
 * Hand the call to the inner socket, without lock_sock(): it may wait, and another thread may end
 * that by shutdown(2).
 */
static int connect_inner(struct sock *sk, struct sockaddr_unsized *addr, int bytes, int flags)
{
	struct socket *inner = vqp_inner_enter(vqp_sk(sk));
	int ret = inner->ops->connect(inner, addr, bytes, flags);

	vqp_inner_leave(vqp_sk(sk));
	return ret;
}

int vqp_sock_connect_now(struct socket *sock, const void *addr, int bytes)
{
	int ret = -EISCONN;

	lock_sock(sock->sk);
	if (vqp_sock_kind(vqp_sk(sock->sk)) == VQP_SOCK_FRESH)
		ret = connect_decide(sock->sk, addr, bytes);
	release_sock(sock->sk);
	return ret;
}

/* connect(AF_UNSPEC): the socket is as new, but for what it is bound to. Under lock_sock(). */
static int connect_dissolve(struct socket *sock, struct sockaddr_unsized *addr, int bytes,
			    int flags)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	int ret = 0;

	if (vqp_sock_is_conn(vs))
		vqp_conn_dissolve(sock->sk);
	else if (vs->inner)
		ret = vs->inner->ops->connect(vs->inner, addr, bytes, flags);
	vqp_sock_follow_listen(sock);
	return ret;
}

/* A socket that is connected by vqp connects again. Under lock_sock(). */
static int connect_again(struct socket *sock)
{
	if (sock->state != SS_CONNECTING)
		return -EISCONN;
	sock->state = SS_CONNECTED;
	return 0;
}

int vqp_sock_connect(struct socket *sock, struct sockaddr_unsized *addr, int bytes, int flags)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	enum vqp_sock_kind kind;
	bool was_conn, is_conn;
	int ret = 0;

	lock_sock(sock->sk);
	vqp_sock_follow_listen(sock);
	kind = vqp_sock_kind(vs);
	if (kind != VQP_SOCK_TCP && is_unspec(addr, bytes)) {
		ret = connect_dissolve(sock, addr, bytes, flags);
		release_sock(sock->sk);
		return ret;
	}
	was_conn = vqp_sock_is_conn(vs);
	if (was_conn)
		ret = connect_again(sock);
	else if (kind == VQP_SOCK_LISTENER)
		ret = -EISCONN;
	else if (kind == VQP_SOCK_FRESH)
		ret = connect_decide(sock->sk, addr, bytes);
	is_conn = vqp_sock_is_conn(vs);
	/* TCP never connects before such a call returns. */
	if (!ret && is_conn && !was_conn && flags & O_NONBLOCK) {
		sock->state = SS_CONNECTING;
		ret = -EINPROGRESS;
	}
	release_sock(sock->sk);
	if (ret || is_conn)
		return ret;
	return connect_inner(sock->sk, addr, bytes, flags);
}
