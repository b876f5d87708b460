// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "device/parent.h"
#include "engine/bucket.h"
#include "mem/cursor.h"
#include "meta/client.h"
#include "meta/server.h"
#include "ns/namespace.h"
#include "queue/send.h"
#include "queue/vqp.h"

#define META_TORN_RETRIES	16	/* a bucket that is being written is read again */
/* A server that did not answer is asked again after this time. */
#define SERVER_RETRY_JIFFIES	HZ
/* A task that waits looks this often whether it is still to wait. */
#define META_WAIT_JIFFIES	(HZ / 10)

/* ---- Meta servers ---- */

struct meta_server {
	struct kref ref;
	struct vqp_meta_table table;	/* constant */
	struct semaphore turn;		/* guards vqp; a lock that one can stop waiting for */
	struct vqp *vqp;		/* towards the server's node; NULL until the first lookup */
	bool silent;			/* It did not answer the latest lookup. */
	unsigned long retry_at;		/* when it is asked again then, in jiffies */
	unsigned long unreached_until;	/* Its node's address is not resolved before, in jiffies. */
};

/* One READ of a bucket. The requester and the completion have a reference each. */
struct meta_read {
	struct kref ref;
	struct completion done;
	u32 status;
	struct vqp_bucket bucket;
	struct vqp_send send;		/* It ends in a flexible array, and so comes last. */
};

static DEFINE_MUTEX(meta_set_mutex);	/* serializes vqp_meta_set(); outside meta_mutex */
static DEFINE_MUTEX(meta_mutex);	/* guards meta_servers */
static struct meta_server *meta_servers[VQP_META_MAX];
static u32 meta_first;			/* the server that knew the latest address */

static void server_release(struct kref *ref)
{
	struct meta_server *server = container_of(ref, struct meta_server, ref);

	if (server->vqp)
		vqp_teardown(server->vqp);
	kfree(server);
	vqp_count_freed(VQP_OBJ_META);
}

static void server_put(struct meta_server *server)
{
	kref_put(&server->ref, server_release);
}

static struct meta_server *server_get(u32 i)
{
	struct meta_server *server;

	mutex_lock(&meta_mutex);
	server = meta_servers[i];
	if (server)
		kref_get(&server->ref);
	mutex_unlock(&meta_mutex);
	return server;
}

/* Is `vqp` still to wait, and the task alive? */
static bool meta_may_wait(const struct vqp *vqp)
{
	return !fatal_signal_pending(current) && (!vqp || READ_ONCE(vqp->state) != VQP_QP_ERROR);
}

int vqp_meta_wait(struct completion *done, const struct vqp *vqp)
{
	while (wait_for_completion_killable_timeout(done, META_WAIT_JIFFIES) <= 0)
		if (!meta_may_wait(vqp))
			return -EINTR;
	return 0;
}

int vqp_meta_down(struct semaphore *sem, const struct vqp *vqp, const bool *moot)
{
	while (down_timeout(sem, META_WAIT_JIFFIES)) {
		if (!meta_may_wait(vqp))
			return -EINTR;
		if (moot && READ_ONCE(*moot))
			return -EALREADY;
	}
	return 0;
}

/*
 * The VQP towards the server's node, referenced; or ERR_PTR. Replaces a VQP that has failed. To
 * connect may take a second, if the address of the server's node does not resolve; those who have
 * waited for that do not try it again.
 */
static struct vqp *server_vqp(struct meta_server *server, const struct vqp *for_vqp)
{
	struct vqp_ns *host;
	struct vqp *vqp;
	int ret;

	ret = vqp_meta_down(&server->turn, for_vqp, NULL);
	if (ret)
		return ERR_PTR(ret);
	vqp = server->vqp;
	if (vqp && READ_ONCE(vqp->state) == VQP_QP_ERROR) {
		vqp_teardown(vqp);
		vqp = NULL;
	}
	if (!vqp && time_before(jiffies, server->unreached_until)) {
		vqp = ERR_PTR(-EHOSTUNREACH);
	} else if (!vqp) {
		host = vqp_ns_host();
		vqp = vqp_client_connect(host, server->table.dct.node_gid, &server->table.dct);
		vqp_ns_put(host);
		if (PTR_ERR_OR_ZERO(vqp) == -EHOSTUNREACH)
			server->unreached_until = jiffies + SERVER_RETRY_JIFFIES;
	}
	server->vqp = IS_ERR(vqp) ? NULL : vqp;
	if (!IS_ERR(vqp))
		kref_get(&vqp->ref);
	up(&server->turn);
	return vqp;
}

static void read_release(struct kref *ref)
{
	kfree(container_of(ref, struct meta_read, ref));
}

static void read_done(struct vqp_send *send, u32 status)
{
	struct meta_read *rd = container_of(send, struct meta_read, send);

	rd->status = status;
	complete(&rd->done);
	kref_put(&rd->ref, read_release);
}

/*
 * READ a bucket over the dc carrier, by the server's VQP `to`. The function returns 0, -EINTR when
 * the caller is killed or its VQP fails, or another -errno, at the latest when giveup_us has passed
 * without a sign of the peer.
 */
static int read_remote(struct vqp *to, const struct vqp_meta_table *table, u64 addr,
		       const struct vqp *vqp, struct vqp_bucket *bucket)
{
	struct meta_read *rd = kzalloc(sizeof(*rd), GFP_KERNEL);
	LIST_HEAD(sends);
	int ret;

	if (!rd)
		return -ENOMEM;
	kref_init(&rd->ref);
	init_completion(&rd->done);
	rd->send.opcode = VQP_WR_RDMA_READ;
	rd->send.kbuf = &rd->bucket;
	rd->send.done = read_done;
	rd->send.msg.op = VQP_OP_READ;
	rd->send.msg.bytes = VQP_BUCKET_BYTES;
	rd->send.msg.remote_addr = addr;
	rd->send.msg.rkey = table->key;
	list_add(&rd->send.msg.link, &sends);
	kref_get(&rd->ref);
	ret = vqp_send_queue(to, &sends, 1);
	if (ret < 0) {
		kfree(rd);
		return ret;
	}
	ret = vqp_meta_wait(&rd->done, vqp);
	if (!ret && rd->status)
		ret = rd->status == VQP_WC_RETRY_EXC_ERR ? -ETIMEDOUT : -EIO;
	if (!ret)
		*bucket = rd->bucket;
	kref_put(&rd->ref, read_release);
	return ret;
}

/* Copy a bucket of a table that is in this node's memory. */
static int read_local(const struct vqp_meta_table *table, u64 addr, struct vqp_bucket *bucket)
{
	struct vqp_sge sge = { .addr = addr, .length = VQP_BUCKET_BYTES, .lkey = table->key };
	struct vqp_ns *host = vqp_ns_host();
	struct vqp_cursor c;
	int ret;

	vqp_cursor_init(&c, host, NULL, VQP_ACCESS_REMOTE_READ, &sge, 1);
	ret = vqp_cursor_gather(&c, bucket, VQP_BUCKET_BYTES);
	vqp_cursor_end(&c);
	vqp_ns_put(host);
	return ret;
}

bool vqp_meta_is_local(const struct vqp_dct *dct)
{
	struct vqp_parent *parent;
	bool local;

	rcu_read_lock();
	parent = vqp_parent_rcu();
	local = parent && !memcmp(parent->dct.node_gid, dct->node_gid, VQP_GID_BYTES);
	rcu_read_unlock();
	return local;
}

/* It tells whether the parent has been made anew; 0: there is none. */
static u32 meta_parent_life(void)
{
	struct vqp_parent *parent;
	u32 life;

	rcu_read_lock();
	parent = vqp_parent_rcu();
	life = parent ? parent->life : 0;
	rcu_read_unlock();
	return life;
}

static int server_read(struct meta_server *server, u32 index, const struct vqp *vqp,
		       struct vqp_bucket *bucket)
{
	u64 addr = server->table.addr + (u64)index * VQP_BUCKET_BYTES;
	const u32 life = meta_parent_life();
	struct vqp *to;
	int ret;

	if (vqp_meta_is_local(&server->table.dct))
		return read_local(&server->table, addr, bucket);
	to = server_vqp(server, vqp);
	if (IS_ERR(to))
		return PTR_ERR(to);
	vqp_count_event(VQP_EV_LOOKUP_READS);
	ret = read_remote(to, &server->table, addr, vqp, bucket);
	vqp_put(to);
	/* The READ failed with this node's parent. */
	return ret == -ETIMEDOUT && life != meta_parent_life() ? -ENETDOWN : ret;
}

/* READ a bucket, and look for the address there. Returns what vqp_bucket_find() does, or -errno. */
static int server_find(struct meta_server *server, u32 index, u32 tenant, const u8 *gid,
		       const struct vqp *vqp, struct vqp_bucket *bucket, struct vqp_dct *dct)
{
	int torn = 0, ret;

	do {
		ret = server_read(server, index, vqp, bucket);
		if (!ret)
			ret = vqp_bucket_find(bucket, tenant, gid, dct);
	} while (ret == -EAGAIN && ++torn < META_TORN_RETRIES);
	return ret;
}

/* Returns 0 and *dct; -ENOENT if the server does not know the address; else it did not answer. */
static int server_lookup(struct meta_server *server, u32 tenant, const u8 *gid,
			 const struct vqp *vqp, struct vqp_dct *dct)
{
	struct vqp_bucket *bucket = kmalloc(sizeof(*bucket), GFP_KERNEL);
	u32 index[2];
	int ret;

	if (!bucket)
		return -ENOMEM;
	vqp_bucket_index(tenant, gid, server->table.buckets, index);
	ret = server_find(server, index[0], tenant, gid, vqp, bucket, dct);
	if (!ret && vqp_bucket_displaces(bucket))
		ret = server_find(server, index[1], tenant, gid, vqp, bucket, dct);
	kfree(bucket);
	return ret < 0 ? ret : ret ? 0 : -ENOENT;
}

/*
 * Is the server to be asked? One that did not answer is asked once in SERVER_RETRY_JIFFIES, and by
 * one lookup at a time unless its answer takes longer; to all others it would only cost time.
 */
static bool server_is_due(struct meta_server *server)
{
	const unsigned long at = READ_ONCE(server->retry_at);

	if (!READ_ONCE(server->silent))
		return true;
	return time_after_eq(jiffies, at) &&
	       cmpxchg(&server->retry_at, at, jiffies + SERVER_RETRY_JIFFIES) == at;
}

/* Note whether the server answers. Errors of this node or of the table do not tell. */
static void server_note(struct meta_server *server, int ret)
{
	const bool silent = ret == -ETIMEDOUT || ret == -EHOSTUNREACH;

	if (silent)
		WRITE_ONCE(server->retry_at, jiffies + SERVER_RETRY_JIFFIES);
	else if (READ_ONCE(server->silent))
		WRITE_ONCE(server->retry_at, jiffies);
	if (silent || !ret || ret == -ENOENT)
		WRITE_ONCE(server->silent, silent);
}

int vqp_meta_ask(u32 tenant, const u8 *gid, const struct vqp *vqp, struct vqp_dct *dct)
{
	const u32 first = READ_ONCE(meta_first);
	struct meta_server *server;
	bool unknown = false;
	int ret, result = -EHOSTUNREACH;
	u32 i, n;

	for (i = 0; i < VQP_META_MAX; i++) {
		n = (first + i) % VQP_META_MAX;
		server = server_get(n);
		if (!server)
			continue;
		ret = -ETIMEDOUT;
		if (server_is_due(server)) {
			ret = server_lookup(server, tenant, gid, vqp, dct);
			server_note(server, ret);
		}
		server_put(server);
		if (!ret && n != first)
			WRITE_ONCE(meta_first, n);
		if (!ret || ret == -EINTR || ret == -ENOMEM)
			return ret;
		unknown |= ret == -ENOENT;
		result = -ETIMEDOUT;
	}
	return unknown ? -EHOSTUNREACH : result;
}

static struct meta_server *server_create(const struct vqp_meta_table *table)
{
	struct meta_server *server = kzalloc(sizeof(*server), GFP_KERNEL);

	if (!server)
		return NULL;
	kref_init(&server->ref);
	sema_init(&server->turn, 1);
	server->table = *table;
	server->unreached_until = jiffies;
	vqp_count_made(VQP_OBJ_META);
	return server;
}

/* Connect ahead of the first lookup (KRCORE 4.2), so that it finds the node's address resolved. */
static void server_warm(struct meta_server *server)
{
	struct vqp *vqp;

	if (vqp_meta_is_local(&server->table.dct))
		return;
	vqp = server_vqp(server, NULL);
	if (!IS_ERR(vqp))
		vqp_put(vqp);
}

int vqp_meta_set(const struct vqp_meta_table *tables, u32 count)
{
	struct meta_server *servers[VQP_META_MAX] = {};
	int ret = 0;
	u32 i;

	mutex_lock(&meta_set_mutex);
	for (i = 0; i < count; i++) {
		servers[i] = server_create(&tables[i]);
		if (!servers[i]) {
			ret = -ENOMEM;
			goto put;
		}
		server_warm(servers[i]);
	}
	mutex_lock(&meta_mutex);
	for (i = 0; i < VQP_META_MAX; i++)
		swap(servers[i], meta_servers[i]);
	mutex_unlock(&meta_mutex);
put:
	/* After the swap these are the old servers, after a failure the new ones. */
	for (i = 0; i < VQP_META_MAX && servers[i]; i++)
		server_put(servers[i]);
	mutex_unlock(&meta_set_mutex);
	return ret;
}

int vqp_meta_walk(int skip, int (*fn)(const struct vqp_meta_table *table, void *arg), void *arg)
{
	int i;

	mutex_lock(&meta_mutex);
	for (i = 0; i < VQP_META_MAX && meta_servers[i]; i++)
		if (i >= skip && fn(&meta_servers[i]->table, arg))
			break;
	mutex_unlock(&meta_mutex);
	return i;
}
