// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/trace.h"
#include "device/parent.h"
#include "engine/bucket.h"
#include "mem/cursor.h"
#include "meta/client.h"
#include "meta/lookup.h"
#include "ns/namespace.h"
#include "queue/send.h"
#include "queue/vqp.h"

#define META_TORN_RETRIES	16	/* a bucket that is being written is read again */

static_assert(sizeof(struct vqp_bucket_slot) == 88);
static_assert(sizeof(struct vqp_bucket) == VQP_BUCKET_BYTES);

/* ---- Meta servers ---- */

struct meta_server {
	struct kref ref;
	struct vqp_meta_table table;	/* constant */
	struct mutex lock;		/* guards vqp */
	struct vqp *vqp;		/* towards the server's node; NULL until the first lookup */
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

/* The VQP towards the server's node, referenced; or ERR_PTR. Replaces a VQP that has failed. */
static struct vqp *server_vqp(struct meta_server *server)
{
	struct vqp_ns *host;
	struct vqp *vqp;

	mutex_lock(&server->lock);
	vqp = server->vqp;
	if (vqp && READ_ONCE(vqp->state) == VQP_QP_ERROR) {
		vqp_teardown(vqp);
		vqp = NULL;
	}
	if (!vqp) {
		host = vqp_ns_host();
		vqp = vqp_client_connect(host, server->table.dct.node_gid, &server->table.dct);
		vqp_ns_put(host);
		server->vqp = IS_ERR(vqp) ? NULL : vqp;
	}
	if (!IS_ERR(vqp))
		kref_get(&vqp->ref);
	mutex_unlock(&server->lock);
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
 * READ a bucket over the dc carrier. The function returns 0, -EINTR when the caller is killed, or
 * another -errno, at the latest when giveup_us has passed without a sign of the peer.
 */
static int read_remote(struct vqp *vqp, const struct vqp_meta_table *table, u64 addr,
		       struct vqp_bucket *bucket)
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
	ret = vqp_send_queue(vqp, &sends, 1);
	if (ret < 0) {
		kfree(rd);
		return ret;
	}
	if (wait_for_completion_killable(&rd->done))
		ret = -EINTR;
	else
		ret = rd->status ? -EIO : 0;
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

static bool meta_is_local(const struct vqp_dct *dct)
{
	struct vqp_parent *parent;
	bool local;

	rcu_read_lock();
	parent = vqp_parent_rcu();
	local = parent && !memcmp(parent->dct.node_gid, dct->node_gid, VQP_GID_BYTES);
	rcu_read_unlock();
	return local;
}

static int server_read(struct meta_server *server, u32 index, struct vqp_bucket *bucket)
{
	u64 addr = server->table.addr + (u64)index * VQP_BUCKET_BYTES;
	struct vqp *vqp;
	int ret;

	if (meta_is_local(&server->table.dct))
		return read_local(&server->table, addr, bucket);
	vqp = server_vqp(server);
	if (IS_ERR(vqp))
		return PTR_ERR(vqp);
	vqp_count_event(VQP_EV_LOOKUP_READS);
	ret = read_remote(vqp, &server->table, addr, bucket);
	vqp_put(vqp);
	return ret;
}

/* Returns 0 and *dct; -ENOENT if the server does not know the address; else it did not answer. */
static int server_lookup(struct meta_server *server, u32 tenant, const u8 *gid,
			 struct vqp_dct *dct)
{
	struct vqp_bucket *bucket = kmalloc(sizeof(*bucket), GFP_KERNEL);
	int torn = 0, ret = 0;
	u32 index[2], i;

	if (!bucket)
		return -ENOMEM;
	vqp_bucket_index(tenant, gid, server->table.buckets, index);
	for (i = 0; i < 2 && !ret; ) {
		ret = server_read(server, index[i], bucket);
		if (!ret)
			ret = vqp_bucket_find(bucket, tenant, gid, dct);
		if (ret == -EAGAIN && ++torn < META_TORN_RETRIES) {
			ret = 0;
			continue;
		}
		if (index[0] == index[1])
			break;
		i++;
	}
	kfree(bucket);
	return ret < 0 ? ret : ret ? 0 : -ENOENT;
}

/*
 * Ask one server after the other until one knows the address. Returns 0; -EHOSTUNREACH if none
 * knows; -ETIMEDOUT if the last server did not answer; -EINTR or -ENOMEM.
 */
static int meta_lookup(u32 tenant, const u8 *gid, struct vqp_dct *dct)
{
	struct meta_server *server;
	bool answered = true;
	int ret;
	u32 i;

	vqp_count_event(VQP_EV_LOOKUPS);
	for (i = 0; i < VQP_META_MAX; i++) {
		server = server_get(i);
		if (!server)
			break;
		ret = server_lookup(server, tenant, gid, dct);
		server_put(server);
		if (!ret || ret == -EINTR || ret == -ENOMEM)
			return ret;
		answered = ret == -ENOENT;
	}
	return answered ? -EHOSTUNREACH : -ETIMEDOUT;
}

int vqp_meta_route(u32 tenant, const u8 *gid, struct vqp_route *route)
{
	ktime_t began;
	int ret;

	route->local = vqp_ns_find(tenant, gid);
	if (route->local || vqp_dct_cache_get(tenant, gid, &route->dct))
		return 0;
	if (!vqp_parent_is_up())
		return -ENETDOWN;
	began = ktime_get();
	ret = meta_lookup(tenant, gid, &route->dct);
	trace_vqp_lookup(tenant, gid, ret, ktime_us_delta(ktime_get(), began));
	if (ret)
		return ret;
	/* The table is stale: vqp_ns_find() has not found the address on this node. */
	if (meta_is_local(&route->dct))
		return -EHOSTUNREACH;
	vqp_dct_cache_put(tenant, gid, &route->dct);
	return 0;
}

void vqp_route_end(struct vqp_route *route)
{
	if (route->local)
		vqp_ns_put(route->local);
}

static struct meta_server *server_create(const struct vqp_meta_table *table)
{
	struct meta_server *server = kzalloc(sizeof(*server), GFP_KERNEL);

	if (!server)
		return NULL;
	kref_init(&server->ref);
	mutex_init(&server->lock);
	server->table = *table;
	vqp_count_made(VQP_OBJ_META);
	return server;
}

/* Connect ahead of the first lookup (KRCORE 4.2), so that it finds the node's address resolved. */
static void server_warm(struct meta_server *server)
{
	struct vqp *vqp;

	if (meta_is_local(&server->table.dct))
		return;
	vqp = server_vqp(server);
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

void vqp_meta_exit(void)
{
	vqp_meta_set(NULL, 0);
	vqp_dct_cache_clear();
}
