// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <net/transp_v6.h>
#include <linux/vqp.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/trace.h"
#include "ns/namespace.h"
#include "sock/accept.h"
#include "sock/conn.h"
#include "sock/connect.h"
#include "sock/family.h"
#include "sock/hook.h"
#include "sock/inner.h"
#include "sock/listener.h"
#include "sock/napi.h"
#include "sock/option.h"
#include "sock/sock.h"
#include "sock/stream.h"
#include "sock/table.h"

/* ---- The calls that each kind has an answer of its own to ---- */

static int family_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	bool conn;

	/* accept(2) asks here about what it has got of a listener, which may be a socket of TCP. */
	if (sock->sk->sk_prot->owner == THIS_MODULE) {
		conn = vqp_sock_is_conn(vs);
		inner = vqp_inner_of(vs);
		if (inner && !conn)
			return inner->ops->getname(inner, addr, peer);
		if (conn && peer == 1 && vqp_conn_is_over(sock->sk))
			return -ENOTCONN;
	}
	if (sock->sk->sk_family == AF_INET6)
		return inet6_getname(sock, addr, peer);
	return inet_getname(sock, addr, peer);
}

static __poll_t family_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);

	sock_poll_wait(file, sock, wait);
	switch (vqp_sock_kind(vs)) {
	case VQP_SOCK_NEAR:
	case VQP_SOCK_FAR:
		return vqp_conn_poll(sock->sk);
	case VQP_SOCK_TCP:
		return vqp_inner_poll(vs, file);
	case VQP_SOCK_LISTENER:
		return vqp_sock_may_accept(sock) ? EPOLLIN | EPOLLRDNORM : 0;
	case VQP_SOCK_FRESH:
		break;
	}
	/* So says TCP, of which it may be one. */
	return EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
}

static int family_shutdown(struct socket *sock, int how)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	int ret;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	switch (vqp_sock_kind(vs)) {
	case VQP_SOCK_NEAR:
	case VQP_SOCK_FAR:
		return vqp_conn_shutdown(sock->sk, how + 1);
	case VQP_SOCK_TCP:
		inner = vqp_inner_enter(vs);
		ret = inner->ops->shutdown(inner, how);
		vqp_inner_leave(vs);
		return ret;
	case VQP_SOCK_LISTENER:
		return vqp_sock_unlisten(sock, how);
	case VQP_SOCK_FRESH:
		break;
	}
	return -ENOTCONN;
}

/* With MSG_FASTOPEN the first bytes come with the connect. 0, or -errno. */
static int family_fastopen(struct socket *sock, const struct msghdr *msg)
{
	const struct vqp_sock *vs = vqp_sk(sock->sk);

	if (!(msg->msg_flags & MSG_FASTOPEN) || !msg->msg_name || vqp_sock_is_conn(vs) ||
	    vqp_sock_kind(vs) == VQP_SOCK_TCP)
		return 0;
	return vqp_sock_connect_now(sock, msg->msg_name, msg->msg_namelen);
}

static int family_sendmsg(struct socket *sock, struct msghdr *msg, size_t bytes)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	int ret;

	ret = family_fastopen(sock, msg);
	if (ret)
		return ret;
	switch (vqp_sock_kind(vs)) {
	case VQP_SOCK_NEAR:
	case VQP_SOCK_FAR:
		return vqp_conn_send(sock->sk, msg, bytes);
	case VQP_SOCK_TCP:
		inner = vqp_inner_enter(vs);
		ret = inner->ops->sendmsg(inner, msg, bytes);
		vqp_inner_leave(vs);
		return ret;
	default:
		return sk_stream_error(sock->sk, msg->msg_flags, -EPIPE);
	}
}

static int family_recvmsg(struct socket *sock, struct msghdr *msg, size_t bytes, int flags)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	int ret;

	switch (vqp_sock_kind(vs)) {
	case VQP_SOCK_NEAR:
	case VQP_SOCK_FAR:
		return vqp_conn_recv(sock->sk, msg, bytes, flags);
	case VQP_SOCK_TCP:
		inner = vqp_inner_enter(vs);
		ret = inner->ops->recvmsg(inner, msg, bytes, flags);
		vqp_inner_leave(vs);
		return ret;
	default:
		return -ENOTCONN;
	}
}

static void family_trace_close(const struct vqp_sock *vs)
{
	struct vqp_sock_info info;

	if (!trace_vqp_sock_close_enabled())
		return;
	vqp_sock_info_get(vs, &info);
	trace_vqp_sock_close(info.netns_ino, info.kind, info.names.local, info.names.local_port,
			     info.names.remote, info.names.remote_port, info.tx_bytes,
			     info.rx_bytes);
}

/*
 * The end of a socket. 1. No connection comes to it any more. 2. Its stream does not wake it any
 * more, and its peer learns of the end; bytes that it has sent are with the peer already. 3. TCP
 * closes what it has. 4. Nothing leads to the socket, whose memory goes with its last reference.
 */
static int family_release(struct socket *sock)
{
	struct vqp_stream *s, *next;
	struct sock *sk = sock->sk;
	struct vqp_sock *vs;

	if (!sk)
		return 0;
	vs = vqp_sk(sk);
	vqp_sock_table_remove(vs);
	lock_sock(sk);
	family_trace_close(vs);
	vqp_listener_remove(vs);
	if (vqp_sock_is_conn(vs)) {
		vqp_conn_close(sk);
		list_add(&vs->stream->pending, &vs->past);
	}
	list_for_each_entry_safe(s, next, &vs->past, pending)
		vqp_stream_put(s);
	vqp_inner_release(vs);
	sk->sk_state = TCP_CLOSE;
	sock->sk = NULL;
	release_sock(sk);
	sk_common_release(sk);
	return 0;
}

/* ---- The tables ---- */

/* A socket's lock has a class of its own: an inner socket's is taken inside it. */
static struct lock_class_key family_lock_key, family_slock_key;

/*
 * Where sockets are off, there are none: rules that know TCP alone do not see what is TCP beneath
 * another number. A listener that there is accepts still, by sockets that the kernel makes for it.
 */
static int family_create(struct sock *sk)
{
	struct vqp_sock *vs = vqp_sk(sk);
	int ret;

	if (sk->sk_net_refcnt && !vqp_ns_sockets_on(sock_net(sk)) && !vqp_hook_is_asked())
		return -EPROTONOSUPPORT;
	sock_lock_init_class_and_name(sk, "slock-VQP", &family_slock_key, "sk_lock-VQP",
				      &family_lock_key);
	/* setsockopt(SOL_SOCKET) is also for the inner socket. */
	vqp_compat_hear_sol_socket(sk->sk_socket);
	INIT_LIST_HEAD(&vs->past);
	vqp_listener_init(vs);
	/* getsockopt(2) tells what TCP would; with less, sk_write_space() would wake nobody. */
	sk->sk_sndbuf = max_t(int, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[1]),
			      SOCK_MIN_SNDBUF);
	sk->sk_rcvbuf = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[1]);
	ret = vqp_sock_table_add(vs);
	if (ret)
		return ret;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	vqp_count_made(VQP_OBJ_SOCK);
	vs->counted = true;
	return 0;
}

/* The core calls this also for one that was refused, here or by a BPF program. */
static void family_destroy(struct sock *sk)
{
	vqp_sock_table_remove(vqp_sk(sk));
	if (!vqp_sk(sk)->counted)
		return;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	vqp_count_freed(VQP_OBJ_SOCK);
}

/* No table of the protocol's own has sockets; the core calls this. */
static void family_unhash(struct sock *sk)
{
}

static struct proto vqp_prot = {
	.name		= "VQP",
	.owner		= THIS_MODULE,
	.init		= family_create,
	.destroy	= family_destroy,
	.unhash		= family_unhash,
	.obj_size	= sizeof(struct vqp_sock),
};

/* The members' order is the core's. */
struct vqp6_sock {
	struct vqp_sock vqp;
	struct ipv6_pinfo np;
};

static struct proto vqp6_prot = {
	.name		= "VQPv6",
	.owner		= THIS_MODULE,
	.init		= family_create,
	.destroy	= family_destroy,
	.unhash		= family_unhash,
	.obj_size	= sizeof(struct vqp6_sock),
	VQP_COMPAT_PINFO_OFFSET(offsetof(struct vqp6_sock, np))
};

VQP_COMPAT_ACCEPT(vqp_sock_accept)

#define FAMILY_OPS(number)				\
	{						\
		.family		= number,		\
		.owner		= THIS_MODULE,		\
		.release	= family_release,	\
		.bind		= vqp_sock_bind,	\
		.connect	= vqp_sock_connect,	\
		.socketpair	= sock_no_socketpair,	\
		.accept		= vqp_sock_accept_op,	\
		.getname	= family_getname,	\
		.poll		= family_poll,		\
		.ioctl		= vqp_ioctl,		\
		.gettstamp	= sock_gettstamp,	\
		.listen		= vqp_sock_listen,	\
		.shutdown	= family_shutdown,	\
		.setsockopt	= vqp_setsockopt,	\
		.getsockopt	= vqp_getsockopt,	\
		.sendmsg	= family_sendmsg,	\
		.recvmsg	= family_recvmsg,	\
		.mmap		= sock_no_mmap,		\
		VQP_COMPAT_SET_PEEK_OFF			\
	}

static const struct proto_ops vqp_sock_ops = FAMILY_OPS(PF_INET);
static const struct proto_ops vqp6_sock_ops = FAMILY_OPS(PF_INET6);

static struct inet_protosw vqp_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_VQP,
	.prot		= &vqp_prot,
	.ops		= &vqp_sock_ops,
};

static struct inet_protosw vqp6_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_VQP,
	.prot		= &vqp6_prot,
	.ops		= &vqp6_sock_ops,
};

int __init vqp_family_init(void)
{
	int ret;

	/* IPv6's part is the last thing in a socket. */
	BUILD_BUG_ON(sizeof(struct vqp6_sock) != offsetofend(struct vqp6_sock, np));
	vqp_listener_table_init();
	vqp_stream_table_init();
	ret = vqp_napi_init();
	if (ret)
		return ret;
	ret = proto_register(&vqp_prot, 1);
	if (ret)
		goto err_napi;
	ret = proto_register(&vqp6_prot, 1);
	if (ret)
		goto err_prot;
	ret = inet6_register_protosw(&vqp6_protosw);
	if (ret)
		goto err_prot6;
	inet_register_protosw(&vqp_protosw);
	return 0;

err_prot6:
	proto_unregister(&vqp6_prot);
err_prot:
	proto_unregister(&vqp_prot);
err_napi:
	vqp_napi_exit();
	return ret;
}

void vqp_family_exit(void)
{
	inet_unregister_protosw(&vqp_protosw);
	inet6_unregister_protosw(&vqp6_protosw);
	proto_unregister(&vqp6_prot);
	proto_unregister(&vqp_prot);
	vqp_napi_exit();
}
