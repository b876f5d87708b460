/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sock/ is the front for unmodified programs: stream sockets of the protocol IPPROTO_VQP. Each is a
 * socket of this module, whose connection is of one kind, decided before its first byte:
 *
 *  - near: the peer's listener is on this node. Two streams (pair.h) lead from socket to socket.
 *  - far: it is on another node. Frames go there and back by the kernel's own VQPs (far.h).
 *  - TCP: anything else. An inner socket of the kernel's TCP (inner.h) has the connection, and the
 *    calls are handed to it.
 *
 * An inner socket is also made where a socket is bound, listens, or is given options that are not
 * known here: ports, their conflicts and the options' values are TCP's own. docs/sockets.md has
 * more.
 *
 * Lifetimes: the struct vqp_sock lives as long as the struct socket, whose release destroys the
 * inner socket, leaves the table of listeners and closes the stream. A stream lives until the
 * sockets at both ends are released. The owners of vqp_sock_ops and of the struct proto hold the
 * module.
 *
 * Locks, outermost first: lock_sock() of a socket of this module; lock_sock() of an inner socket;
 * a lock of the table of listeners, or vqp_listener.lock, or vqp_ns.streams_lock; vqp_stream.lock,
 * with bottom halves off. That of table.c has none inside but those of a trunk and of its VQP. None
 * is held while a process waits, but for lock_sock() while bytes are copied. What is handed to an
 * inner socket is called without lock_sock() of the outer one.
 */
#ifndef VQP_SOCK_SOCK_H
#define VQP_SOCK_SOCK_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include <net/inet_sock.h>
#include <net/sock.h>

struct socket;
struct vqp_net;
struct vqp_stream;

/* After so many dissolved connections, a socket's next are of TCP. */
#define VQP_SOCK_PAST_MAX	16

/* The options of TCP that are kept here, so that they cost no inner socket. */
enum vqp_sock_option {
	VQP_SOCK_NODELAY,
	VQP_SOCK_CORK,
	VQP_SOCK_KEEPIDLE,
	VQP_SOCK_KEEPINTVL,
	VQP_SOCK_KEEPCNT,
	VQP_SOCK_USER_TIMEOUT,
	VQP_SOCK_NOTSENT_LOWAT,
	VQP_SOCK_INQ,
	VQP_SOCK_SYNCNT,
	VQP_SOCK_LINGER2,
	VQP_SOCK_OPTIONS,
};

/* A listener of listener.c. Its names are constant while it is in the table. */
struct vqp_listener {
	/* In the table, under the lock of its part; changed under lock_sock() as well. */
	struct hlist_node node;
	const struct vqp_net *net;	/* where it listens; is compared, and never dereferenced */
	u8 addr[16];			/* an IPv4 address as in a GID; zeros: any */
	u16 port;
	bool v4, v6;			/* the families that it takes */
	spinlock_t lock;		/* guards all below */
	bool open;			/* It takes connections. */
	struct list_head pending;	/* vqp_stream.pending: nobody has accepted these */
	u32 npending;
};

/* What spin.c knows of a socket's waits; under lock_sock(). */
struct vqp_spin {
	u8 misses;			/* how often in a row nothing came while it spun */
	u8 skips;			/* So many waits do not spin. */
	pid_t task;			/* who waited last; 0: nobody yet */
	u64 starved;			/* so long it was ready to run and did not, in ns */
	u64 not_before;			/* No wait spins until then, by local_clock(). */
};

struct vqp_sock {
	struct inet_sock inet;		/* first, as for each socket of the family */
	u32 number;			/* in the table of table.c; 0: it is not there */
	struct socket *inner;		/* NULL until it is needed; then constant until release */
	u8 kind;			/* enum vqp_sock_kind; written under lock_sock() */
	bool counted;			/* in the counters of sockets */
	bool tcp_only;			/* It has options that only TCP can do. */
	bool tcp_turn;			/* A listener: what TCP has is accepted next. A guess. */
	int mirrored;			/* the inner socket's error that is also in sk_err */
	u32 set;			/* bits of enum vqp_sock_option: these were set, */
	int values[VQP_SOCK_OPTIONS];	/* to these values */
	struct vqp_spin spin;
	struct vqp_stream *stream;	/* of a connection, referenced; only a connect changes it */
	/* Streams of connections that connect(AF_UNSPEC) dissolved: other threads may look yet. */
	struct list_head past;
	u32 npast;			/* of them, at most VQP_SOCK_PAST_MAX */
	struct vqp_listener listener;
};

static inline struct vqp_sock *vqp_sk(const struct sock *sk)
{
	return (struct vqp_sock *)sk;
}

/* What was written before the kind was, is seen. Any context. */
static inline enum vqp_sock_kind vqp_sock_kind(const struct vqp_sock *vs)
{
	return smp_load_acquire(&vs->kind);	/* pairs with vqp_sock_become() */
}

/* Is it connected by vqp, be it near or far? */
static inline bool vqp_sock_is_conn(const struct vqp_sock *vs)
{
	const enum vqp_sock_kind kind = vqp_sock_kind(vs);

	return kind == VQP_SOCK_NEAR || kind == VQP_SOCK_FAR;
}

/* Is there a rule about its packets? Filters are looked for, since not all kernels tell of them. */
static inline bool vqp_sock_is_tcp_only(const struct vqp_sock *vs)
{
	return READ_ONCE(vs->tcp_only) || rcu_access_pointer(vs->inet.sk.sk_filter);
}

static inline void vqp_sock_become(struct vqp_sock *vs, enum vqp_sock_kind kind)
{
	smp_store_release(&vs->kind, kind);	/* pairs with vqp_sock_kind() */
}

#endif
