// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/hash.h>
#include <linux/random.h>
#include <net/inet_connection_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "base/hash.h"
#include "ns/namespace.h"
#include "sock/listener.h"
#include "sock/sock.h"
#include "sock/stream.h"

#define LISTENER_BITS	10

/* The table, by network namespace and port. A socket in it is not released. */
static struct listener_bucket {
	spinlock_t lock;		/* guards the list, and the names of those in it */
	struct hlist_head list;
} listeners[1 << LISTENER_BITS];

static const u8 any[VQP_GID_BYTES];

static struct listener_bucket *listener_bucket(const struct vqp_net *net, u16 port)
{
	return &listeners[hash_32(vqp_hash_gid(any, (unsigned long)net ^ port), LISTENER_BITS)];
}

static struct vqp_sock *listener_sock(const struct vqp_listener *l)
{
	return container_of(l, struct vqp_sock, listener);
}

/* 0: it does not take that address; 1: it takes any; 2: it takes just this one. */
static int listener_score(const struct vqp_listener *l, const struct vqp_net *net, const u8 *gid,
			  u16 port)
{
	const bool v4 = ipv6_addr_v4mapped((const struct in6_addr *)gid);

	if (l->net != net || l->port != port || !(v4 ? l->v4 : l->v6))
		return 0;
	if (!memcmp(l->addr, any, sizeof(any)))
		return 1;
	return memcmp(l->addr, gid, sizeof(l->addr)) ? 0 : 2;
}

/*
 * Does it take connections by vqp now? The inner socket must have the port still: others than this
 * module may end its listening (ss --kill). Packets of one device alone are TCP's to tell. By
 * TCP_DEFER_ACCEPT it wants no connection before there is something to read, which TCP can do.
 */
static bool listener_is_open(const struct vqp_listener *l)
{
	const struct vqp_sock *vs = listener_sock(l);
	const struct sock *isk = vs->inner->sk;

	return READ_ONCE(isk->sk_state) == TCP_LISTEN && inet_sk(isk)->inet_num == l->port &&
	       !READ_ONCE(isk->sk_bound_dev_if) && !READ_ONCE(vs->inet.sk.sk_bound_dev_if) &&
	       !vqp_sock_is_tcp_only(vs) &&
	       !READ_ONCE(inet_csk(isk)->icsk_accept_queue.rskq_defer_accept);
}

/*
 * The listener of that address and port. Of several, as SO_REUSEPORT has them, any. Under the
 * bucket's lock.
 */
static struct vqp_listener *listener_find(const struct listener_bucket *bucket,
					  const struct vqp_ns *ns, const u8 *gid, u16 port)
{
	struct vqp_listener *l, *found = NULL;
	int best = 0, score;
	u32 same = 0;

	lockdep_assert_held(&bucket->lock);
	hlist_for_each_entry(l, &bucket->list, node) {
		score = listener_score(l, ns->vnet, gid, port);
		if (!score || score < best || !listener_is_open(l))
			continue;
		same = score > best ? 1 : same + 1;
		best = score;
		if (get_random_u32() % same == 0)
			found = l;
	}
	return found;
}

static void listener_set(struct vqp_listener *l, const struct sock *isk)
{
	l->net = vqp_ns_net(sock_net(isk));
	l->port = inet_sk(isk)->inet_num;
	l->v4 = isk->sk_family == AF_INET || !ipv6_only_sock(isk);
	l->v6 = isk->sk_family == AF_INET6;
	memset(l->addr, 0, sizeof(l->addr));
	if (isk->sk_family == AF_INET6)
		memcpy(l->addr, &isk->sk_v6_rcv_saddr, sizeof(l->addr));
	else if (inet_sk(isk)->inet_rcv_saddr)
		ipv6_addr_set_v4mapped(inet_sk(isk)->inet_rcv_saddr, (struct in6_addr *)l->addr);
}

static void listener_unhash(struct vqp_listener *l)
{
	struct listener_bucket *bucket = listener_bucket(l->net, l->port);

	spin_lock(&bucket->lock);
	hlist_del_init(&l->node);
	spin_unlock(&bucket->lock);
	vqp_limit_uncharge(vqp_ns_listeners(sock_net(&listener_sock(l)->inet.sk)), 1);
}

void __init vqp_listener_table_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(listeners); i++)
		spin_lock_init(&listeners[i].lock);
}

void vqp_listener_init(struct vqp_sock *vs)
{
	INIT_HLIST_NODE(&vs->listener.node);
	spin_lock_init(&vs->listener.lock);
	INIT_LIST_HEAD(&vs->listener.pending);
}

void vqp_listener_add(struct vqp_sock *vs, int backlog)
{
	struct vqp_listener *l = &vs->listener;
	struct listener_bucket *bucket;
	struct sock *sk = &vs->inet.sk;

	sock_owned_by_me(sk);
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	/* It may have another port than the last time. */
	if (!hlist_unhashed(&l->node))
		listener_unhash(l);
	if (vqp_limit_charge(vqp_ns_listeners(sock_net(sk)), 1))
		return;
	listener_set(l, vs->inner->sk);
	spin_lock(&l->lock);
	l->open = true;
	spin_unlock(&l->lock);
	bucket = listener_bucket(l->net, l->port);
	spin_lock(&bucket->lock);
	hlist_add_head(&l->node, &bucket->list);
	spin_unlock(&bucket->lock);
}

void vqp_listener_remove(struct vqp_sock *vs)
{
	struct vqp_listener *l = &vs->listener;
	struct vqp_stream *s;

	/* It has never listened, or does not any more. */
	if (hlist_unhashed(&l->node) && !l->open)
		return;
	if (!hlist_unhashed(&l->node))
		listener_unhash(l);
	spin_lock(&l->lock);
	l->open = false;
	spin_unlock(&l->lock);
	while ((s = vqp_listener_take(vs))) {
		vqp_stream_close(s, true);
		vqp_stream_put(s);
		cond_resched();
	}
}

/* The socket of the listener of that address and port, referenced; or NULL. */
static struct sock *listener_get(const struct vqp_ns *ns, const u8 *gid, u16 port)
{
	struct listener_bucket *bucket = listener_bucket(ns->vnet, port);
	struct sock *sk = NULL;
	struct vqp_listener *l;

	spin_lock(&bucket->lock);
	l = listener_find(bucket, ns, gid, port);
	if (l) {
		sk = &listener_sock(l)->inet.sk;
		sock_hold(sk);
	}
	spin_unlock(&bucket->lock);
	return sk;
}

bool vqp_listener_exists(const struct vqp_ns *ns, const u8 *gid, u16 port)
{
	struct sock *sk = listener_get(ns, gid, port);

	if (sk)
		sock_put(sk);
	return sk;
}

bool vqp_listener_has_room(const struct vqp_ns *ns, const u8 *gid, u16 port, u32 promised)
{
	struct sock *sk = listener_get(ns, gid, port);
	bool room;

	if (!sk)
		return false;
	room = READ_ONCE(vqp_sk(sk)->listener.npending) + promised <=
	       READ_ONCE(sk->sk_max_ack_backlog);
	sock_put(sk);
	return room;
}

/* 0, or -errno as of vqp_listener_offer(). */
static int listener_push(struct vqp_listener *l, struct vqp_stream *server, u32 backlog)
{
	int ret = 0;

	spin_lock(&l->lock);
	if (!l->open) {
		ret = -ECONNREFUSED;
	} else if (l->npending > backlog) {
		ret = -EAGAIN;
	} else {
		list_add_tail(&server->pending, &l->pending);
		WRITE_ONCE(l->npending, l->npending + 1);
	}
	spin_unlock(&l->lock);
	return ret;
}

int vqp_listener_offer(const struct vqp_ns *ns, struct vqp_stream *server, bool promised)
{
	struct sock *sk = listener_get(ns, server->names.local, server->names.local_port);
	int ret;

	if (!sk)
		return -ECONNREFUSED;
	/* Its creator pays until it is accepted. Once it is pushed, the accepter may close it. */
	vqp_stream_charge_to(server, sk);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		server->ops->set_window(server, READ_ONCE(sk->sk_rcvbuf));
	ret = listener_push(&vqp_sk(sk)->listener, server,
			    promised ? U32_MAX : READ_ONCE(sk->sk_max_ack_backlog));
	if (!ret)
		sk->sk_data_ready(sk);
	sock_put(sk);
	return ret;
}

struct vqp_stream *vqp_listener_take(struct vqp_sock *vs)
{
	struct vqp_listener *l = &vs->listener;
	struct vqp_stream *s = NULL;

	if (!vqp_listener_has(vs))
		return NULL;
	spin_lock(&l->lock);
	if (l->npending) {
		s = list_first_entry(&l->pending, struct vqp_stream, pending);
		list_del_init(&s->pending);
		WRITE_ONCE(l->npending, l->npending - 1);
	}
	spin_unlock(&l->lock);
	return s;
}

void vqp_listener_return(struct vqp_sock *vs, struct vqp_stream *s)
{
	struct vqp_listener *l = &vs->listener;
	bool open;

	spin_lock(&l->lock);
	open = l->open;
	if (open) {
		list_add(&s->pending, &l->pending);
		WRITE_ONCE(l->npending, l->npending + 1);
	}
	spin_unlock(&l->lock);
	if (open) {
		/* The wake-up for it was the caller's. */
		vs->inet.sk.sk_data_ready(&vs->inet.sk);
		return;
	}
	vqp_stream_close(s, true);
	vqp_stream_put(s);
}

bool vqp_listener_has(const struct vqp_sock *vs)
{
	return READ_ONCE(vs->listener.npending);
}
