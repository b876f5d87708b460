// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/hash.h"
#include "ns/namespace.h"
#include "sock/budget.h"
#include "sock/stream.h"

/*
 * A page of unread bytes: data[start] to data[end - 1]. From there to data[taken - 1] others are
 * being put, and so nothing frees it.
 */
struct chunk {
	struct list_head link;		/* in vqp_stream.chunks */
	struct vqp_ns *payer;		/* referenced, and charged; or NULL */
	u32 start, end, taken;
	u8 data[];
};

#define CHUNK_BYTES	(PAGE_SIZE - sizeof(struct chunk))

static_assert(VQP_STREAM_PAGE_BYTES <= CHUNK_BYTES);

/* The clients' ends by their names: no two of a tenant have the same at a time. */
static DEFINE_HASHTABLE(stream_names, 14);
static spinlock_t stream_names_locks[64];	/* each guards a part of the buckets */

/* ---- Pages ---- */

/* A page, of which the charge to `payer`, unless that is NULL, becomes the page's; or NULL. */
static struct chunk *chunk_alloc(struct vqp_ns *payer, gfp_t gfp)
{
	struct chunk *chunk = (struct chunk *)__get_free_page(gfp);

	if (!chunk)
		return NULL;
	chunk->payer = payer;
	chunk->start = 0;
	chunk->end = 0;
	chunk->taken = 0;
	vqp_count_made(VQP_OBJ_CHUNK);
	return chunk;
}

/*
 * A page that `payer` is charged for; ERR_PTR(-EAGAIN): budget or limit has none, and it is not the
 * stream's `first`.
 */
static struct chunk *chunk_buy(struct vqp_ns *payer, bool first)
{
	const bool charged = vqp_budget_charge(payer);
	struct chunk *chunk;

	if (!charged && !first)
		return ERR_PTR(-EAGAIN);
	chunk = chunk_alloc(charged ? payer : NULL, GFP_KERNEL_ACCOUNT);
	if (!chunk && charged)
		vqp_budget_uncharge(payer);
	return chunk ?: ERR_PTR(-ENOMEM);
}

/*
 * A page for what has come from another node, where it was told that there is room. The reader's
 * memory cgroup pays, even beyond its limit: nobody is killed for what others send, and the
 * connection goes on, since a window bounds what comes. Only a node without memory pays itself.
 */
static struct chunk *chunk_alloc_owed(struct mem_cgroup *memcg)
{
	const gfp_t charged = GFP_KERNEL_ACCOUNT | __GFP_HIGH | __GFP_NORETRY | __GFP_NOWARN;
	struct mem_cgroup *old = set_active_memcg(memcg);
	struct chunk *chunk = chunk_alloc(NULL, charged);

	set_active_memcg(old);
	return chunk ?: chunk_alloc(NULL, GFP_KERNEL | __GFP_NOFAIL);
}

static void chunk_free(struct chunk *chunk)
{
	if (chunk->payer)
		vqp_budget_uncharge(chunk->payer);
	free_page((unsigned long)chunk);
	vqp_count_freed(VQP_OBJ_CHUNK);
}

static struct chunk *stream_last(struct vqp_stream *s)
{
	return list_empty(&s->chunks) ? NULL : list_last_entry(&s->chunks, struct chunk, link);
}

/* Free a chunk, unless bytes are being put into it. */
static bool stream_drop(struct vqp_stream *s, struct chunk *chunk)
{
	lockdep_assert_held(&s->lock);
	if (chunk->taken > chunk->end)
		return false;
	list_del(&chunk->link);
	chunk_free(chunk);
	return true;
}

void vqp_stream_hand_over(struct vqp_stream *s)
{
	struct vqp_ns *from = s->peer->ns;
	struct chunk *chunk;

	spin_lock_bh(&s->lock);
	list_for_each_entry(chunk, &s->chunks, link) {
		if (chunk->payer == from && from != s->ns && vqp_budget_charge(s->ns)) {
			vqp_budget_uncharge(from);
			chunk->payer = s->ns;
		}
	}
	spin_unlock_bh(&s->lock);
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

void vqp_stream_wake_writer(struct vqp_stream *s)
{
	spin_lock_bh(&s->lock);
	if (s->sk && test_and_clear_bit(SOCK_NOSPACE, &s->sk->sk_socket->flags))
		s->sk->sk_write_space(s->sk);
	spin_unlock_bh(&s->lock);
}

/* ---- Memory cgroups ---- */

/* The stream's, referenced; or NULL. */
static struct mem_cgroup *stream_memcg_get(struct vqp_stream *s)
{
	struct mem_cgroup *memcg;

	spin_lock_bh(&s->lock);
	memcg = s->memcg;
	if (!mem_cgroup_tryget(memcg))
		memcg = NULL;
	spin_unlock_bh(&s->lock);
	return memcg;
}

/* The reference becomes the stream's. */
static void stream_memcg_set(struct vqp_stream *s, struct mem_cgroup *memcg)
{
	lockdep_assert_held(&s->lock);
	swap(s->memcg, memcg);
	mem_cgroup_put(memcg);
}

static void stream_charge_to(struct vqp_stream *s, const struct sock *sk)
{
	struct mem_cgroup *memcg = mem_cgroup_from_sk(sk);

	if (!s->peer && mem_cgroup_tryget(memcg))
		stream_memcg_set(s, memcg);
}

void vqp_stream_charge_to(struct vqp_stream *s, const struct sock *sk)
{
	spin_lock_bh(&s->lock);
	stream_charge_to(s, sk);
	spin_unlock_bh(&s->lock);
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

static spinlock_t *names_lock(u32 bucket)
{
	return &stream_names_locks[bucket % ARRAY_SIZE(stream_names_locks)];
}

void __init vqp_stream_table_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stream_names_locks); i++)
		spin_lock_init(&stream_names_locks[i]);
}

void vqp_names_set(struct vqp_names *to, const u8 *local, u16 local_port, const u8 *remote,
		   u16 remote_port)
{
	memcpy(to->local, local, VQP_GID_BYTES);
	memcpy(to->remote, remote, VQP_GID_BYTES);
	to->local_port = local_port;
	to->remote_port = remote_port;
}

void vqp_names_turn(struct vqp_names *to, const struct vqp_names *from)
{
	vqp_names_set(to, from->remote, from->remote_port, from->local, from->local_port);
}

int vqp_stream_name(struct vqp_stream *s, const struct vqp_names *names)
{
	const u32 tenant = s->ns->tenant, hash = names_hash(tenant, names);
	const u32 bucket = hash_min(hash, HASH_BITS(stream_names));
	struct vqp_stream *other;
	int ret = 0;

	spin_lock(names_lock(bucket));
	hlist_for_each_entry(other, &stream_names[bucket], name_node)
		if (other->ns->tenant == tenant && names_equal(&other->names, names))
			ret = -EADDRINUSE;
	if (!ret) {
		s->names = *names;
		if (s->peer)
			vqp_names_turn(&s->peer->names, names);
		s->name_bucket = bucket;
		hlist_add_head(&s->name_node, &stream_names[bucket]);
	}
	spin_unlock(names_lock(bucket));
	return ret;
}

/* The names are free. */
static void stream_unname(struct vqp_stream *s)
{
	spinlock_t *lock = names_lock(s->name_bucket);

	if (hlist_unhashed(&s->name_node))
		return;
	spin_lock(lock);
	hlist_del_init(&s->name_node);
	spin_unlock(lock);
}

void vqp_stream_init(struct vqp_stream *s, const struct vqp_stream_ops *ops, struct kref *ref,
		     struct vqp_stream *peer, struct vqp_ns *ns)
{
	s->ops = ops;
	s->ref = ref;
	s->peer = peer;
	s->ns = ns;
	vqp_ns_get(ns);
	INIT_LIST_HEAD(&s->ns_link);
	INIT_LIST_HEAD(&s->pending);
	INIT_HLIST_NODE(&s->name_node);
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->chunks);
	s->window = VQP_STREAM_WINDOW;
}

int vqp_stream_list(struct vqp_stream *s)
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

void vqp_stream_attach(struct vqp_stream *s, struct sock *sk)
{
	spin_lock_bh(&s->lock);
	s->sk = sk;
	stream_charge_to(s, sk);
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
			vqp_tally_add(s->ns->tally, VQP_TALLY_BROKEN, 1);
			WRITE_ONCE(s->sk->sk_err, err);
			sk_error_report(s->sk);
			stream_wake_all(s);
		}
	}
	spin_unlock_bh(&s->lock);
}

void vqp_stream_end(struct vqp_stream *s)
{
	spin_lock_bh(&s->lock);
	WRITE_ONCE(s->finished, true);
	stream_wake_all(s);
	if (s->sk)
		sk_wake_async(s->sk, SOCK_WAKE_WAITD, POLL_IN);
	spin_unlock_bh(&s->lock);
}

void vqp_stream_close(struct vqp_stream *s, bool reset)
{
	spin_lock(&s->ns->streams_lock);
	list_del_init(&s->ns_link);
	spin_unlock(&s->ns->streams_lock);
	stream_unname(s);
	spin_lock_bh(&s->lock);
	s->sk = NULL;
	stream_memcg_set(s, NULL);
	WRITE_ONCE(s->closed, true);
	/* Threads may wait yet at a socket whose connection is dissolved. */
	if (!s->err)
		WRITE_ONCE(s->err, ECONNRESET);
	reset |= s->unread != 0;
	stream_drop_all(s);
	spin_unlock_bh(&s->lock);
	s->ops->close(s, reset);
}

void vqp_stream_put(struct vqp_stream *s)
{
	kref_put(s->ref, s->ops->release);
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
		kref_get(s->ref);
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
		if (s->peer)
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
	/* What comes from another node is within the window that its sender was told. */
	if (to->peer)
		*n = min(*n, to->window - to->unread);
	if (!chunk || chunk->taken == CHUNK_BYTES) {
		chunk = *new;
		if (!chunk)
			return NULL;
		list_add_tail(&chunk->link, &to->chunks);
		*new = NULL;
	}
	*n = min_t(u32, *n, CHUNK_BYTES - chunk->taken);
	chunk->taken += *n;
	return chunk->data + chunk->taken - *n;
}

/* The same; NULL: a new chunk is needed. ERR_PTR() as vqp_stream_room(). */
static void *stream_try_room(struct vqp_stream *to, struct chunk **new, u32 *n)
{
	void *room;

	spin_lock_bh(&to->lock);
	if (to->closed)
		room = ERR_PTR(-EPIPE);
	else if (to->peer && to->unread >= to->window)
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
		new = chunk_buy(to->peer->ns, list_empty_careful(&to->chunks));
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

/* So many bytes more are there to be read, unless nobody reads any more. */
static void stream_add(struct vqp_stream *s, u32 n)
{
	lockdep_assert_held(&s->lock);
	if (s->closed) {
		stream_drop_all(s);
		return;
	}
	WRITE_ONCE(s->unread, s->unread + n);
	WRITE_ONCE(s->came, s->came + n);
	vqp_tally_add(s->ns->tally, VQP_TALLY_RX_BYTES, n);
}

void vqp_stream_fill(struct vqp_stream *to, u32 n)
{
	struct chunk *chunk;

	spin_lock_bh(&to->lock);
	chunk = stream_last(to);
	chunk->end += n;
	chunk->taken = chunk->end;
	stream_add(to, n);
	/* The reader may have read all but what was being copied, which came to nothing. */
	if (!to->closed && chunk->start == chunk->end)
		stream_drop(to, chunk);
	spin_unlock_bh(&to->lock);
}

/* Room as by stream_try_room(), with a new chunk that the reader's memcg pays if one is needed. */
static void *stream_owed_room(struct vqp_stream *to, struct chunk **new, u32 *n,
			      struct mem_cgroup *memcg)
{
	void *room;

	while (!(room = stream_try_room(to, new, n)))
		*new = chunk_alloc_owed(memcg);
	return room;
}

int vqp_stream_append(struct vqp_stream *s, const void *data, u32 bytes)
{
	struct mem_cgroup *memcg = stream_memcg_get(s);
	struct chunk *new = NULL;
	int ret = 0;
	void *room;
	u32 n;

	while (bytes) {
		n = bytes;
		room = stream_owed_room(s, &new, &n, memcg);
		if (IS_ERR(room)) {
			ret = PTR_ERR(room);
			break;
		}
		memcpy(room, data, n);
		vqp_stream_fill(s, n);
		data += n;
		bytes -= n;
	}
	if (new)
		chunk_free(new);
	mem_cgroup_put(memcg);
	return ret;
}

/* ---- Bytes that others put there, in their time ---- */

void vqp_stream_cancel(struct vqp_stream *s, u32 bytes)
{
	struct chunk *chunk, *prev;
	u32 n;

	lockdep_assert_held(&s->lock);
	list_for_each_entry_safe_reverse(chunk, prev, &s->chunks, link) {
		n = min(bytes, chunk->taken - chunk->end);
		chunk->taken -= n;
		bytes -= n;
		if (chunk->start == chunk->end)
			stream_drop(s, chunk);
		if (!bytes)
			break;
	}
	if (s->closed)
		stream_drop_all(s);
}

int vqp_stream_await(struct vqp_stream *s, u32 bytes, struct vqp_sge *pieces, u32 most)
{
	struct mem_cgroup *memcg = stream_memcg_get(s);
	struct chunk *new = NULL;
	u32 n, left = bytes;
	int count = 0;
	void *room;

	while (left) {
		n = left;
		room = count < most ? stream_owed_room(s, &new, &n, memcg) : ERR_PTR(-E2BIG);
		if (IS_ERR(room)) {
			spin_lock_bh(&s->lock);
			vqp_stream_cancel(s, bytes - left);
			spin_unlock_bh(&s->lock);
			count = PTR_ERR(room);
			break;
		}
		pieces[count++] = (struct vqp_sge) { .addr = (uintptr_t)room, .length = n };
		left -= n;
	}
	if (new)
		chunk_free(new);
	mem_cgroup_put(memcg);
	return count;
}

void vqp_stream_arrived(struct vqp_stream *s, u32 bytes)
{
	struct chunk *chunk;
	u32 n, left = bytes;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(chunk, &s->chunks, link) {
		n = min(left, chunk->taken - chunk->end);
		chunk->end += n;
		left -= n;
		if (!left)
			break;
	}
	stream_add(s, bytes);
}

void vqp_stream_tell(struct vqp_stream *to)
{
	spin_lock_bh(&to->lock);
	if (to->unread)
		stream_wake_reader(to);
	spin_unlock_bh(&to->lock);
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
	bool freed = false;

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
	spin_unlock_bh(&s->lock);
	s->ops->consumed(s, freed);
}
