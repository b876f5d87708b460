// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "base/compat.h"
#include "sock/inner.h"
#include "sock/sock.h"
#include "sock/spin.h"

/* TCP's names of the options that are kept (sock.h). */
static const int inner_options[VQP_SOCK_OPTIONS] = {
	[VQP_SOCK_NODELAY]	= TCP_NODELAY,
	[VQP_SOCK_CORK]		= TCP_CORK,
	[VQP_SOCK_KEEPIDLE]	= TCP_KEEPIDLE,
	[VQP_SOCK_KEEPINTVL]	= TCP_KEEPINTVL,
	[VQP_SOCK_KEEPCNT]	= TCP_KEEPCNT,
	[VQP_SOCK_USER_TIMEOUT]	= TCP_USER_TIMEOUT,
	[VQP_SOCK_NOTSENT_LOWAT] = TCP_NOTSENT_LOWAT,
	[VQP_SOCK_INQ]		= TCP_INQ,
	[VQP_SOCK_SYNCNT]	= TCP_SYNCNT,
	[VQP_SOCK_LINGER2]	= TCP_LINGER2,
};

/* The flags that options set, but for SOCK_KEEPOPEN. */
static const enum sock_flags inner_flags[] = { SOCK_LINGER, SOCK_URGINLINE, SOCK_DBG,
					       SOCK_LOCALROUTE };

struct socket *vqp_inner_of(const struct vqp_sock *vs)
{
	return smp_load_acquire(&vs->inner);	/* pairs with vqp_inner_get() */
}

void vqp_inner_copy_options(struct sock *to, const struct sock *from)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(inner_flags); i++)
		sock_valbool_flag(to, inner_flags[i], sock_flag(from, inner_flags[i]));
	to->sk_lingertime = from->sk_lingertime;
	to->sk_reuse = from->sk_reuse;
	to->sk_reuseport = from->sk_reuseport;
	to->sk_priority = from->sk_priority;
	to->sk_mark = from->sk_mark;
	to->sk_bound_dev_if = from->sk_bound_dev_if;
	to->sk_rcvtimeo = from->sk_rcvtimeo;
	to->sk_sndtimeo = from->sk_sndtimeo;
	to->sk_rcvlowat = from->sk_rcvlowat;
	to->sk_max_pacing_rate = from->sk_max_pacing_rate;
	WRITE_ONCE(to->sk_peek_off, READ_ONCE(from->sk_peek_off));
	vqp_spin_ask(to, vqp_spin_asked_us(from));
	to->sk_userlocks |= from->sk_userlocks & (SOCK_RCVBUF_LOCK | SOCK_SNDBUF_LOCK);
	if (from->sk_userlocks & SOCK_RCVBUF_LOCK)
		to->sk_rcvbuf = from->sk_rcvbuf;
	if (from->sk_userlocks & SOCK_SNDBUF_LOCK)
		to->sk_sndbuf = from->sk_sndbuf;
	if (sock_flag(from, SOCK_KEEPOPEN) != sock_flag(to, SOCK_KEEPOPEN)) {
		if (to->sk_prot->keepalive)
			to->sk_prot->keepalive(to, sock_flag(from, SOCK_KEEPOPEN));
		sock_valbool_flag(to, SOCK_KEEPOPEN, sock_flag(from, SOCK_KEEPOPEN));
	}
}

/* Do two sockets have other options, which vqp_inner_copy_options() copies? A guess. */
static bool inner_differs(const struct sock *a, const struct sock *b)
{
	const u8 locks = SOCK_RCVBUF_LOCK | SOCK_SNDBUF_LOCK;
	int i;

	for (i = 0; i < ARRAY_SIZE(inner_flags); i++)
		if (sock_flag(a, inner_flags[i]) != sock_flag(b, inner_flags[i]))
			return true;
	return sock_flag(a, SOCK_KEEPOPEN) != sock_flag(b, SOCK_KEEPOPEN) ||
	       a->sk_lingertime != b->sk_lingertime || a->sk_reuse != b->sk_reuse ||
	       a->sk_reuseport != b->sk_reuseport || a->sk_priority != b->sk_priority ||
	       a->sk_mark != b->sk_mark || a->sk_bound_dev_if != b->sk_bound_dev_if ||
	       a->sk_rcvtimeo != b->sk_rcvtimeo || a->sk_sndtimeo != b->sk_sndtimeo ||
	       a->sk_rcvlowat != b->sk_rcvlowat ||
	       a->sk_max_pacing_rate != b->sk_max_pacing_rate ||
	       vqp_spin_asked_us(a) != vqp_spin_asked_us(b) ||
	       (a->sk_userlocks & locks) != (b->sk_userlocks & locks) ||
	       (b->sk_userlocks & SOCK_RCVBUF_LOCK && a->sk_rcvbuf != b->sk_rcvbuf) ||
	       (b->sk_userlocks & SOCK_SNDBUF_LOCK && a->sk_sndbuf != b->sk_sndbuf);
}

/* Where nobody tells of options at the level of sockets, they are looked at before each use. */
static void inner_follow_options(struct vqp_sock *vs)
{
	struct sock *isk = vs->inner->sk, *sk = &vs->inet.sk;

	if (VQP_COMPAT_HEARS_SOL_SOCKET || !inner_differs(isk, sk))
		return;
	lock_sock(isk);
	/* The inner socket may have these by what only it is told: IP_TOS, a link-local peer. */
	if (!sk->sk_priority)
		sk->sk_priority = isk->sk_priority;
	if (!sk->sk_bound_dev_if)
		sk->sk_bound_dev_if = isk->sk_bound_dev_if;
	if (isk->sk_bound_dev_if != sk->sk_bound_dev_if || isk->sk_mark != sk->sk_mark)
		sk_dst_reset(isk);
	vqp_inner_copy_options(isk, sk);
	release_sock(isk);
}

int vqp_inner_set(struct socket *inner, int level, int name, sockptr_t value, unsigned int bytes)
{
	if (level == SOL_SOCKET)
		return sock_setsockopt(inner, level, name, value, bytes);
	return inner->ops->setsockopt(inner, level, name, value, bytes);
}

/* What was set of TCP's options before there was an inner socket. */
static void inner_replay_options(struct vqp_sock *vs, struct socket *inner)
{
	int i;

	for (i = 0; i < VQP_SOCK_OPTIONS; i++)
		if (vs->set & BIT(i))
			vqp_inner_set(inner, SOL_TCP, inner_options[i],
				      KERNEL_SOCKPTR(&vs->values[i]), sizeof(int));
}

/*
 * Lend an inner socket what the outer one has: its queue, so that who waits there is woken, and its
 * file, so that filters know the owner (xt_owner, nft's skuid, nfnetlink_log). These look at the
 * file under sk_callback_lock. It is there until the outer socket has been released.
 */
static void inner_lend(struct socket *inner, struct socket *outer)
{
	struct sock *isk = inner->sk;

	/* Who is to get SIGIO is at the queue that both share; fcntl(2) tells the outer one. */
	sock_set_flag(isk, SOCK_FASYNC);
	write_lock_bh(&isk->sk_callback_lock);
	rcu_assign_pointer(isk->sk_wq, &outer->wq);
	inner->file = outer->file;
	write_unlock_bh(&isk->sk_callback_lock);
}

struct socket *vqp_inner_get(struct sock *sk)
{
	struct vqp_sock *vs = vqp_sk(sk);
	struct socket *inner;
	int ret;

	sock_owned_by_me(sk);
	if (vs->inner) {
		inner_follow_options(vs);
		return vs->inner;
	}
	/*
	 * It is as one of the program's own: with its labels, asked for where socket(2) asks, and
	 * without what TCP lets the kernel's sockets do. It keeps the network namespace, for what
	 * it has to say after it was closed may take longer than the outer socket is there. The
	 * hook leaves it alone, as no system call makes it.
	 */
	ret = __sock_create(sock_net(sk), sk->sk_family, SOCK_STREAM, IPPROTO_TCP, &inner, 0);
	if (ret)
		return ERR_PTR(ret);
	lock_sock(inner->sk);
	vqp_inner_copy_options(inner->sk, sk);
	release_sock(inner->sk);
	inner_replay_options(vs, inner);
	inner_lend(inner, sk->sk_socket);
	smp_store_release(&vs->inner, inner);	/* pairs with vqp_inner_of() */
	return inner;
}

/*
 * The file stays lent while TCP closes, since the owner counts for the FIN, too. sock_release()
 * leaves the inode of a socket with a file to that, whose own is the outer socket's.
 */
void vqp_inner_release(struct vqp_sock *vs)
{
	struct socket *inner = vs->inner;
	bool lent;

	if (!inner)
		return;
	inner_follow_options(vs);
	lent = inner->file;
	sock_release(inner);
	if (lent)
		iput(SOCK_INODE(inner));
	vs->inner = NULL;
}

/*
 * Have both sockets have the error of the inner one, or neither, once one of them has told it. Any
 * number of threads may be here, and others tell an error meanwhile.
 */
static void inner_mirror(struct vqp_sock *vs)
{
	struct sock *sk = &vs->inet.sk, *isk = vs->inner->sk;
	int err;

	if (!READ_ONCE(vs->mirrored) && !READ_ONCE(isk->sk_err))
		return;
	write_lock_bh(&sk->sk_callback_lock);
	err = vs->mirrored;
	if (err && !READ_ONCE(sk->sk_err)) {
		cmpxchg(&isk->sk_err, err, 0);
		WRITE_ONCE(vs->mirrored, 0);
	} else if (err && !READ_ONCE(isk->sk_err)) {
		cmpxchg(&sk->sk_err, err, 0);
		WRITE_ONCE(vs->mirrored, 0);
	} else if (!err) {
		err = READ_ONCE(isk->sk_err);
		WRITE_ONCE(sk->sk_err, err);
		WRITE_ONCE(vs->mirrored, err);
	}
	write_unlock_bh(&sk->sk_callback_lock);
}

struct socket *vqp_inner_enter(struct vqp_sock *vs)
{
	inner_mirror(vs);
	inner_follow_options(vs);
	return vs->inner;
}

void vqp_inner_leave(struct vqp_sock *vs)
{
	struct sock *sk = &vs->inet.sk;

	inner_mirror(vs);
	/* What was peeked at and read has moved it, which getsockopt(SO_PEEK_OFF) is told. */
	if (READ_ONCE(sk->sk_peek_off) >= 0)
		WRITE_ONCE(sk->sk_peek_off, READ_ONCE(vs->inner->sk->sk_peek_off));
}

__poll_t vqp_inner_poll(struct vqp_sock *vs, struct file *file)
{
	struct socket *inner = vqp_inner_enter(vs);
	/* kTLS has one of its own. */
	__poll_t mask = READ_ONCE(inner->ops)->poll(file, inner, NULL);

	inner_mirror(vs);
	return mask;
}
