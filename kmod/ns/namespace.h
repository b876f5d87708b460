/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ns/ is what operators grant: the namespaces of tenants with their limits, rates and priorities,
 * and the owners in them. It knows no VQP.
 *
 * A VQP namespace belongs to an address of a network namespace. An administrator makes it, and it
 * ends with the network namespace at the latest. If an interface had the address, it ends soon
 * after that has lost it, for another container may get the address. All VQP namespaces of a
 * network namespace are of one tenant. The host's own namespace, of tenant 0 and with the parent's
 * address, belongs to the initial network namespace and always exists.
 */
#ifndef VQP_NS_NAMESPACE_H
#define VQP_NS_NAMESPACE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/semaphore.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/vqp.h>
#include "base/limit.h"
#include "ns/address.h"
#include "ns/owner.h"
#include "ns/tally.h"
#include "ns/throttle.h"

struct net;
struct vqp_hub;
struct vqp_movers;
struct vqp_net;
struct vqp_sockets;

#define VQP_LOOKUPS_MAX	4		/* the most lookups of a namespace that are under way */
#define VQP_STREAMS_MAX	65536		/* the most connections of sockets by vqp */
#define VQP_LISTENERS_MAX	1024	/* the most listeners of a network namespace by vqp */

struct vqp_ns {
	struct kref ref;
	struct hlist_node node;		/* in the table by tenant and GID, read under RCU */
	u32 tenant;			/* constant */
	u8 gid[VQP_GID_BYTES];		/* constant, but the host's GID is the parent's */
	u32 netns_ino;			/* constant */
	struct vqp_net *vnet;		/* of the network namespace; used until it is dead */
	struct vqp_address address;	/* whether it is there, under ns_mutex; not the host's */
	struct list_head net_link;	/* in vnet's list, under ns_mutex; dead, in its deleter's */
	struct list_head untold_link;	/* in ns_untold, or empty; under ns_mutex */
	struct work_struct end;		/* queued when it dies, with vnet's reference */
	char name[VQP_NAME_MAX];	/* constant */
	bool dead;			/* written once, under ns_mutex; read without */
	struct xarray vqps;		/* VQP number -> struct vqp; read under RCU */
	struct xarray ports;		/* bound port -> struct vqp; read under RCU */
	struct xarray keys;		/* key index -> struct vqp_mr (ValidMR); read under RCU */
	struct xarray cqs;		/* CQ number -> struct vqp_cq; read under xa_lock */
	/* The state of vqp_id_take() for the xarrays, under the lock of each. */
	u32 next_qp_num, next_key_index, next_cq;
	struct mutex lock;		/* guards owners */
	struct list_head owners;	/* struct vqp_owner.ns_link */
	atomic_t nowners;		/* the owners whose release has not ended */
	struct vqp_owner kernel;	/* the kernel itself, which is not among the owners */
	/* The windows of its regions, and those of them that end, under rc/window.c's lock. */
	u32 windows, windows_ending;
	struct vqp_rate asks;		/* windows that its VQPs ask for; under rc/rkey.c's lock */
	struct semaphore lookups;	/* the lookups that it may still begin */
	struct vqp_movers *movers;	/* They find targets of its VQPs that have moved. */
	atomic_t zcopies;		/* the zero-copy sends under way */
	spinlock_t pulls_lock;		/* guards the fields down to npast_pulls */
	struct list_head pulls;		/* struct vqp_pull: what other kernels READ */
	struct list_head past_pulls;	/* oldest first; mem/pull.c frees them */
	u32 npast_pulls;
	spinlock_t streams_lock;	/* guards streams */
	struct list_head streams;	/* struct vqp_stream.ns_link */
	atomic_t stream_pages;		/* of sockets' bytes, which are charged to it */
	struct vqp_hub *hub;		/* of sock/hub.c, under its mutex; or NULL */
	struct list_head trunks;	/* vqp_trunk.ns_link, under sock/trunk_table.c's lock */
	u32 ntrunks;			/* the length of trunks */
	atomic_t trunks_opening;	/* those of them that are being opened */
	struct list_head halves;	/* vqp_far.half_link, under sock/far_table.c's lock */
	u32 nhalves;			/* the length of halves */
	struct vqp_tally __percpu *tally;	/* of its stream sockets; constant */
	/* The terms, set under ns_mutex. The host's own namespace is never limited. */
	struct vqp_limit limits[VQP_LIMIT_MAX];
	struct vqp_throttle throttle;	/* the rate */
	u8 priority;			/* enum vqp_priority; read without ns_mutex */
	struct vqp_sockets __rcu *sockets;	/* what may go by vqp, referenced; NULL: off */
	struct rcu_head rcu;
};

/* The terms that an operator grants a namespace. */
struct vqp_ns_terms {
	u64 max[VQP_LIMIT_MAX];		/* each as in struct vqp_limit, or VQP_LIMIT_KEEP */
	u64 max_rate;			/* bytes per second, VQP_UNLIMITED, or VQP_LIMIT_KEEP */
	u8 priority;			/* enum vqp_priority; 0 keeps the present one */
	bool keep_sockets;		/* They stay as they are, */
	struct vqp_sockets *sockets;	/* or become so; the caller's reference, or NULL for off */
};

/* Code above ns/ that keeps things in namespaces, and releases them when one is killed. */
struct vqp_ns_user {
	struct list_head link;		/* in ns/namespace.c's list */
	/*
	 * The namespace is dead, and nothing finds it any more. Fail what it has, and drop what
	 * refers to it. Process context; the caller holds no lock. It may wait for peers, since
	 * namespaces that die together are killed at the same time.
	 */
	void (*kill)(struct vqp_ns *ns);
	/*
	 * An operator has turned sockets on or off, or has said so again: look at what holds now,
	 * by vqp_ns_has_sockets() and vqp_ns_any_sockets(). One that dies has them off, and is told
	 * by `kill` alone; it may do so meanwhile. Or NULL. Process context; the caller holds no
	 * lock but one for which other operators wait who set sockets.
	 */
	void (*sockets)(struct vqp_ns *ns);
};

/* Register a user for good, before /dev/vqp exists. Users are called in order of registration. */
void __init vqp_ns_use(struct vqp_ns_user *user);

int __init vqp_ns_init(void);
void vqp_ns_exit(void);

/*
 * The namespace of a network namespace with address `gid`, or the oldest one if `gid` is NULL,
 * referenced. ERR_PTR(-ENONET) if the network namespace has none, -EADDRNOTAVAIL if it has none
 * with that address, or -EPERM for the host's own without CAP_NET_ADMIN. Process context.
 */
struct vqp_ns *vqp_ns_of_net(struct net *net, const u8 *gid);

/* The namespace with that address, referenced; or NULL. Any context. */
struct vqp_ns *vqp_ns_find(u32 tenant, const u8 *gid);

/*
 * The namespace with that address of the tenant whose `net` is, on this node, referenced; or NULL.
 * Any context.
 */
struct vqp_ns *vqp_ns_of_tenant(const struct net *net, const u8 *gid);

/* What the namespaces of a network namespace have as vqp_ns.vnet, to compare. Any context. */
const struct vqp_net *vqp_ns_net(const struct net *net);

/* May processes of a network namespace make stream sockets of ours? Any context. */
bool vqp_ns_sockets_on(const struct net *net);

/* The tenant of a network namespace, or the one that it had last; or 0. Any context. */
u32 vqp_ns_tenant_of_net(const struct net *net);

/*
 * May stream sockets of the namespace have a connection by vqp with that peer, where a listener at
 * one of the ends has that port? Asked of the namespaces of both ends. Any context.
 */
bool vqp_ns_lets_sockets(const struct vqp_ns *ns, const u8 *peer, u16 port);

/* Count that for the namespace that vqp_ns_of_tenant() would return, if there is one. */
void vqp_ns_tally(const struct net *net, const u8 *gid, enum vqp_tallied what);

/* Has any namespace of the node sockets on? Any context. */
bool vqp_ns_any_sockets(void);

/* The limit on what listens by vqp in a network namespace, which the caller keeps from ending. */
struct vqp_limit *vqp_ns_listeners(const struct net *net);

/* The host's own namespace, referenced. */
struct vqp_ns *vqp_ns_host(void);

static inline bool vqp_ns_has_sockets(const struct vqp_ns *ns)
{
	return rcu_access_pointer(ns->sockets);
}

static inline bool vqp_ns_alive(const struct vqp_ns *ns)
{
	return !READ_ONCE(ns->dead);
}

void vqp_ns_get(struct vqp_ns *ns);
void vqp_ns_put(struct vqp_ns *ns);	/* any context */

/*
 * Add, delete and change namespaces; the functions with `net` in their name delete and change all
 * of a network namespace. To add one that exists in the same network namespace sets its terms, or,
 * if `exclusive`, fails. Each returns 0 or -errno: -EEXIST if the network namespace has namespaces
 * of another tenant, or this one already; -EADDRINUSE if another network namespace has the address;
 * -ENOENT if there is none to delete or change. Process context.
 *
 * vqp_ns_del() deletes one only if its network namespace has the inode `netns_ino`, unless that is
 * 0, and it is called `name`, unless that is NULL. The functions that delete, if they are to
 * wait, return when the namespaces have ended, unless these were ending already: no peer reaches
 * the memory of their functions any more. An add does not wait for the end of one that has lost the
 * address.
 */
int vqp_ns_add(struct net *net, u32 tenant, const u8 *gid, const char *name,
	       const struct vqp_ns_terms *terms, bool exclusive);
int vqp_ns_del_net(struct net *net, bool wait);
int vqp_ns_del(u32 tenant, const u8 *gid, u32 netns_ino, const char *name, bool wait);
int vqp_ns_set_net(struct net *net, const struct vqp_ns_terms *terms);
int vqp_ns_set(u32 tenant, const u8 *gid, const struct vqp_ns_terms *terms);

/* Give the host's namespace the address of a parent, or take it away (NULL). Process context. */
void vqp_ns_set_host_gid(const u8 *gid);

/*
 * Call fn for each namespace, but for the first `skip`, until fn returns non-zero. Returns the
 * number of namespaces that have been skipped or done, to be the next part's `skip`. Parts of a
 * walk are consistent while *generation, which is never 0, stays the same. Process context.
 */
int vqp_ns_walk(int skip, u32 *generation, int (*fn)(struct vqp_ns *ns, void *arg), void *arg);

#endif
