// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <linux/xarray.h>
#include <net/inet_connection_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "ns/namespace.h"
#include "sock/far.h"
#include "sock/inner.h"
#include "sock/sock.h"
#include "sock/stream.h"
#include "sock/table.h"

/*
 * Number -> struct vqp_sock. One in it is not released while its lock is held, so that all of it
 * may be looked at. lock_sock() would not do: a program may have it held for as long as it likes,
 * by memory that it has a socket copy from.
 */
static DEFINE_XARRAY_FLAGS(sock_table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);

int vqp_sock_table_add(struct vqp_sock *vs)
{
	return xa_alloc(&sock_table, &vs->number, vs, xa_limit_31b, GFP_KERNEL);
}

void vqp_sock_table_remove(struct vqp_sock *vs)
{
	if (vs->number)
		xa_erase(&sock_table, vs->number);
	vs->number = 0;
}

/* IPv4 has its own zeros, by which its listeners differ from those of both. */
static void info_put_names(const struct sock *sk, struct vqp_names *names)
{
	const struct inet_sock *inet = inet_sk(sk);

	if (sk->sk_family == AF_INET6) {
		memcpy(names->local, &sk->sk_v6_rcv_saddr, sizeof(names->local));
		memcpy(names->remote, &sk->sk_v6_daddr, sizeof(names->remote));
	} else {
		ipv6_addr_set_v4mapped(inet->inet_rcv_saddr, (struct in6_addr *)names->local);
		ipv6_addr_set_v4mapped(inet->inet_daddr, (struct in6_addr *)names->remote);
	}
	names->local_port = inet->inet_num;
	names->remote_port = ntohs(inet->inet_dport);
}

static void info_put_net(const struct sock *sk, struct vqp_sock_info *info)
{
	const struct net *net = sock_net(sk);

	info->netns_ino = net->ns.inum;
	info->tenant = vqp_ns_tenant_of_net(net);
}

static void info_put_tcp(const struct sock *isk, struct vqp_sock_info *info)
{
	const struct tcp_sock *tp = tcp_sk(isk);

	info_put_names(isk, &info->names);
	info->tcp_state = READ_ONCE(isk->sk_state);
	if (info->tcp_state == TCP_LISTEN)
		return;
	/* Also of a connection that is over. */
	info->tx_bytes = READ_ONCE(tp->bytes_sent) - READ_ONCE(tp->bytes_retrans);
	info->rx_bytes = READ_ONCE(tp->bytes_received);
	info->resent = READ_ONCE(tp->total_retrans);
	if (info->tcp_state == TCP_CLOSE)
		return;
	info->recv_queue = max_t(int, READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq), 0);
	info->send_queue = max_t(int, READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una), 0);
	info->window = READ_ONCE(tp->rcv_wnd);
}

void vqp_sock_info_of_tcp(const struct sock *sk, struct vqp_sock_info *info)
{
	*info = (struct vqp_sock_info) { .kind = VQP_SOCK_TCP };
	info_put_net(sk, info);
	info_put_tcp(sk, info);
}

/* The state that TCP would have, but for those that are over with the next packet. */
static u32 info_conn_state(const struct vqp_sock *vs, const struct vqp_stream *s)
{
	const bool sent = READ_ONCE(vs->inet.sk.sk_shutdown) & SEND_SHUTDOWN;
	const bool came = READ_ONCE(s->finished);

	if (READ_ONCE(s->err) || (sent && came))
		return TCP_CLOSE;
	return sent ? TCP_FIN_WAIT2 : came ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
}

static void info_put_conn(const struct vqp_sock *vs, struct vqp_sock_info *info)
{
	const struct vqp_stream *s = READ_ONCE(vs->stream);

	if (s->ops->kind == VQP_SOCK_FAR)
		vqp_trunk_look(vqp_far_of(s)->trunk, &info->trunk);
	info->names = s->names;
	info->tcp_state = info_conn_state(vs, s);
	info->tx_bytes = READ_ONCE(s->sent);
	info->rx_bytes = READ_ONCE(s->came);
	info->recv_queue = READ_ONCE(s->unread);
	info->send_queue = s->ops->unread(s);
	info->window = READ_ONCE(s->window);
}

static void info_put_listener(const struct vqp_sock *vs, const struct sock *isk,
			      struct vqp_sock_info *info)
{
	info_put_tcp(isk, info);
	info->recv_queue = READ_ONCE(vs->listener.npending) + READ_ONCE(isk->sk_ack_backlog);
	info->send_queue = READ_ONCE(isk->sk_max_ack_backlog);
}

void vqp_sock_info_get(const struct vqp_sock *vs, struct vqp_sock_info *info)
{
	const struct socket *inner;

	*info = (struct vqp_sock_info) {
		.kind = vqp_sock_kind(vs),
		.tcp_state = TCP_CLOSE,
	};
	/* After the kind: a listener has had one before it was one. */
	inner = vqp_inner_of(vs);
	info_put_net(&vs->inet.sk, info);
	if (info->kind == VQP_SOCK_NEAR || info->kind == VQP_SOCK_FAR)
		info_put_conn(vs, info);
	else if (info->kind == VQP_SOCK_LISTENER)
		info_put_listener(vs, inner->sk, info);
	else if (inner)
		info_put_tcp(inner->sk, info);
	else
		info_put_names(&vs->inet.sk, &info->names);
}

/* What there is to tell of the first socket from *number on, and its number; if there is one. */
static bool table_look(unsigned long *number, struct vqp_sock_info *info)
{
	const struct vqp_sock *vs;

	xa_lock(&sock_table);
	vs = xa_find(&sock_table, number, S32_MAX, XA_PRESENT);
	if (vs)
		vqp_sock_info_get(vs, info);
	xa_unlock(&sock_table);
	return vs;
}

u32 vqp_sock_walk(u32 from, int (*fn)(const struct vqp_sock_info *info, void *arg), void *arg)
{
	unsigned long number = from;
	struct vqp_sock_info info;

	while (table_look(&number, &info)) {
		if (fn(&info, arg))
			return number;
		number++;
		cond_resched();
	}
	return number;
}
