// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/net.h>
#include <linux/nospec.h>
#include <linux/sockios.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <linux/termios.h>
#include <linux/uaccess.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "sock/inner.h"
#include "sock/option.h"
#include "sock/plain.h"
#include "sock/sock.h"
#include "sock/stream.h"

/* The options that are kept here. */
static const struct option {
	int name;
	int min, max;			/* what TCP takes */
	int unset;			/* its value where it was not set; -1: the sysctl's */
	bool flag;			/* Any value but 0 is 1. */
} options[VQP_SOCK_OPTIONS] = {
	[VQP_SOCK_NODELAY]	= { TCP_NODELAY, INT_MIN, INT_MAX, 0, true },
	[VQP_SOCK_CORK]		= { TCP_CORK, INT_MIN, INT_MAX, 0, true },
	[VQP_SOCK_KEEPIDLE]	= { TCP_KEEPIDLE, 1, MAX_TCP_KEEPIDLE, -1 },
	[VQP_SOCK_KEEPINTVL]	= { TCP_KEEPINTVL, 1, MAX_TCP_KEEPINTVL, -1 },
	[VQP_SOCK_KEEPCNT]	= { TCP_KEEPCNT, 1, MAX_TCP_KEEPCNT, -1 },
	[VQP_SOCK_USER_TIMEOUT]	= { TCP_USER_TIMEOUT, 0, INT_MAX, 0 },
	[VQP_SOCK_NOTSENT_LOWAT] = { TCP_NOTSENT_LOWAT, INT_MIN, INT_MAX, 0 },
	[VQP_SOCK_INQ]		= { TCP_INQ, 0, 1, 0 },
	[VQP_SOCK_SYNCNT]	= { TCP_SYNCNT, 1, MAX_TCP_SYNCNT, -1 },
	[VQP_SOCK_LINGER2]	= { TCP_LINGER2, INT_MIN, INT_MAX, -1 },
};

/* The enum vqp_sock_option of an option of that level, or -1. */
static int option_of(int level, int name)
{
	int i;

	for (i = 0; level == SOL_TCP && i < VQP_SOCK_OPTIONS; i++)
		if (options[i].name == name)
			return i;
	return -1;
}

void vqp_option_inherit(struct vqp_sock *to, const struct vqp_sock *from)
{
	vqp_inner_copy_options(&to->inet.sk, &from->inet.sk);
	to->set = from->set;
	memcpy(to->values, from->values, sizeof(to->values));
}

/* The inner socket, made if need be; or ERR_PTR(). Without lock_sock(). */
static struct socket *option_inner(struct sock *sk)
{
	struct socket *inner = vqp_inner_of(vqp_sk(sk));

	if (inner)
		return inner;
	lock_sock(sk);
	inner = vqp_inner_get(sk);
	release_sock(sk);
	return inner;
}

/* Keep the value of an option. */
static int option_keep(struct vqp_sock *vs, int i, sockptr_t from, unsigned int bytes)
{
	const struct option *option = &options[i];
	int value;

	if (bytes < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, from, sizeof(value)))
		return -EFAULT;
	if (value < option->min || value > option->max)
		return -EINVAL;
	vs->values[i] = option->flag ? !!value : value;
	vs->set |= BIT(i);
	/* To TCP 0 is the sysctl's, less is none, and too much is the most. */
	if (i == VQP_SOCK_LINGER2) {
		vs->values[i] = clamp(value, -1, TCP_FIN_TIMEOUT_MAX / HZ);
		vs->set = value ? vs->set : vs->set & ~BIT(i);
	}
	return 0;
}

/* An option that is kept here. */
static int option_set_kept(struct sock *sk, int i, sockptr_t value, unsigned int bytes)
{
	struct vqp_sock *vs = vqp_sk(sk);
	struct socket *inner;
	int ret;

	lock_sock(sk);
	ret = option_keep(vs, i, value, bytes);
	inner = vs->inner;
	release_sock(sk);
	if (!ret && inner)
		ret = vqp_inner_set(inner, SOL_TCP, options[i].name, value, bytes);
	return ret;
}

/* Options at the level of sockets that are about ports, and so TCP's alone. */
static bool option_is_inner(int name)
{
	return name == SO_ATTACH_REUSEPORT_CBPF || name == SO_ATTACH_REUSEPORT_EBPF ||
	       name == SO_DETACH_REUSEPORT_BPF;
}

static int option_set_socket(struct socket *sock, int name, sockptr_t value, unsigned int bytes)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;
	int ret;

	inner = vqp_option_is_copied(name) ? vqp_inner_of(vs) : option_inner(sock->sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	ret = sock_setsockopt(sock, SOL_SOCKET, name, value, bytes);
	if (ret)
		return ret;
	if (inner)
		ret = sock_setsockopt(inner, SOL_SOCKET, name, value, bytes);
	if ((name == SO_RCVBUF || name == SO_RCVBUFFORCE) && vqp_sock_is_conn(vs))
		vs->stream->ops->set_window(vs->stream,
					    READ_ONCE(sock->sk->sk_rcvbuf));
	/* What is there may be enough now. */
	if (name == SO_RCVLOWAT && vqp_sock_is_conn(vs))
		vqp_stream_tell(vs->stream);
	return ret;
}

/*
 * TCP_ULP. That of SMC, where there is one, gives the file of its socket to another one. The inner
 * socket's is the outer one's, and so it is told what SMC tells a socket that has no file.
 */
static int option_set_ulp(struct socket *inner, sockptr_t value, unsigned int bytes)
{
	char name[TCP_ULP_NAME_MAX] = {};
	long n;

	if (!bytes)
		return -EINVAL;
	n = strncpy_from_sockptr(name, value, min_t(size_t, bytes, sizeof(name) - 1));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	if (!strcmp(name, "smc"))
		return -ENOTCONN;
	return vqp_inner_set(inner, SOL_TCP, TCP_ULP, KERNEL_SOCKPTR(name), sizeof(name));
}

static int option_set(struct socket *sock, int level, int name, sockptr_t value,
		      unsigned int bytes)
{
	const int kept = option_of(level, name);
	struct socket *inner;

	if (kept >= 0)
		return option_set_kept(sock->sk, kept, value, bytes);
	if (level == SOL_SOCKET && !option_is_inner(name))
		return option_set_socket(sock, name, value, bytes);
	/* The inner socket is not connected, and would take what TCP refuses to one that is. */
	if (vqp_sock_is_conn(vqp_sk(sock->sk)) && level == SOL_TCP) {
		if (name == TCP_FASTOPEN)
			return -EINVAL;
		if (name == TCP_ULP)
			return -ENOENT;
	}
	inner = option_inner(sock->sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	if (level == SOL_TCP && name == TCP_ULP)
		return option_set_ulp(inner, value, bytes);
	return vqp_inner_set(inner, level, name, value, bytes);
}

int vqp_setsockopt(struct socket *sock, int level, int name, sockptr_t value, unsigned int bytes)
{
	const int ret = option_set(sock, level, name, value, bytes);

	if (!ret && option_of(level, name) < 0 && !vqp_option_is_plain(level, name))
		WRITE_ONCE(vqp_sk(sock->sk)->tcp_only, true);
	return ret;
}

/* `from` is on the stack: memory of sockets is none that may be copied to user space. */
static int option_put(const void *from, int have, char __user *value, int __user *bytes)
{
	int n;

	if (get_user(n, bytes))
		return -EFAULT;
	if (n < 0)
		return -EINVAL;
	n = min(n, have);
	if (put_user(n, bytes) || copy_to_user(value, from, n))
		return -EFAULT;
	return 0;
}

/* What there is to say of a connection within the node, in TCP's words. */
static int option_info(struct sock *sk, char __user *value, int __user *bytes)
{
	const struct tcp_info info = {
		.tcpi_state = READ_ONCE(sk->sk_state),
		.tcpi_pmtu = PAGE_SIZE,
		.tcpi_snd_mss = PAGE_SIZE,
		.tcpi_rcv_mss = PAGE_SIZE,
		.tcpi_snd_cwnd = VQP_STREAM_WINDOW / PAGE_SIZE,
		.tcpi_rcv_space = READ_ONCE(vqp_sk(sk)->stream->window),
	};

	return option_put(&info, sizeof(info), value, bytes);
}

int vqp_getsockopt(struct socket *sock, int level, int name, char __user *value, int __user *bytes)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	const int kept = option_of(level, name);
	struct socket *inner;

	if (level == IPPROTO_VQP && name == VQP_SO_KIND) {
		const int kind = vqp_sock_kind(vs);

		return option_put(&kind, sizeof(kind), value, bytes);
	}
	if (level == SOL_TCP && name == TCP_INFO && vqp_sock_is_conn(vs))
		return option_info(sock->sk, value, bytes);
	if (kept >= 0) {
		const bool set = vs->set & BIT(kept);
		const int is = set ? vs->values[kept] : options[kept].unset;

		if (set || is >= 0)
			return option_put(&is, sizeof(is), value, bytes);
	}
	inner = option_inner(sock->sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	return sock_common_getsockopt(inner, level, name, value, bytes);
}

/* SIOCINQ, SIOCOUTQ, SIOCOUTQNSD and SIOCATMARK of a connection within the node. */
static int option_queued(struct vqp_sock *vs, unsigned int cmd, unsigned long arg)
{
	struct vqp_stream *s = vs->stream;
	int bytes = 0;

	if (cmd == SIOCINQ)
		bytes = READ_ONCE(s->unread);
	else if (cmd != SIOCATMARK)
		bytes = s->ops->excess(s);
	return put_user(bytes, (int __user *)arg);
}

int vqp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct vqp_sock *vs = vqp_sk(sock->sk);
	struct socket *inner;

	if (!vqp_sock_is_conn(vs)) {
		inner = option_inner(sock->sk);
		return IS_ERR(inner) ? PTR_ERR(inner) : inner->ops->ioctl(inner, cmd, arg);
	}
	switch (cmd) {
	case SIOCINQ:
	case SIOCOUTQ:
	case SIOCOUTQNSD:
	case SIOCATMARK:
		return option_queued(vs, cmd, arg);
	}
	if (sock->sk->sk_family == AF_INET6)
		return inet6_ioctl(sock, cmd, arg);
	return inet_ioctl(sock, cmd, arg);
}
