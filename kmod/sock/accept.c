// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <linux/vqp.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/trace.h"
#include "ns/namespace.h"
#include "sock/accept.h"
#include "sock/conn.h"
#include "sock/inner.h"
#include "sock/listener.h"
#include "sock/option.h"
#include "sock/sock.h"
#include "sock/stream.h"
#include "sock/table.h"

int vqp_sock_listen(struct socket *sock, int backlog)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	int ret = -EINVAL;

	lock_sock(sock->sk);
	if (vqp_sock_is_conn(vs))
		goto unlock;
	inner = vqp_inner_get(sock->sk);
	ret = IS_ERR(inner) ? PTR_ERR(inner) : inner->ops->listen(inner, backlog);
	if (!ret) {
		sock->sk->sk_state = TCP_LISTEN;
		/* First, for who comes as soon as it is listed finds a poll(2) that looks there. */
		vqp_sock_become(vs, VQP_SOCK_LISTENER);
		vqp_listener_add(vs, inner->sk->sk_max_ack_backlog);
	}
unlock:
	release_sock(sock->sk);
	return ret;
}

void vqp_sock_follow_listen(struct socket *sock)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);

	sock_owned_by_me(sock->sk);
	if (vqp_sock_kind(vs) != VQP_SOCK_LISTENER ||
	    READ_ONCE(vs->inner->sk->sk_state) == TCP_LISTEN)
		return;
	vqp_listener_remove(vs);
	sock->sk->sk_state = TCP_CLOSE;
	vqp_sock_become(vs, VQP_SOCK_FRESH);
	sock->sk->sk_state_change(sock->sk);
}

int vqp_sock_unlisten(struct socket *sock, int how)
{
	struct socket *inner = vqp_sk(sock->sk)->inner;
	int ret;

	lock_sock(sock->sk);
	ret = inner->ops->shutdown(inner, how);
	vqp_sock_follow_listen(sock);
	release_sock(sock->sk);
	return ret;
}

static bool accept_tcp_has(const struct vqp_sock *vs)
{
	return !reqsk_queue_empty(&inet_csk(vs->inner->sk)->icsk_accept_queue);
}

bool vqp_sock_may_accept(struct socket *sock)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);

	return vqp_listener_has(vs) || accept_tcp_has(vs);
}

/* Wait for a connection. 0: there may be one; or -errno. */
static int accept_wait(struct socket *sock, long timeo)
{
	struct sock *isk = vqp_sk(sock->sk)->inner->sk;
	DEFINE_WAIT(wait);
	int ret = 0;

	/* One that does not wait takes no wake-up from those who do. */
	if (!timeo)
		return -EAGAIN;
	for (;;) {
		/* Of those who wait for the same connection, one is woken. */
		prepare_to_wait_exclusive(sk_sleep(sock->sk), &wait, TASK_INTERRUPTIBLE);
		if (vqp_sock_may_accept(sock) || READ_ONCE(isk->sk_state) != TCP_LISTEN)
			break;
		ret = !timeo ? -EAGAIN : signal_pending(current) ? sock_intr_errno(timeo) : 0;
		if (ret)
			break;
		timeo = schedule_timeout(timeo);
	}
	finish_wait(sk_sleep(sock->sk), &wait);
	/* The wake-up may have been for a connection, which nobody else was woken for. */
	return ret && vqp_sock_may_accept(sock) ? 0 : ret;
}

/*
 * Give newsock a socket of this module, as socket(2) makes one. It is made with a struct socket of
 * its own, from which it is taken. The kernel may make one where programs may no more (family.c);
 * from then on it is a program's, and has the labels that the listener has.
 */
static int accept_graft(struct socket *sock, struct socket *newsock)
{
	struct sock *sk = sock->sk;
	struct socket *made;
	int ret;

	ret = sock_create_kern(sock_net(sk), sk->sk_family, SOCK_STREAM, IPPROTO_VQP, &made);
	if (ret)
		return ret;
	sk_net_refcnt_upgrade(made->sk);
	made->sk->sk_kern_sock = 0;
	security_sk_clone(sk, made->sk);
	vqp_option_inherit(vqp_sk(made->sk), vqp_sk(sk));
	sk = made->sk;
	sock_orphan(sk);
	made->sk = NULL;
	sock_release(made);
	sock_graft(sk, newsock);
	sock_reset_flag(sk, SOCK_DEAD);
	vqp_compat_hear_sol_socket(newsock);
	return 0;
}

static void accept_trace(const struct vqp_sock_info *info)
{
	trace_vqp_sock_accept(info->netns_ino, info->kind, info->names.local,
			      info->names.local_port, info->names.remote, info->names.remote_port,
			      info->tx_bytes, info->rx_bytes);
}

/* The connection that was taken first is `s`. Without memory it is there for the next accept(2). */
static int accept_conn(struct socket *sock, struct socket *newsock, struct vqp_stream *s)
{
	int ret = accept_graft(sock, newsock);
	struct vqp_sock_info info;

	if (ret) {
		vqp_listener_return(vqp_sk(sock->sk), s);
		return ret;
	}
	vqp_conn_accept(newsock->sk, s);
	if (trace_vqp_sock_accept_enabled()) {
		vqp_sock_info_get(vqp_sk(newsock->sk), &info);
		accept_trace(&info);
	}
	return 0;
}

/* TCP's operations replace ours, whose module accept(2) has taken a reference on. */
static int accept_tcp(struct socket *inner, struct socket *newsock, struct proto_accept_arg *arg)
{
	const int flags = arg->flags;
	struct vqp_sock_info info;
	int ret;

	arg->flags |= O_NONBLOCK;
	ret = vqp_compat_accept(inner, newsock, arg);
	arg->flags = flags;
	if (ret)
		return ret;
	__module_get(inner->ops->owner);
	WRITE_ONCE(newsock->ops, inner->ops);
	module_put(THIS_MODULE);
	vqp_sock_info_of_tcp(newsock->sk, &info);
	vqp_count_event(VQP_EV_SOCK_TCP);
	vqp_ns_tally(sock_net(newsock->sk), info.names.local, VQP_TALLY_TCP);
	accept_trace(&info);
	return 0;
}

/*
 * Accept what there is, or -EAGAIN. Where connections of both kinds wait, they take turns: many of
 * one do not keep the others from being accepted.
 */
static int accept_some(struct socket *sock, struct socket *newsock, struct proto_accept_arg *arg)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct vqp_stream *s = NULL;
	int ret = -EAGAIN;

	if (!READ_ONCE(vs->tcp_turn) || !accept_tcp_has(vs))
		s = vqp_listener_take(vs);
	if (!s) {
		ret = accept_tcp(vqp_inner_enter(vs), newsock, arg);
		if (ret == -EAGAIN)
			s = vqp_listener_take(vs);
	}
	WRITE_ONCE(vs->tcp_turn, s);
	return s ? accept_conn(sock, newsock, s) : ret;
}

int vqp_sock_accept(struct socket *sock, struct socket *newsock, struct proto_accept_arg *arg)
{
	const long timeo = sock_rcvtimeo(sock->sk, arg->flags & O_NONBLOCK);
	int ret;

	if (vqp_sock_kind(vqp_sk(sock->sk)) != VQP_SOCK_LISTENER)
		return -EINVAL;
	do {
		ret = accept_some(sock, newsock, arg);
		/* Another thread may take what this one was woken for. */
		if (ret != -EAGAIN)
			return ret;
		ret = accept_wait(sock, timeo);
	} while (!ret);
	return ret;
}
