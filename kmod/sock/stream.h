/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stream is one end of a connection within the node: what has arrived there and is unread. Both
 * ends are in one struct vqp_pair. The sender copies a program's bytes into pages of the receiver's
 * stream, and the receiver copies them out: two copies, and no packet. There is one sender and one
 * reader at a time, since each has lock_sock() of its own socket; neither takes the other's.
 *
 * Pages come as they are needed, from a budget of the node, of which each namespace has a share.
 * They are charged to the sender: to its memory cgroup, and to its namespace's limit on bytes. What
 * it leaves unread when it closes is charged to the reader's namespace, if that may have it. Each
 * stream may have one page beyond the budget and the limit, so that every connection gets on; a
 * sender that gets no more waits until its peer has read.
 */
#ifndef VQP_SOCK_STREAM_H
#define VQP_SOCK_STREAM_H

#include <linux/init.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vqp.h>

struct sock;
struct vqp_ns;
struct vqp_ns_user;

#define VQP_STREAM_WINDOW	(512 << 10)	/* the most unread bytes, unless SO_RCVBUF says */

/* Addresses, as GIDs, and ports of a connection, as one end sees it. */
struct vqp_names {
	u8 local[VQP_GID_BYTES], remote[VQP_GID_BYTES];
	u16 local_port, remote_port;
};

struct vqp_stream {
	struct vqp_stream *peer;	/* the other end; constant */
	struct vqp_names names;		/* constant once vqp_stream_name() has given them */
	struct vqp_ns *ns;		/* referenced */
	struct list_head ns_link;	/* in ns->streams, or empty; under ns->streams_lock */
	struct list_head pending;	/* in vqp_listener.pending, or in vqp_sock.past */
	spinlock_t lock;		/* guards all below */
	struct sock *sk;		/* who reads it; NULL: not accepted yet, or closed */
	struct list_head chunks;	/* the pages of what is unread, oldest first */
	u32 unread;			/* bytes */
	u32 window;			/* the most of them */
	u64 came;			/* all bytes that were sent here, for who looks on */
	bool filling;			/* The sender copies into the last chunk, unlocked. */
	/* The sender waits for a page, and not for the window: the reader is told of any byte. */
	bool starved;
	bool finished;			/* The peer sends no more. */
	bool closed;			/* Nobody reads any more. */
	int err;			/* The connection broke: what the reader is told */
};

/* Before there is a stream. */
void __init vqp_stream_table_init(void);

/*
 * Make a connection from client_ns to server_ns, without names. Returns the client's end; both ends
 * are the caller's, who closes and puts each. ERR_PTR(): -EDQUOT at a namespace's limit; -ENOBUFS:
 * a namespace has its share of the budget; -ESHUTDOWN; or -ENOMEM. Process context.
 */
struct vqp_stream *vqp_stream_make(struct vqp_ns *client_ns, struct vqp_ns *server_ns);

/*
 * Have a connection be `names` to its client, which closes its end to give them back. -EADDRINUSE:
 * another of the tenant has them.
 */
int vqp_stream_name(struct vqp_stream *client, const struct vqp_names *names);

/* Close and put both ends of a connection that came to nothing. */
void vqp_stream_abandon(struct vqp_stream *client);

/* Have sk read the stream; it is woken, and told errors. Its lock is held, or nobody knows it. */
void vqp_stream_attach(struct vqp_stream *s, struct sock *sk);

/*
 * Close an end: what is unread is dropped, and the peer is told the end, or with `reset` that the
 * connection is broken. No callback of the socket is under way when it returns. Who waits at it yet
 * finds it broken. The end's memory stays until vqp_stream_put().
 */
void vqp_stream_close(struct vqp_stream *s, bool reset);
void vqp_stream_put(struct vqp_stream *s);

/* This end sends no more: its peer reads what there is, and then the end. */
void vqp_stream_finish(struct vqp_stream *s);

/* The connection is broken: the reader of s gets `err` when it has read what there is. */
void vqp_stream_break(struct vqp_stream *s, int err);

/* ---- For the sender, which names the peer's stream. Process context. ---- */

/*
 * Room for up to *n bytes in one piece, and *n what it has; vqp_stream_fill() follows. ERR_PTR():
 * -EAGAIN: not now; -EPIPE: nobody reads any more; -ENOMEM.
 */
void *vqp_stream_room(struct vqp_stream *to, u32 *n);
/* `n` bytes are in it, perhaps none. */
void vqp_stream_fill(struct vqp_stream *to, u32 n);
/* Wake the reader if it waits and there is enough to read. */
void vqp_stream_tell(struct vqp_stream *to);
/* Is there room worth waking a sender for? A guess, also for poll(2). */
bool vqp_stream_is_writable(struct vqp_stream *to);
/*
 * The bytes beyond half a window: TCP would have them still, the receiver's half being full. They
 * are what SIOCOUTQ tells, and what close(2) waits for if it lingers. A guess.
 */
u32 vqp_stream_excess(const struct vqp_stream *to);

/* ---- For the reader. ---- */

/* What is unread from byte `skip` on, *n bytes in one piece; NULL if there is nothing. */
const void *vqp_stream_data(struct vqp_stream *s, u32 skip, u32 *n);
/* `n` bytes have been read. */
void vqp_stream_consume(struct vqp_stream *s, u32 n);
/* Set the most unread bytes. */
void vqp_stream_set_window(struct vqp_stream *s, u32 bytes);

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
