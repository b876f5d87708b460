// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "base/counters.h"
#include "base/hash.h"
#include "ns/namespace.h"
#include "sock/stream.h"

#define STREAM_BUDGET_PAGES	((64 << 20) / PAGE_SIZE)	/* of the node */

/* A page of unread bytes: data[start] to data[end - 1]. */
struct chunk {
	struct list_head link;		/* in vqp_stream.chunks */
	struct vqp_ns *payer;		/* referenced, and charged; NULL: beyond budget and limit */
	u32 start, end;
	u8 data[];
};

#define CHUNK_BYTES	(PAGE_SIZE - sizeof(struct chunk))

/* Those of the budget. Many who charge at a time may exceed it by a page each. */
static atomic_t stream_pages;

/* Both ends of a connection. */
struct vqp_pair {
	struct kref ref;		/* one of each end */
	struct hlist_node node;		/* in stream_pairs, under its bucket's lock; or unhashed */
	u32 bucket;			/* where that is; constant once it has names */
	struct vqp_stream end[2];	/* the client's and the server's */
};

/* The connections by their names: no two of a tenant have the same at a time. */
static DEFINE_HASHTABLE(stream_pairs, 14);
static spinlock_t stream_pairs_locks[64];	/* each guards a part of the buckets */

/* ---- Pages ---- */

/*
 * May a namespace have one more page of the budget? None has more than what is left for all others:
 * one alone gets a half, two get a third each, and who comes later finds something, too.
 */
static bool budget_has(const struct vqp_ns *ns)
{
	return atomic_read(&ns->stream_pages) + atomic_read(&stream_pages) < STREAM_BUDGET_PAGES;
}

static bool chunk_charge(struct vqp_ns *payer)
{
	if (!budget_has(payer) || vqp_limit_charge(&payer->limits[VQP_LIMIT_BYTES], PAGE_SIZE))
		return false;
	atomic_inc(&stream_pages);
	atomic_inc(&payer->stream_pages);
	vqp_ns_get(payer);
	return true;
}

static void chunk_uncharge(struct vqp_ns *payer)
{
	atomic_dec(&stream_pages);
	atomic_dec(&payer->stream_pages);
	vqp_limit_uncharge(&payer->limits[VQP_LIMIT_BYTES], PAGE_SIZE);
	vqp_ns_put(payer);
}

/* A page; ERR_PTR(-EAGAIN): budget or limit has none, and it is not the stream's `first`. */
static struct chunk *chunk_alloc(struct vqp_ns *payer, bool first)
{
	const bool charged = chunk_charge(payer);
	struct chunk *chunk;

	if (!charged && !first)
		return ERR_PTR(-EAGAIN);
	chunk = (struct chunk *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!chunk) {
		if (charged)
			chunk_uncharge(payer);
		return ERR_PTR(-ENOMEM);
	}
	chunk->payer = charged ? payer : NULL;
	chunk->start = 0;
	chunk->end = 0;
	vqp_count_made(VQP_OBJ_CHUNK);
	return chunk;
}

static void chunk_free(struct chunk *chunk)
{
	if (chunk->payer)
		chunk_uncharge(chunk->payer);
	free_page((unsigned long)chunk);
	vqp_count_freed(VQP_OBJ_CHUNK);
}

static struct chunk *stream_last(struct vqp_stream *s)
{
	return list_empty(&s->chunks) ? NULL : list_last_entry(&s->chunks, struct chunk, link);
}

/* Free a chunk, unless the sender is copying into it. */
static bool stream_drop(struct vqp_stream *s, struct chunk *chunk)
{
	lockdep_assert_held(&s->lock);
	if (s->filling && chunk == stream_last(s))
		return false;
	list_del(&chunk->link);
	chunk_free(chunk);
	return true;
}

/*
 * Who has sent what is unread in s is gone: the reader's namespace pays from here on, as far as it
 * may. Else it could keep another's limit used up.
 */
static void stream_hand_over(struct vqp_stream *s)
{
	struct vqp_ns *from = s->peer->ns;
	struct chunk *chunk;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(chunk, &s->chunks, link) {
		if (chunk->payer == from && from != s->ns && chunk_charge(s->ns)) {
			chunk_uncharge(from);
			chunk->payer = s->ns;
		}
	}
}

static void stream_drop_all(struct vqp_stream *s)
{
	struct chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &s->chunks, link)
		stream_drop(s, chunk);
	s->unread = 0;
}

/* ---- Waking. Under the stream's lock, which keeps the socket from being released. ---- */

static void stream_wake_reader(struct vqp_stream *s)
{
	lockdep_assert_held(&s->lock);
	if (s->sk && vqp_stream_has_enough(s, READ_ONCE(s->sk->sk_rcvlowat)))
		s->sk->sk_data_ready(s->sk);
}

/* Everybody who waits at the socket looks again. */
static void stream_wake_all(struct vqp_stream *s)
{
	lockdep_assert_held(&s->lock);
	if (s->sk)
		s->sk->sk_state_change(s->sk);
}

/* The reader of s has made room, for which the peer's socket may wait. */
static void stream_wake_sender(struct vqp_stream *s)
{
	struct vqp_stream *peer = s->peer;

	spin_lock_bh(&peer->lock);
	if (peer->sk && test_and_clear_bit(SOCK_NOSPACE, &peer->sk->sk_socket->flags))
		peer->sk->sk_write_space(peer->sk);
	spin_unlock_bh(&peer->lock);
}

/* ---- Connections ---- */

static u32 names_hash(u32 tenant, const struct vqp_names *names)
{
	const u64 ports = (u64)names->local_port << 16 | names->remote_port;

	return vqp_hash_gid(names->local, vqp_hash_gid(names->remote, ports << 32 | tenant));
}

static bool names_equal(const struct vqp_names *a, const struct vqp_names *b)
{
	return a->local_port == b->local_port && a->remote_port == b->remote_port &&
	       !memcmp(a->local, b->local, VQP_GID_BYTES) &&
	       !memcmp(a->remote, b->remote, VQP_GID_BYTES);
}

static spinlock_t *pairs_lock(u32 bucket)
{
	return &stream_pairs_locks[bucket % ARRAY_SIZE(stream_pairs_locks)];
}

void __init vqp_stream_table_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stream_pairs_locks); i++)
		spin_lock_init(&stream_pairs_locks[i]);
}

static struct vqp_pair *pair_of(struct vqp_stream *s)
{
	/* The client's end is the first of the two, and lies below its peer. */
	return container_of(s < s->peer ? s : s->peer, struct vqp_pair, end[0]);
}

static void pair_set_names(struct vqp_pair *pair, const struct vqp_names *names)
{
	struct vqp_names *server = &pair->end[1].names;

	pair->end[0].names = *names;
	memcpy(server->local, names->remote, VQP_GID_BYTES);
	memcpy(server->remote, names->local, VQP_GID_BYTES);
	server->local_port = names->remote_port;
	server->remote_port = names->local_port;
}

int vqp_stream_name(struct vqp_stream *s, const struct vqp_names *names)
{
	const u32 tenant = s->ns->tenant, hash = names_hash(tenant, names);
	const u32 bucket = hash_min(hash, HASH_BITS(stream_pairs));
	struct vqp_pair *pair = pair_of(s), *other;
	int ret = 0;

	spin_lock(pairs_lock(bucket));
	hlist_for_each_entry(other, &stream_pairs[bucket], node)
		if (other->end[0].ns->tenant == tenant &&
		    names_equal(&other->end[0].names, names))
			ret = -EADDRINUSE;
	if (!ret) {
		pair_set_names(pair, names);
		pair->bucket = bucket;
		hlist_add_head(&pair->node, &stream_pairs[bucket]);
	}
	spin_unlock(pairs_lock(bucket));
	return ret;
}

/* The names are free. */
static void pair_unname(struct vqp_pair *pair)
{
	spinlock_t *lock = pairs_lock(pair->bucket);

	spin_lock(lock);
	hlist_del_init(&pair->node);
	spin_unlock(lock);
}

static void stream_init(struct vqp_stream *s, struct vqp_stream *peer, struct vqp_ns *ns)
{
	s->peer = peer;
	s->ns = ns;
	vqp_ns_get(ns);
	INIT_LIST_HEAD(&s->ns_link);
	INIT_LIST_HEAD(&s->pending);
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->chunks);
	s->window = VQP_STREAM_WINDOW;
}

/* Both ends were closed. */
static void pair_release(struct kref *ref)
{
	struct vqp_pair *pair = container_of(ref, struct vqp_pair, ref);

	vqp_ns_put(pair->end[0].ns);
	vqp_ns_put(pair->end[1].ns);
	kfree(pair);
	vqp_count_freed(VQP_OBJ_STREAM);
}

/* The pair's two ends are charged to their namespaces until each is closed. */
static struct vqp_pair *pair_alloc(struct vqp_ns *client_ns, struct vqp_ns *server_ns)
{
	struct vqp_limit *client = &client_ns->limits[VQP_LIMIT_STREAMS];
	struct vqp_limit *server = &server_ns->limits[VQP_LIMIT_STREAMS];
	struct vqp_pair *pair;
	int ret;

	ret = vqp_limit_charge(client, 1);
	if (ret)
		return ERR_PTR(ret);
	ret = vqp_limit_charge(server, 1);
	if (ret)
		goto err_client;
	ret = -ENOMEM;
	pair = kzalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);
	if (!pair)
		goto err_server;
	kref_init(&pair->ref);
	stream_init(&pair->end[0], &pair->end[1], client_ns);
	stream_init(&pair->end[1], &pair->end[0], server_ns);
	vqp_count_made(VQP_OBJ_STREAM);
	return pair;

err_server:
	vqp_limit_uncharge(server, 1);
err_client:
	vqp_limit_uncharge(client, 1);
	return ERR_PTR(ret);
}

/* Have the end of the namespace break the stream. -ESHUTDOWN: it has ended. */
static int stream_list(struct vqp_stream *s)
{
	struct vqp_ns *ns = s->ns;
	int ret = -ESHUTDOWN;

	spin_lock(&ns->streams_lock);
	if (vqp_ns_alive(ns)) {
		list_add(&s->ns_link, &ns->streams);
		ret = 0;
	}
	spin_unlock(&ns->streams_lock);
	return ret;
}

struct vqp_stream *vqp_stream_make(struct vqp_ns *client_ns, struct vqp_ns *server_ns)
{
	struct vqp_stream *client, *server;
	struct vqp_pair *pair;
	int ret;

	/* With a page at a time it would be slow: TCP has memory of its own. */
	if (!budget_has(client_ns) || !budget_has(server_ns))
		return ERR_PTR(-ENOBUFS);
	pair = pair_alloc(client_ns, server_ns);
	if (IS_ERR(pair))
		return ERR_CAST(pair);
	client = &pair->end[0];
	server = &pair->end[1];
	kref_get(&pair->ref);	/* one of each end */
	ret = stream_list(client) ?: stream_list(server);
	if (ret) {
		vqp_stream_abandon(client);
		return ERR_PTR(ret);
	}
	return client;
}

void vqp_stream_abandon(struct vqp_stream *client)
{
	struct vqp_stream *server = client->peer;

	vqp_stream_close(server, true);
	vqp_stream_close(client, true);
	vqp_stream_put(server);
	vqp_stream_put(client);
}

void vqp_stream_attach(struct vqp_stream *s, struct sock *sk)
{
	spin_lock_bh(&s->lock);
	s->sk = sk;
	if (s->err)
		WRITE_ONCE(sk->sk_err, s->err);
	spin_unlock_bh(&s->lock);
}

void vqp_stream_break(struct vqp_stream *s, int err)
{
	spin_lock_bh(&s->lock);
	if (!s->err) {
		WRITE_ONCE(s->err, err);
		if (s->sk) {
			WRITE_ONCE(s->sk->sk_err, err);
			sk_error_report(s->sk);
			stream_wake_all(s);
		}
	}
	spin_unlock_bh(&s->lock);
}

void vqp_stream_finish(struct vqp_stream *s)
{
	struct vqp_stream *peer = s->peer;

	spin_lock_bh(&peer->lock);
	WRITE_ONCE(peer->finished, true);
	stream_wake_all(peer);
	if (peer->sk)
		sk_wake_async(peer->sk, SOCK_WAKE_WAITD, POLL_IN);
	spin_unlock_bh(&peer->lock);
}

void vqp_stream_close(struct vqp_stream *s, bool reset)
{
	spin_lock(&s->ns->streams_lock);
	list_del_init(&s->ns_link);
	spin_unlock(&s->ns->streams_lock);
	vqp_limit_uncharge(&s->ns->limits[VQP_LIMIT_STREAMS], 1);
	if (s < s->peer)
		pair_unname(pair_of(s));
	spin_lock_bh(&s->lock);
	s->sk = NULL;
	WRITE_ONCE(s->closed, true);
	/* Threads may wait yet at a socket whose connection is dissolved. */
	if (!s->err)
		WRITE_ONCE(s->err, ECONNRESET);
	reset |= s->unread != 0;
	stream_drop_all(s);
	spin_unlock_bh(&s->lock);
	if (reset)
		vqp_stream_break(s->peer, ECONNRESET);
	else
		vqp_stream_finish(s);
	spin_lock_bh(&s->peer->lock);
	stream_hand_over(s->peer);
	spin_unlock_bh(&s->peer->lock);
	/* A sender that waits for room learns that there is nobody to read. */
	stream_wake_sender(s);
}

void vqp_stream_put(struct vqp_stream *s)
{
	kref_put(&pair_of(s)->ref, pair_release);
}

/* One of the streams that the namespace still has, which it has no more, referenced; or NULL. */
static struct vqp_stream *streams_take(struct vqp_ns *ns)
{
	struct vqp_stream *s;

	spin_lock(&ns->streams_lock);
	s = list_first_entry_or_null(&ns->streams, struct vqp_stream, ns_link);
	if (s) {
		list_del_init(&s->ns_link);
		/* Who has the end unlists it before its reference is dropped. */
		kref_get(&pair_of(s)->ref);
	}
	spin_unlock(&ns->streams_lock);
	return s;
}

/* The namespace is dead, and so gets no more of them. */
static void streams_kill(struct vqp_ns *ns)
{
	struct vqp_stream *s;

	while ((s = streams_take(ns))) {
		vqp_stream_break(s, ECONNRESET);
		vqp_stream_break(s->peer, ECONNRESET);
		vqp_stream_put(s);
		cond_resched();
	}
}

struct vqp_ns_user vqp_stream_ns_user = {
	.kill = streams_kill,
};

/* ---- Sending ---- */

/* Room in the last chunk, to which `new` is added first if it is full; or NULL. */
static void *stream_take_room(struct vqp_stream *to, struct chunk **new, u32 *n)
{
	struct chunk *chunk = stream_last(to);

	lockdep_assert_held(&to->lock);
	if (!chunk || chunk->end == CHUNK_BYTES) {
		chunk = *new;
		if (!chunk)
			return NULL;
		list_add_tail(&chunk->link, &to->chunks);
		*new = NULL;
	}
	to->filling = true;
	*n = min3(*n, to->window - to->unread, (u32)(CHUNK_BYTES - chunk->end));
	return chunk->data + chunk->end;
}

/* The same; NULL: a new chunk is needed. ERR_PTR() as vqp_stream_room(). */
static void *stream_try_room(struct vqp_stream *to, struct chunk **new, u32 *n)
{
	void *room;

	spin_lock_bh(&to->lock);
	if (to->closed)
		room = ERR_PTR(-EPIPE);
	else if (to->unread >= to->window)
		room = ERR_PTR(-EAGAIN);
	else
		room = stream_take_room(to, new, n);
	spin_unlock_bh(&to->lock);
	return room;
}

/*
 * No page is to be had. True: the sender is woken when the reader has freed one, and the reader is
 * told of what there is, however little. False: it has read all meanwhile, and the stream may have
 * its first one.
 */
static bool stream_starve(struct vqp_stream *to)
{
	bool starved;

	spin_lock_bh(&to->lock);
	starved = !list_empty(&to->chunks);
	WRITE_ONCE(to->starved, starved);
	if (starved)
		stream_wake_reader(to);
	spin_unlock_bh(&to->lock);
	return starved;
}

void *vqp_stream_room(struct vqp_stream *to, u32 *n)
{
	struct chunk *new = NULL;
	void *room;

	for (;;) {
		room = stream_try_room(to, &new, n);
		if (room)
			break;
		new = chunk_alloc(to->peer->ns, list_empty_careful(&to->chunks));
		if (IS_ERR(new)) {
			room = ERR_CAST(new);
			new = NULL;
			if (room != ERR_PTR(-EAGAIN) || stream_starve(to))
				break;
		}
	}
	if (new)
		chunk_free(new);
	return room;
}

void vqp_stream_fill(struct vqp_stream *to, u32 n)
{
	struct chunk *chunk;

	spin_lock_bh(&to->lock);
	to->filling = false;
	chunk = stream_last(to);
	if (to->closed) {
		stream_drop_all(to);
	} else {
		chunk->end += n;
		WRITE_ONCE(to->unread, to->unread + n);
		WRITE_ONCE(to->came, to->came + n);
		/* The reader may have read all but what was being copied, which came to nothing. */
		if (chunk->start == chunk->end)
			stream_drop(to, chunk);
	}
	spin_unlock_bh(&to->lock);
}

void vqp_stream_tell(struct vqp_stream *to)
{
	spin_lock_bh(&to->lock);
	if (to->unread)
		stream_wake_reader(to);
	spin_unlock_bh(&to->lock);
}

bool vqp_stream_is_writable(struct vqp_stream *to)
{
	const u32 window = READ_ONCE(to->window), unread = READ_ONCE(to->unread);

	if (READ_ONCE(to->closed))
		return true;
	return !READ_ONCE(to->starved) && unread < window && window - unread >= window / 3;
}

u32 vqp_stream_excess(const struct vqp_stream *to)
{
	const u32 unread = READ_ONCE(to->unread), half = READ_ONCE(to->window) / 2;

	return unread > half && !READ_ONCE(to->closed) ? unread - half : 0;
}

/* ---- Reading ---- */

const void *vqp_stream_data(struct vqp_stream *s, u32 skip, u32 *n)
{
	const void *data = NULL;
	struct chunk *chunk;

	spin_lock_bh(&s->lock);
	list_for_each_entry(chunk, &s->chunks, link) {
		const u32 bytes = chunk->end - chunk->start;

		if (skip < bytes) {
			data = chunk->data + chunk->start + skip;
			*n = bytes - skip;
			break;
		}
		skip -= bytes;
	}
	spin_unlock_bh(&s->lock);
	return data;
}

void vqp_stream_consume(struct vqp_stream *s, u32 n)
{
	struct chunk *chunk, *next;
	bool freed = false, wake;

	spin_lock_bh(&s->lock);
	WRITE_ONCE(s->unread, s->unread - n);
	list_for_each_entry_safe(chunk, next, &s->chunks, link) {
		const u32 bytes = min(n, chunk->end - chunk->start);

		chunk->start += bytes;
		n -= bytes;
		if (chunk->start == chunk->end)
			freed |= stream_drop(s, chunk);
		if (!n)
			break;
	}
	if (freed || !s->unread)
		WRITE_ONCE(s->starved, false);
	wake = vqp_stream_is_writable(s);
	spin_unlock_bh(&s->lock);
	if (wake)
		stream_wake_sender(s);
}

void vqp_stream_set_window(struct vqp_stream *s, u32 bytes)
{
	spin_lock_bh(&s->lock);
	WRITE_ONCE(s->window, max_t(u32, bytes, PAGE_SIZE));
	spin_unlock_bh(&s->lock);
	stream_wake_sender(s);
}
