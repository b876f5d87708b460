/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stream is one end of a connection: what has arrived there and is unread. The other end is on
 * this node (pair.h) or on another (far.h). The reader copies bytes out of the stream's pages, and
 * there is one at a time, since it has lock_sock() of its socket. Who fills them is one at a time,
 * too: the peer's program, with lock_sock() of its own socket, or the work that takes what comes
 * from other nodes.
 *
 * Pages come as they are needed. Within the node they are charged to the sender: to its memory
 * cgroup, to the budget (budget.h) and to its namespace's limit on bytes. What it leaves unread
 * when it closes is charged to the reader's namespace, if that may have it. Each stream may have
 * one page beyond the budget and the limit, so that every connection gets on; a sender that gets no
 * more waits until its peer has read.
 */
#ifndef VQP_SOCK_STREAM_H
#define VQP_SOCK_STREAM_H

#include <linux/init.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include "base/counters.h"
#include "ns/tally.h"

struct mem_cgroup;
struct msghdr;
struct sock;
struct vqp_ns;
struct vqp_ns_user;

/* The least that a page of unread bytes has room for. */
#define VQP_STREAM_PAGE_BYTES	(PAGE_SIZE - 64)
#define VQP_STREAM_WINDOW	(512 << 10)	/* the most unread bytes, unless SO_RCVBUF says */

/* Addresses, as GIDs, and ports of a connection, as one end sees it. */
struct vqp_names {
	u8 local[VQP_GID_BYTES], remote[VQP_GID_BYTES];
	u16 local_port, remote_port;
};

struct vqp_stream;

/* What the kinds of connections do each in its own way. */
struct vqp_stream_ops {
	enum vqp_sock_kind kind;	/* of their sockets */
	enum vqp_event event;		/* counts the sockets that have a connection of the kind */
	enum vqp_tallied tallied;	/* the same for their namespaces */

	/* ---- For the sender, under lock_sock(). ---- */

	/*
	 * Send as much as there is room for in one piece. Returns the bytes, or -errno: -EAGAIN:
	 * not now; -EPIPE: the stream has broken.
	 */
	int (*send)(struct vqp_stream *s, struct msghdr *msg);
	/* Nothing more comes for now: let the peer have what was sent. */
	void (*push)(struct vqp_stream *s);
	/* This end sends no more. */
	void (*finish)(struct vqp_stream *s);
	/* Is there room worth waking a sender for? A guess, also for poll(2). */
	bool (*is_writable)(struct vqp_stream *s);
	/* Bytes that the peer has not read, as far as this node knows. Any context. */
	u32 (*unread)(const struct vqp_stream *s);
	/* What TCP would have to send yet: for SIOCOUTQ, and for close(2) that lingers. A guess. */
	u32 (*excess)(struct vqp_stream *s);

	/* ---- For the reader. Process context. ---- */

	/* Bytes were read, and perhaps a page was freed. */
	void (*consumed)(struct vqp_stream *s, bool freed);
	/* Set the most unread bytes. */
	void (*set_window)(struct vqp_stream *s, u32 bytes);

	/*
	 * The end is closed, and was unlisted: tell the peer, by `reset` that the connection is
	 * broken. Process context.
	 */
	void (*close)(struct vqp_stream *s, bool reset);
	/* Free the memory, of which vqp_stream.ref counts the references. Any context. */
	void (*release)(struct kref *ref);
};

struct vqp_stream {
	const struct vqp_stream_ops *ops;
	struct kref *ref;		/* that of the memory which it is in */
	struct vqp_stream *peer;	/* the other end, constant; NULL: it is on another node */
	struct vqp_names names;		/* constant once vqp_stream_name() has given them */
	struct hlist_node name_node;	/* in stream_names, under its bucket's lock; or unhashed */
	u32 name_bucket;		/* where that is; constant once it has names */
	struct vqp_ns *ns;		/* referenced */
	struct list_head ns_link;	/* in ns->streams, or empty; under ns->streams_lock */
	struct list_head pending;	/* in vqp_listener.pending, or in vqp_sock.past */
	spinlock_t lock;		/* guards all below */
	struct sock *sk;		/* who reads it; NULL: not accepted yet, or closed */
	/* What pays for pages of what comes from another node; referenced, or NULL */
	struct mem_cgroup *memcg;
	struct list_head chunks;	/* the pages of what is unread, oldest first */
	u32 unread;			/* bytes */
	u32 window;			/* the most of them */
	u64 came;			/* all bytes that have arrived here */
	u64 sent;			/* all that the reader has sent; under its lock_sock() */
	/* The sender waits for a page, and not for the window: the reader is told of any byte. */
	bool starved;
	bool finished;			/* The peer sends no more. */
	bool closed;			/* Nobody reads any more. */
	int err;			/* The connection broke: what the reader is told */
};

/* Before there is a stream. */
void __init vqp_stream_table_init(void);

/* For a new stream of ns, of which it takes a reference. */
void vqp_stream_init(struct vqp_stream *s, const struct vqp_stream_ops *ops, struct kref *ref,
		     struct vqp_stream *peer, struct vqp_ns *ns);

/* Have the end of its namespace break the stream. -ESHUTDOWN: it has ended. */
int __must_check vqp_stream_list(struct vqp_stream *s);

/* The names of an end between two addresses. */
void vqp_names_set(struct vqp_names *to, const u8 *local, u16 local_port, const u8 *remote,
		   u16 remote_port);
/* The names as the peer sees them. */
void vqp_names_turn(struct vqp_names *to, const struct vqp_names *from);

/*
 * Have a connection be `names` to its client, which closes its end to give them back. -EADDRINUSE:
 * another of the tenant on this node has them.
 */
int vqp_stream_name(struct vqp_stream *client, const struct vqp_names *names);

/*
 * Have the memory cgroup of sk, which is that of who made the socket, pay for what comes from
 * another node from here on. Within the node the sender pays.
 */
void vqp_stream_charge_to(struct vqp_stream *s, const struct sock *sk);

/*
 * Have sk read the stream, and pay; it is woken, and told errors. Its lock is held, or nobody knows
 * it.
 */
void vqp_stream_attach(struct vqp_stream *s, struct sock *sk);

/*
 * Close an end, which was listed: what is unread is dropped, and
 * the peer is told the end, or with `reset` that the connection is broken. No callback of the
 * socket is under way when it returns. Who waits at it yet finds it broken. The end's memory stays
 * until vqp_stream_put().
 */
void vqp_stream_close(struct vqp_stream *s, bool reset);
void vqp_stream_put(struct vqp_stream *s);

/* The peer sends no more: the reader of s reads what there is, and then the end. */
void vqp_stream_end(struct vqp_stream *s);

/* The connection is broken: the reader of s gets `err` when it has read what there is. */
void vqp_stream_break(struct vqp_stream *s, int err);

/* The socket of s may write: wake who waits for that. Any context. */
void vqp_stream_wake_writer(struct vqp_stream *s);

/*
 * Who has sent what is unread in s is gone: the reader's namespace pays from here on, as far as it
 * may. Else it could keep another's limit used up.
 */
void vqp_stream_hand_over(struct vqp_stream *s);

/* ---- For the sender, which names the peer's stream. Process context. ---- */

/*
 * Room for up to *n bytes in one piece, and *n what it has; vqp_stream_fill() follows. ERR_PTR():
 * -EAGAIN: not now; -EPIPE: nobody reads any more; -ENOMEM.
 */
void *vqp_stream_room(struct vqp_stream *to, u32 *n);
/* `n` bytes are in it, perhaps none. */
void vqp_stream_fill(struct vqp_stream *to, u32 n);
/* Bytes have come from another node, whose window is charged. -EPIPE: nobody reads any more. */
int __must_check vqp_stream_append(struct vqp_stream *s, const void *data, u32 bytes);
/*
 * So many bytes will be put there from another node, by who names the pieces of kernel memory:
 * their number, at most `most`; -EPIPE, -E2BIG. vqp_stream_arrived() or
 * vqp_stream_cancel() follow, and not before nobody puts anything there any more. What is awaited
 * arrives in order, and before anything else is filled in.
 */
int __must_check vqp_stream_await(struct vqp_stream *s, u32 bytes, struct vqp_sge *pieces,
				  u32 most);
/* The first `bytes` bytes that are awaited are there. Under the stream's lock. */
void vqp_stream_arrived(struct vqp_stream *s, u32 bytes);
/*
 * The last `bytes` bytes that are awaited, or all if there are not so many, never come. As above.
 */
void vqp_stream_cancel(struct vqp_stream *s, u32 bytes);
/* Wake the reader if it waits and there is enough to read. */
void vqp_stream_tell(struct vqp_stream *to);

/* ---- For the reader. ---- */

/* What is unread from byte `skip` on, *n bytes in one piece; NULL if there is nothing. */
const void *vqp_stream_data(struct vqp_stream *s, u32 skip, u32 *n);
/* `n` bytes have been read. */
void vqp_stream_consume(struct vqp_stream *s, u32 n);

/*
 * Is there enough to tell a reader that wants `target` bytes? A half window is in any case, and
 * anything is if no more may come before it is read. A guess, unless under the stream's lock.
 */
static inline bool vqp_stream_has_enough(const struct vqp_stream *s, u32 target)
{
	const u32 unread = READ_ONCE(s->unread);

	return unread >= min_t(u32, target, READ_ONCE(s->window) / 2) ||
	       (unread && READ_ONCE(s->starved));
}

/* It breaks the streams of a namespace that is killed. */
extern struct vqp_ns_user vqp_stream_ns_user;

#endif
