// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/net.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "base/counters.h"
#include "ns/namespace.h"
#include "sock/conn.h"
#include "sock/inner.h"
#include "sock/napi.h"
#include "sock/route.h"
#include "sock/sock.h"
#include "sock/spin.h"
#include "sock/stream.h"

/* ---- The beginning ---- */

#define CONN_TRIES	64	/* ports that are tried; where few are free, TCP looks at all */

/* Try some of the ports that TCP would for one by which the names are free. 0, or -errno. */
static int conn_pick_port(struct sock *sk, struct vqp_stream *s, struct vqp_names *names)
{
	const struct socket *inner = vqp_inner_of(vqp_sk(sk));
	int low, high, i, n, ret = -EADDRINUSE;
	u32 first;

	/* IP_LOCAL_PORT_RANGE is an option of the inner socket. */
	inet_sk_get_local_port_range(inner ? inner->sk : sk, &low, &high);
	n = high - low + 1;
	first = get_random_u32() % n;
	for (i = 0; i < min(n, CONN_TRIES) && ret == -EADDRINUSE; i++) {
		names->local_port = low + (first + i) % n;
		if (!inet_is_local_reserved_port(sock_net(sk), names->local_port))
			ret = vqp_stream_name(s, names);
	}
	return ret;
}

int vqp_conn_name(struct sock *sk, struct vqp_stream *s, struct vqp_names *names)
{
	if (names->local_port)
		return vqp_stream_name(s, names) ? -EADDRNOTAVAIL : 0;
	return conn_pick_port(sk, s, names);
}

static void conn_establish(struct sock *sk, struct vqp_stream *s)
{
	struct vqp_sock *vs = vqp_sk(sk);

	vqp_route_name(sk, &s->names);
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_socket->state = SS_CONNECTED;
	WRITE_ONCE(vs->stream, s);	/* table.c looks at it without lock_sock(). */
	vqp_napi_mark(sk);
	vqp_sock_become(vs, s->ops->kind);
	vqp_count_event(s->ops->event);
	vqp_tally_add(s->ns->tally, s->ops->tallied, 1);
}

void vqp_conn_connected(struct sock *sk, struct vqp_stream *s)
{
	sock_owned_by_me(sk);
	conn_establish(sk, s);
	vqp_stream_attach(s, sk);
	/* Who has polled it already is told that it can be written to. */
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

void vqp_conn_accept(struct sock *sk, struct vqp_stream *s)
{
	lock_sock(sk);
	conn_establish(sk, s);
	vqp_stream_attach(s, sk);
	release_sock(sk);
}

/* ---- Waiting ---- */

/*
 * Wait at the socket until woken, at most *timeo. 0, or -errno: the time is over, or there is a
 * signal. The caller has checked what it waits for after it had added `wait` to the queue.
 */
static int conn_wait(struct sock *sk, struct wait_queue_entry *wait, long *timeo)
{
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	release_sock(sk);
	*timeo = wait_woken(wait, TASK_INTERRUPTIBLE, *timeo);
	lock_sock(sk);
	return 0;
}

/* ---- Sending ---- */

/* May it send at all? 0, or -EPIPE: no more, or an error is told first. */
static int send_check(const struct sock *sk, const struct vqp_stream *s)
{
	return READ_ONCE(sk->sk_err) || sk->sk_shutdown & SEND_SHUTDOWN || READ_ONCE(s->err) ?
	       -EPIPE : 0;
}

/* Wait for room in the peer's stream. */
static int send_wait(struct sock *sk, struct vqp_stream *s, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret = 0;

	s->ops->push(s);
	add_wait_queue(sk_sleep(sk), &wait);
	while (!ret) {
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		smp_mb__after_atomic();	/* pairs with vqp_stream_wake_writer() */
		ret = send_check(sk, s);
		if (ret || s->ops->is_writable(s))
			break;
		ret = conn_wait(sk, &wait, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

static int send_all(struct sock *sk, struct vqp_stream *s, struct msghdr *msg)
{
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	int sent = 0, ret;

	ret = send_check(sk, s);
	while (!ret && msg_data_left(msg)) {
		ret = s->ops->send(s, msg);
		if (ret > 0) {
			/* The reader may begin before all is there. */
			if ((sent ^ (sent + ret)) & ~(VQP_STREAM_WINDOW / 4 - 1))
				s->ops->push(s);
			sent += ret;
			WRITE_ONCE(s->sent, s->sent + ret);
			vqp_tally_add(s->ns->tally, VQP_TALLY_TX_BYTES, ret);
			ret = send_check(sk, s);
		} else if (ret == -EAGAIN) {
			ret = send_wait(sk, s, &timeo);
		}
	}
	if (sent)
		s->ops->push(s);
	return sent ?: ret;
}

int vqp_conn_send(struct sock *sk, struct msghdr *msg, size_t bytes)
{
	int ret;

	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	lock_sock(sk);
	ret = send_all(sk, vqp_sk(sk)->stream, msg);
	release_sock(sk);
	return ret == -EPIPE ? sk_stream_error(sk, msg->msg_flags, ret) : ret;
}

/* ---- Receiving ---- */

/* Comes nothing more? */
static bool recv_is_over(const struct sock *sk, const struct vqp_stream *s)
{
	return READ_ONCE(s->finished) || READ_ONCE(s->err) || READ_ONCE(sk->sk_err) ||
	       sk->sk_shutdown & RCV_SHUTDOWN;
}

/* What a reader is told then: 0 for the end, or -errno. */
static int recv_end(struct sock *sk, const struct vqp_stream *s)
{
	if (READ_ONCE(s->finished))
		return 0;
	/* The connection was dissolved, and the socket's error forgotten. */
	if (READ_ONCE(s->closed))
		return -ECONNRESET;
	return sock_error(sk);
}

/* Is there more than `seen` unread, or does nothing more come? */
static bool recv_has_come(const struct sock *sk, const struct vqp_stream *s, u32 seen)
{
	return READ_ONCE(s->unread) > seen || recv_is_over(sk, s);
}

/*
 * Wait until there is more than `seen` unread, or nothing more comes: if some was `peeked` at, also
 * before that is read. 0, or -errno.
 */
static int recv_wait(struct sock *sk, struct vqp_stream *s, u32 seen, bool peeked, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret = 0;

	if (*timeo)
		vqp_spin(sk, recv_has_come, s, seen);
	add_wait_queue(sk_sleep(sk), &wait);
	while (!ret) {
		smp_mb();	/* pairs with skwq_has_sleeper() of who sends */
		if (recv_has_come(sk, s, seen) || (peeked && READ_ONCE(s->starved)))
			break;
		ret = conn_wait(sk, &wait, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return ret;
}

/* Copy out, or drop, one piece of what is unread. Returns the bytes, 0 for none, or -errno. */
static int recv_some(struct vqp_stream *s, struct msghdr *msg, u32 skip, u32 bytes, int flags)
{
	const void *data;
	u32 n = 0;

	data = vqp_stream_data(s, skip, &n);
	n = min(n, bytes);
	if (!data || !n)
		return 0;
	if (!(flags & MSG_TRUNC)) {
		n = copy_to_iter(data, n, &msg->msg_iter);
		if (!n)
			return -EFAULT;
	}
	if (!(flags & MSG_PEEK))
		vqp_stream_consume(s, n);
	return n;
}

static int recv_all(struct sock *sk, struct vqp_stream *s, struct msghdr *msg, u32 bytes,
		    int flags)
{
	const u32 target = sock_rcvlowat(sk, flags & MSG_WAITALL, bytes);
	/* SO_PEEK_OFF */
	const u32 first = flags & MSG_PEEK ? max(sk_peek_offset(sk, flags), 0) : 0;
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	bool over, peeked, starved;
	u32 got = 0, skip;
	int ret = 0;

	/* To ask for nothing waits for something, as with TCP. */
	while (got < bytes || (!bytes && !READ_ONCE(s->unread))) {
		skip = flags & MSG_PEEK ? first + got : 0;
		peeked = flags & MSG_PEEK && got;
		over = recv_is_over(sk, s);
		starved = peeked && READ_ONCE(s->starved);
		smp_rmb();	/* What came before the end is seen. */
		ret = recv_some(s, msg, skip, bytes - got, flags);
		if (ret > 0) {
			got += ret;
			continue;
		}
		/* No more than a full window can be peeked at. */
		if (ret || got >= target || starved || (peeked && skip >= READ_ONCE(s->window)))
			break;
		if (over) {
			ret = got ? 0 : recv_end(sk, s);
			break;
		}
		ret = recv_wait(sk, s, skip, peeked, &timeo);
		if (ret)
			break;
	}
	if (flags & MSG_PEEK)
		sk_peek_offset_fwd(sk, got);
	else
		sk_peek_offset_bwd(sk, got);
	return got ?: ret;
}

/* TCP_INQ: how much more there is, or 1 for the end. */
static void recv_tell_inq(struct sock *sk, struct msghdr *msg)
{
	const struct vqp_sock *vs = vqp_sk(sk);
	int inq = READ_ONCE(vs->stream->unread);

	if (!(vs->set & BIT(VQP_SOCK_INQ)) || !vs->values[VQP_SOCK_INQ])
		return;
	if (!inq && READ_ONCE(vs->stream->finished))
		inq = 1;
	put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

int vqp_conn_recv(struct sock *sk, struct msghdr *msg, size_t bytes, int flags)
{
	int ret;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (flags & MSG_OOB)
		return -EINVAL;
	lock_sock(sk);
	ret = recv_all(sk, vqp_sk(sk)->stream, msg, min_t(size_t, bytes, INT_MAX), flags);
	if (ret >= 0)
		recv_tell_inq(sk, msg);
	release_sock(sk);
	return ret;
}

/* ---- Polling and the end ---- */

static __poll_t poll_writable(struct sock *sk, struct vqp_stream *s)
{
	if (sk->sk_shutdown & SEND_SHUTDOWN || s->ops->is_writable(s))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	smp_mb__after_atomic();		/* as in send_wait() */
	return s->ops->is_writable(s) ? EPOLLOUT | EPOLLWRNORM : 0;
}

__poll_t vqp_conn_poll(struct sock *sk)
{
	struct vqp_stream *s = vqp_sk(sk)->stream;
	u8 shutdown = READ_ONCE(sk->sk_shutdown);
	const bool broken = READ_ONCE(s->err);
	__poll_t mask = 0;

	if (READ_ONCE(s->finished))
		shutdown |= RCV_SHUTDOWN;
	if (broken)
		shutdown = SHUTDOWN_MASK;
	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (vqp_stream_has_enough(s, sock_rcvlowat(sk, 0, INT_MAX)))
		mask |= EPOLLIN | EPOLLRDNORM;
	mask |= broken ? EPOLLOUT | EPOLLWRNORM : poll_writable(sk, s);
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

bool vqp_conn_is_over(const struct sock *sk)
{
	const struct vqp_stream *s = vqp_sk(sk)->stream;

	return READ_ONCE(s->err) ||
	       (READ_ONCE(s->finished) && READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN);
}

int vqp_conn_shutdown(struct sock *sk, int how)
{
	struct vqp_stream *s = vqp_sk(sk)->stream;
	int ret = -ENOTCONN;

	lock_sock(sk);
	if (!vqp_conn_is_over(sk)) {
		ret = 0;
		if (how & SEND_SHUTDOWN & ~sk->sk_shutdown)
			s->ops->finish(s);
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		/* Those who wait in other threads look again. */
		sk->sk_state_change(sk);
	}
	release_sock(sk);
	return ret;
}

void vqp_conn_dissolve(struct sock *sk)
{
	static const struct vqp_names nameless;
	struct vqp_sock *vs = vqp_sk(sk);

	sock_owned_by_me(sk);
	vqp_stream_close(vs->stream, true);
	list_add(&vs->stream->pending, &vs->past);
	vs->npast++;
	sk->sk_state = TCP_CLOSE;
	sk->sk_socket->state = SS_UNCONNECTED;
	WRITE_ONCE(sk->sk_shutdown, 0);
	WRITE_ONCE(sk->sk_err, 0);
	vqp_route_name(sk, &nameless);
	vqp_napi_unmark(sk);
	vqp_sock_become(vs, VQP_SOCK_FRESH);
	sk->sk_state_change(sk);
}

/* SO_LINGER: wait as long as TCP would for its peer to take what was sent. */
static void conn_linger(struct sock *sk, struct vqp_stream *s)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long timeo = sk->sk_lingertime;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		smp_mb__after_atomic();	/* as in send_wait() */
		if (!s->ops->excess(s) || READ_ONCE(s->err) ||
		    conn_wait(sk, &wait, &timeo))
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

void vqp_conn_close(struct sock *sk)
{
	struct vqp_stream *s = vqp_sk(sk)->stream;
	const bool linger = sock_flag(sk, SOCK_LINGER);

	if (linger && sk->sk_lingertime && !s->unread && !(current->flags & PF_EXITING)) {
		s->ops->finish(s);
		conn_linger(sk, s);
	}
	vqp_stream_close(s, linger && !sk->sk_lingertime);
}
