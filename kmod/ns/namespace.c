// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "base/counters.h"
#include "base/dct_cache.h"
#include "base/hash.h"
#include "ns/movers.h"
#include "ns/namespace.h"
#include "ns/sockets.h"

struct vqp_net {
	struct net *net;		/* constant; is there while it has namespaces */
	struct list_head namespaces;	/* oldest first, one reference each; under ns_mutex */
	u32 tenant;			/* of all that it has had since it had none; or 0 */
	u32 nsockets;			/* namespaces with sockets on; read without ns_mutex */
	struct vqp_limit listeners;	/* those that sock/listener.c has */
};

static unsigned int vqp_net_id __read_mostly;

/* Guards changes of ns_table, ns_generation, each struct vqp_net, and vqp_ns.dead. */
static DEFINE_MUTEX(ns_mutex);
static DEFINE_HASHTABLE(ns_table, 10);	/* by tenant and GID, read under RCU */
static struct vqp_ns *ns_host;		/* constant once the module is initialized */
static u32 ns_generation = 1;		/* raised when a namespace is added, moved or removed */

static u32 ns_nsockets;	/* namespaces with sockets on; changed under ns_mutex */

/*
 * Namespaces whose sockets an operator has set and whose users have not been told, referenced, by
 * vqp_ns.untold_link; under ns_mutex. Who tells has ns_tell_mutex, which is outside ns_mutex.
 */
static LIST_HEAD(ns_untold);
static DEFINE_MUTEX(ns_tell_mutex);

static struct workqueue_struct *ns_wq;	/* vqp_ns.end; constant once the module is initialized */

static LIST_HEAD(ns_users);	/* constant once the module is initialized */

void __init vqp_ns_use(struct vqp_ns_user *user)
{
	list_add_tail(&user->link, &ns_users);
}

static u32 ns_hash(u32 tenant, const u8 *gid)
{
	return vqp_hash_gid(gid, tenant);
}

void vqp_ns_get(struct vqp_ns *ns)
{
	kref_get(&ns->ref);
}

static void ns_free(struct rcu_head *rcu)
{
	struct vqp_ns *ns = container_of(rcu, struct vqp_ns, rcu);

	/* All that was in the tables and at the throttle had references, and so is gone. */
	vqp_throttle_end(&ns->throttle);
	vqp_movers_destroy(ns->movers);
	free_percpu(ns->tally);
	kfree(ns);
	vqp_count_freed(VQP_OBJ_NS);
}

static void ns_release(struct kref *ref)
{
	struct vqp_ns *ns = container_of(ref, struct vqp_ns, ref);

	call_rcu(&ns->rcu, ns_free);
}

void vqp_ns_put(struct vqp_ns *ns)
{
	kref_put(&ns->ref, ns_release);
}

void vqp_owner_init(struct vqp_owner *owner)
{
	owner->ns = NULL;
	INIT_LIST_HEAD(&owner->ns_link);
	mutex_init(&owner->lock);
	INIT_LIST_HEAD(&owner->vqps);
	INIT_LIST_HEAD(&owner->mrs);
	owner->dead = false;
}
EXPORT_SYMBOL_GPL(vqp_owner_init);

/*
 * The end of a namespace that ns_take() has removed, whose reference of vqp_net is the work's. The
 * users' kill callbacks walk all that the namespace has, and wait for peers that do not answer: so
 * each namespace has a work of its own, which holds no lock that other namespaces need.
 */
static void ns_end_work(struct work_struct *work)
{
	struct vqp_ns *ns = container_of(work, struct vqp_ns, end);
	struct vqp_ns_user *user;

	list_for_each_entry(user, &ns_users, link)
		user->kill(ns);
	vqp_ns_put(ns);
}

static struct vqp_ns *ns_alloc(u32 tenant, const u8 *gid, const char *name, u32 ino)
{
	struct vqp_ns *ns = kzalloc(sizeof(*ns), GFP_KERNEL_ACCOUNT);
	int i;

	if (!ns)
		return NULL;
	ns->tally = alloc_percpu_gfp(struct vqp_tally, GFP_KERNEL_ACCOUNT);
	if (!ns->tally)
		goto err_ns;
	ns->movers = vqp_movers_create();
	if (!ns->movers)
		goto err_tally;
	kref_init(&ns->ref);
	ns->tenant = tenant;
	memcpy(ns->gid, gid, VQP_GID_BYTES);
	strscpy(ns->name, name, sizeof(ns->name));
	ns->netns_ino = ino;
	/* What the arrays need is charged to the caller whose object is stored in them. */
	xa_init_flags(&ns->vqps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&ns->ports, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&ns->keys, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&ns->cqs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	for (i = 0; i < VQP_LIMIT_MAX; i++)
		vqp_limit_init(&ns->limits[i]);
	vqp_throttle_init(&ns->throttle);
	sema_init(&ns->lookups, VQP_LOOKUPS_MAX);
	spin_lock_init(&ns->pulls_lock);
	INIT_LIST_HEAD(&ns->pulls);
	INIT_LIST_HEAD(&ns->past_pulls);
	vqp_limit_set(&ns->limits[VQP_LIMIT_STREAMS], VQP_STREAMS_MAX);
	spin_lock_init(&ns->streams_lock);
	INIT_LIST_HEAD(&ns->streams);
	INIT_LIST_HEAD(&ns->trunks);
	INIT_LIST_HEAD(&ns->halves);
	ns->priority = VQP_PRIORITY_NORMAL;
	mutex_init(&ns->lock);
	INIT_LIST_HEAD(&ns->owners);
	vqp_owner_init(&ns->kernel);
	ns->kernel.ns = ns;
	INIT_LIST_HEAD(&ns->net_link);
	INIT_LIST_HEAD(&ns->untold_link);
	INIT_WORK(&ns->end, ns_end_work);
	INIT_HLIST_NODE(&ns->node);
	vqp_count_made(VQP_OBJ_NS);
	return ns;

err_tally:
	free_percpu(ns->tally);
err_ns:
	kfree(ns);
	return NULL;
}

/* The namespace with that address, without a reference. Under rcu_read_lock() or ns_mutex. */
static struct vqp_ns *ns_lookup(u32 tenant, const u8 *gid)
{
	struct vqp_ns *ns;

	hash_for_each_possible_rcu(ns_table, ns, node, ns_hash(tenant, gid),
				   lockdep_is_held(&ns_mutex)) {
		if (ns->tenant == tenant && !memcmp(ns->gid, gid, VQP_GID_BYTES))
			return ns;
	}
	return NULL;
}

struct vqp_ns *vqp_ns_find(u32 tenant, const u8 *gid)
{
	struct vqp_ns *ns;

	rcu_read_lock();
	ns = ns_lookup(tenant, gid);
	if (ns && !kref_get_unless_zero(&ns->ref))
		ns = NULL;
	rcu_read_unlock();
	return ns;
}

struct vqp_ns *vqp_ns_of_tenant(const struct net *net, const u8 *gid)
{
	const struct vqp_net *vnet = net_generic(net, vqp_net_id);
	const u32 tenant = READ_ONCE(vnet->tenant);

	return tenant ? vqp_ns_find(tenant, gid) : NULL;
}

void vqp_ns_tally(const struct net *net, const u8 *gid, enum vqp_tallied what)
{
	const u32 tenant = vqp_ns_tenant_of_net(net);
	const struct vqp_ns *ns;

	if (!tenant)
		return;
	rcu_read_lock();
	ns = ns_lookup(tenant, gid);
	if (ns)
		vqp_tally_add(ns->tally, what, 1);
	rcu_read_unlock();
}

const struct vqp_net *vqp_ns_net(const struct net *net)
{
	return net_generic(net, vqp_net_id);
}

bool vqp_ns_sockets_on(const struct net *net)
{
	const struct vqp_net *vnet = net_generic(net, vqp_net_id);

	return READ_ONCE(vnet->nsockets);
}

bool vqp_ns_lets_sockets(const struct vqp_ns *ns, const u8 *peer, u16 port)
{
	const struct vqp_sockets *sockets;
	bool lets;

	rcu_read_lock();
	sockets = rcu_dereference(ns->sockets);
	lets = sockets && vqp_sockets_let(sockets, peer, port);
	rcu_read_unlock();
	return lets;
}

u32 vqp_ns_tenant_of_net(const struct net *net)
{
	const struct vqp_net *vnet = net_generic(net, vqp_net_id);

	return READ_ONCE(vnet->tenant);
}

struct vqp_limit *vqp_ns_listeners(const struct net *net)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);

	return &vnet->listeners;
}

struct vqp_ns *vqp_ns_host(void)
{
	vqp_ns_get(ns_host);
	return ns_host;
}

static struct vqp_ns *ns_of_vnet(struct vqp_net *vnet, const u8 *gid)
{
	struct vqp_ns *ns;

	lockdep_assert_held(&ns_mutex);
	if (list_empty(&vnet->namespaces))
		return ERR_PTR(-ENONET);
	list_for_each_entry(ns, &vnet->namespaces, net_link) {
		if (!gid || !memcmp(ns->gid, gid, VQP_GID_BYTES))
			return ns;
	}
	return ERR_PTR(-EADDRNOTAVAIL);
}

struct vqp_ns *vqp_ns_of_net(struct net *net, const u8 *gid)
{
	struct vqp_ns *ns;

	if (net_eq(net, &init_net) && !ns_capable(&init_user_ns, CAP_NET_ADMIN))
		return ERR_PTR(-EPERM);
	mutex_lock(&ns_mutex);
	ns = ns_of_vnet(net_generic(net, vqp_net_id), gid);
	if (!IS_ERR(ns))
		vqp_ns_get(ns);
	mutex_unlock(&ns_mutex);
	return ns;
}

bool vqp_ns_any_sockets(void)
{
	return READ_ONCE(ns_nsockets);
}

static void ns_set_sockets(struct vqp_ns *ns, struct vqp_sockets *sockets)
{
	struct vqp_net *vnet = ns->vnet;
	struct vqp_sockets *old;

	lockdep_assert_held(&ns_mutex);
	if (sockets)
		vqp_sockets_get(sockets);
	old = rcu_replace_pointer(ns->sockets, sockets, lockdep_is_held(&ns_mutex));
	WRITE_ONCE(vnet->nsockets, vnet->nsockets + !!sockets - !!old);
	WRITE_ONCE(ns_nsockets, ns_nsockets + !!sockets - !!old);
	vqp_sockets_put(old);
}

/* Have ns_tell() tell the users of it. */
static void ns_list_untold(struct vqp_ns *ns)
{
	lockdep_assert_held(&ns_mutex);
	if (!list_empty(&ns->untold_link))
		return;
	vqp_ns_get(ns);
	list_add_tail(&ns->untold_link, &ns_untold);
}

/* One of ns_untold, with its reference; or NULL. */
static struct vqp_ns *ns_take_untold(void)
{
	struct vqp_ns *ns;

	mutex_lock(&ns_mutex);
	ns = list_first_entry_or_null(&ns_untold, struct vqp_ns, untold_link);
	if (ns)
		list_del_init(&ns->untold_link);
	mutex_unlock(&ns_mutex);
	return ns;
}

/*
 * Tell the users what terms have changed. They may take their time: ns_mutex, which each process
 * that opens the device needs, is not held. When this returns, all that the caller has set was
 * told, be it by another task.
 */
static void ns_tell(const struct vqp_ns_terms *terms)
{
	struct vqp_ns_user *user;
	struct vqp_ns *ns;

	if (terms->keep_sockets)
		return;
	mutex_lock(&ns_tell_mutex);
	while ((ns = ns_take_untold())) {
		list_for_each_entry(user, &ns_users, link)
			if (user->sockets)
				user->sockets(ns);
		vqp_ns_put(ns);
	}
	mutex_unlock(&ns_tell_mutex);
}

static void ns_set_terms(struct vqp_ns *ns, const struct vqp_ns_terms *terms)
{
	int i;

	lockdep_assert_held(&ns_mutex);
	for (i = 0; i < VQP_LIMIT_MAX; i++)
		vqp_limit_set(&ns->limits[i], terms->max[i]);
	if (terms->max_rate != VQP_LIMIT_KEEP)
		vqp_throttle_set(&ns->throttle, terms->max_rate);
	if (terms->priority)
		WRITE_ONCE(ns->priority, terms->priority);
	if (terms->keep_sockets)
		return;
	ns_set_sockets(ns, terms->sockets);
	ns_list_untold(ns);
}

/*
 * Remove a namespace, so that nothing finds it any more, and have it end. Its reference of vqp_net
 * goes to its end: who uses it after ns_mutex has been dropped needs another one.
 */
static void ns_take(struct vqp_ns *ns)
{
	lockdep_assert_held(&ns_mutex);
	list_del_init(&ns->net_link);
	ns_generation++;
	hash_del_rcu(&ns->node);
	WRITE_ONCE(ns->dead, true);
	ns_set_sockets(ns, NULL);
	queue_work(ns_wq, &ns->end);
}

/* Drop a reference of a namespace that was taken; before that, wait until it has ended? */
static void ns_let_go(struct vqp_ns *ns, bool wait)
{
	if (wait)
		flush_work(&ns->end);
	vqp_ns_put(ns);
}

/* A namespace in the table is in a network namespace that has not ended: ns_net_exit() takes it. */
static bool ns_look(struct vqp_ns *ns)
{
	lockdep_assert_held(&ns_mutex);
	return vqp_address_look(&ns->address, ns->vnet->net, ns->gid);
}

/* An add states the terms, and that the namespace has its address, be that there or not. */
static void ns_state(struct vqp_ns *ns, const struct vqp_ns_terms *terms)
{
	ns_set_terms(ns, terms);
	ns->address = (struct vqp_address){};
	ns_look(ns);
}

/* Has a container's lost the address that it had, however short the time since? */
static bool ns_has_lost_address(struct vqp_ns *ns)
{
	ns_look(ns);
	return ns->address.away;
}

/* Addresses have changed. Waits for no namespace that ends. Returns whether another look is due. */
static bool ns_follow(void)
{
	struct hlist_node *next;
	bool away = false;
	struct vqp_ns *ns;
	int bkt;

	mutex_lock(&ns_mutex);
	hash_for_each_safe(ns_table, bkt, next, ns, node) {
		if (ns == ns_host)
			continue;
		if (ns_look(ns)) {
			pr_info_ratelimited("namespace %s of tenant %u ends: its address %pI6c has left\n",
					    ns->name, ns->tenant, ns->gid);
			ns_take(ns);
		} else {
			away |= ns->address.away;
		}
	}
	mutex_unlock(&ns_mutex);
	return away;
}

int vqp_ns_add(struct net *net, u32 tenant, const u8 *gid, const char *name,
	       const struct vqp_ns_terms *terms, bool exclusive)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);
	struct vqp_ns *ns, *old;
	int ret = 0;

	if (!tenant || net_eq(net, &init_net))
		return -EINVAL;
	mutex_lock(&ns_mutex);
	ns = ns_of_vnet(vnet, NULL);
	if (!IS_ERR(ns) && ns->tenant != tenant) {
		ret = -EEXIST;
		goto unlock;
	}
	old = ns_lookup(tenant, gid);
	if (old && old->vnet == vnet) {
		ret = exclusive ? -EEXIST : 0;
		if (!ret)
			ns_state(old, terms);
		goto unlock;
	}
	if (old && !ns_has_lost_address(old)) {
		ret = -EADDRINUSE;
		goto unlock;
	}
	ns = ns_alloc(tenant, gid, name, net->ns.inum);
	if (!ns) {
		ret = -ENOMEM;
		goto unlock;
	}
	/*
	 * Engines give an address to another container right after they have taken it from one. The
	 * old one is dead from here on: nothing finds it, and its contexts' calls fail. What ends
	 * after that, and waits for its peers, is no concern of the new one.
	 */
	if (old)
		ns_take(old);
	ns->vnet = vnet;
	WRITE_ONCE(vnet->tenant, tenant);
	ns_state(ns, terms);
	list_add_tail(&ns->net_link, &vnet->namespaces);
	ns_generation++;
	hash_add_rcu(ns_table, &ns->node, ns_hash(tenant, gid));
	/* The address was on another node, if the cache knows it. */
	vqp_dct_cache_forget(tenant, gid);
unlock:
	mutex_unlock(&ns_mutex);
	ns_tell(terms);
	return ret;
}

int vqp_ns_del_net(struct net *net, bool wait)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);
	struct vqp_ns *ns, *next;
	LIST_HEAD(taken);

	if (net_eq(net, &init_net))
		return -ENOENT;
	mutex_lock(&ns_mutex);
	list_for_each_entry_safe(ns, next, &vnet->namespaces, net_link) {
		vqp_ns_get(ns);
		ns_take(ns);
		list_add_tail(&ns->net_link, &taken);
	}
	mutex_unlock(&ns_mutex);
	if (list_empty(&taken))
		return -ENOENT;
	list_for_each_entry_safe(ns, next, &taken, net_link)
		ns_let_go(ns, wait);
	return 0;
}

int vqp_ns_del(u32 tenant, const u8 *gid, u32 netns_ino, const char *name, bool wait)
{
	struct vqp_ns *ns;

	mutex_lock(&ns_mutex);
	ns = ns_lookup(tenant, gid);
	if (ns == ns_host || (ns && netns_ino && ns->netns_ino != netns_ino) ||
	    (ns && name && strcmp(ns->name, name)))
		ns = NULL;
	if (ns) {
		vqp_ns_get(ns);
		ns_take(ns);
	}
	mutex_unlock(&ns_mutex);
	if (!ns)
		return -ENOENT;
	ns_let_go(ns, wait);
	return 0;
}

int vqp_ns_set_net(struct net *net, const struct vqp_ns_terms *terms)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);
	struct vqp_ns *ns;
	int ret = -ENOENT;

	if (net_eq(net, &init_net))
		return ret;
	mutex_lock(&ns_mutex);
	list_for_each_entry(ns, &vnet->namespaces, net_link) {
		ns_set_terms(ns, terms);
		ret = 0;
	}
	mutex_unlock(&ns_mutex);
	ns_tell(terms);
	return ret;
}

int vqp_ns_set(u32 tenant, const u8 *gid, const struct vqp_ns_terms *terms)
{
	struct vqp_ns *ns;
	int ret = -ENOENT;

	mutex_lock(&ns_mutex);
	ns = ns_lookup(tenant, gid);
	if (ns && ns != ns_host) {
		ns_set_terms(ns, terms);
		ret = 0;
	}
	mutex_unlock(&ns_mutex);
	ns_tell(terms);
	return ret;
}

void vqp_ns_set_host_gid(const u8 *gid)
{
	mutex_lock(&ns_mutex);
	ns_generation++;
	if (!hlist_unhashed(&ns_host->node)) {
		hash_del_rcu(&ns_host->node);
		/* A reader that is at the node must not follow it into another bucket. */
		synchronize_rcu();
		INIT_HLIST_NODE(&ns_host->node);
	}
	if (gid) {
		memcpy(ns_host->gid, gid, VQP_GID_BYTES);
		hash_add_rcu(ns_table, &ns_host->node, ns_hash(0, gid));
	}
	mutex_unlock(&ns_mutex);
}

int vqp_ns_walk(int skip, u32 *generation, int (*fn)(struct vqp_ns *ns, void *arg), void *arg)
{
	struct vqp_ns *ns;
	int bkt, i = 0;

	mutex_lock(&ns_mutex);
	*generation = ns_generation;
	hash_for_each(ns_table, bkt, ns, node) {
		if (i++ < skip)
			continue;
		if (fn(ns, arg)) {
			i--;
			break;
		}
	}
	mutex_unlock(&ns_mutex);
	return i;
}

static int __net_init ns_net_init(struct net *net)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);

	vnet->net = net;
	INIT_LIST_HEAD(&vnet->namespaces);
	vqp_limit_init(&vnet->listeners);
	vqp_limit_set(&vnet->listeners, VQP_LISTENERS_MAX);
	return 0;
}

/* The kernel ends network namespaces one after another: none of them waits for peers here. */
static void __net_exit ns_net_exit(struct net *net)
{
	struct vqp_net *vnet = net_generic(net, vqp_net_id);
	struct vqp_ns *ns, *next;

	if (net_eq(net, &init_net))
		return;
	mutex_lock(&ns_mutex);
	list_for_each_entry_safe(ns, next, &vnet->namespaces, net_link)
		ns_take(ns);
	mutex_unlock(&ns_mutex);
}

static struct pernet_operations ns_net_ops = {
	.init = ns_net_init,
	.exit = ns_net_exit,
	.id = &vqp_net_id,
	.size = sizeof(struct vqp_net),
};

int __init vqp_ns_init(void)
{
	static const u8 nowhere[VQP_GID_BYTES];
	struct vqp_net *vnet;
	int ret;

	ret = vqp_movers_init();
	if (ret)
		return ret;
	ns_wq = alloc_workqueue("vqp_ns", WQ_UNBOUND, 0);
	if (!ns_wq) {
		ret = -ENOMEM;
		goto err_movers;
	}
	ns_host = ns_alloc(0, nowhere, "host", init_net.ns.inum);
	if (!ns_host) {
		ret = -ENOMEM;
		goto err_wq;
	}
	ret = register_pernet_subsys(&ns_net_ops);
	if (ret)
		goto err_host;
	vnet = net_generic(&init_net, vqp_net_id);
	mutex_lock(&ns_mutex);
	ns_host->vnet = vnet;
	list_add(&ns_host->net_link, &vnet->namespaces);
	mutex_unlock(&ns_mutex);
	ret = vqp_address_init(ns_follow);
	if (ret)
		goto err_pernet;
	return 0;

err_pernet:
	unregister_pernet_subsys(&ns_net_ops);
err_host:
	vqp_ns_put(ns_host);
err_wq:
	destroy_workqueue(ns_wq);
err_movers:
	vqp_movers_exit();
	return ret;
}

void vqp_ns_exit(void)
{
	vqp_address_exit();
	unregister_pernet_subsys(&ns_net_ops);
	/* This waits for the namespaces that have not ended yet. */
	destroy_workqueue(ns_wq);
	vqp_movers_exit();
	vqp_ns_put(ns_host);
}

/* ---- Owners ---- */

int vqp_owner_bind(struct vqp_owner *owner, struct vqp_ns *ns)
{
	int ret = 0;

	mutex_lock(&ns->lock);
	mutex_lock(&owner->lock);
	if (owner->ns) {
		ret = -EISCONN;
	} else if (!vqp_ns_alive(ns)) {
		ret = -ESHUTDOWN;
	} else {
		list_add(&owner->ns_link, &ns->owners);
		atomic_inc(&ns->nowners);
		/* Pairs with vqp_owner_is_bound(). */
		smp_store_release(&owner->ns, ns);
	}
	mutex_unlock(&owner->lock);
	mutex_unlock(&ns->lock);
	return ret;
}

void vqp_owner_unlist(struct vqp_owner *owner)
{
	mutex_lock(&owner->ns->lock);
	list_del(&owner->ns_link);
	mutex_unlock(&owner->ns->lock);
}

void vqp_owner_release(struct vqp_owner *owner)
{
	atomic_dec(&owner->ns->nowners);
	vqp_ns_put(owner->ns);
}
