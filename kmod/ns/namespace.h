/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * ns/ is what operators grant: namespaces of tenants with their limits, rates and priorities, and
 * the owners that live in them. It knows no VQP.
 *
 * VQP namespaces: what an address of a network namespace owns. Made by an
 * administrator, gone with the network namespace, whose VQP namespaces are all
 * of one tenant. The host's own one (tenant 0, the address of the parent)
 * belongs to the initial network namespace and always exists.
 */
#ifndef VQP_NS_NAMESPACE_H
#define VQP_NS_NAMESPACE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>
#include <linux/vqp.h>
#include "base/limit.h"
#include "ns/owner.h"
#include "ns/throttle.h"

struct net;
struct vqp_net;

struct vqp_ns {
	struct kref ref;
	struct hlist_node node;		/* in the table by (tenant, gid); RCU */
	u32 tenant;			/* constant, as are gid, name, netns_ino; */
	u8 gid[VQP_GID_BYTES];		/* the host's own gid follows the parent */
	u32 netns_ino;
	struct vqp_net *vnet;		/* of its network namespace */
	struct list_head net_link;	/* in vnet's list, until it is dead; under ns_mutex */
	char name[VQP_NAME_MAX];
	bool dead;			/* written once, under ns_mutex */
	struct xarray vqps;		/* VQP number -> struct vqp; read under RCU */
	struct xarray ports;		/* bound port -> struct vqp; read under RCU */
	struct xarray keys;		/* ValidMR: key index -> struct vqp_mr; read under RCU */
	struct xarray cqs;		/* CQ number -> struct vqp_cq; read under its lock */
	/* Each is under the lock of its xarray, and begins as 0. */
	u32 next_qp_num, next_key_index, next_cq;
	struct mutex lock;		/* guards owners */
	struct list_head owners;
	atomic_t nowners;
	struct vqp_owner kernel;	/* the kernel itself, which is not among the owners */
	u32 windows;			/* under rc/window.c's lock */
	atomic_t zcopies;		/* under way */
	/* set under ns_mutex; the host's own, where the kernel's VQPs are, has none */
	struct vqp_limit limits[VQP_LIMIT_MAX];
	struct vqp_throttle throttle;	/* its rate, likewise */
	u8 priority;			/* enum vqp_priority, likewise; read without */
	struct rcu_head rcu;
};

/* What an operator may say of a namespace. */
struct vqp_ns_terms {
	u64 max[VQP_LIMIT_MAX];		/* each as in struct vqp_limit, or VQP_LIMIT_KEEP */
	u64 max_rate;			/* bytes per second, VQP_UNLIMITED, or VQP_LIMIT_KEEP */
	u8 priority;			/* enum vqp_priority; 0: as it is */
};

/* What uses namespaces, and must let go of one that is killed. */
struct vqp_ns_user {
	struct list_head link;		/* in ns/namespace.c's list */
	/*
	 * The namespace has died: nothing finds it any more. Fail what it has, and drop what
	 * refers to it. Process context; no lock is held.
	 */
	void (*kill)(struct vqp_ns *ns);
};

/* Register a user for good, before functions come in. They are called in this order. */
void __init vqp_ns_use(struct vqp_ns_user *user);

int __init vqp_ns_init(void);
void vqp_ns_exit(void);

/*
 * The namespace with that address of a network namespace, or its oldest (NULL), referenced;
 * ERR_PTR(-ENONET) if it has none, -EADDRNOTAVAIL if none with that address, or -EPERM for the
 * host's own without CAP_NET_ADMIN.
 */
struct vqp_ns *vqp_ns_of_net(struct net *net, const u8 *gid);

/* By address, referenced, or NULL. Any context. */
struct vqp_ns *vqp_ns_find(u32 tenant, const u8 *gid);

/* The host's own, referenced. */
struct vqp_ns *vqp_ns_host(void);

static inline bool vqp_ns_alive(const struct vqp_ns *ns)
{
	return !READ_ONCE(ns->dead);
}

void vqp_ns_get(struct vqp_ns *ns);
void vqp_ns_put(struct vqp_ns *ns);	/* any context */

/*
 * terms: also of one that is there already, unless it is to be new (`exclusive`). By network
 * namespace: all that it has. -EEXIST: it has those of another tenant, or this one although
 * it is to be new; -EADDRINUSE: another has the address.
 */
int vqp_ns_add(struct net *net, u32 tenant, const u8 *gid, const char *name,
	       const struct vqp_ns_terms *terms, bool exclusive);
int vqp_ns_del_net(struct net *net);
int vqp_ns_del(u32 tenant, const u8 *gid);
int vqp_ns_set_net(struct net *net, const struct vqp_ns_terms *terms);
int vqp_ns_set(u32 tenant, const u8 *gid, const struct vqp_ns_terms *terms);

/* The parent came (its address) or went (NULL). Process context. */
void vqp_ns_set_host_gid(const u8 *gid);

/*
 * Call fn for each namespace from the `skip`th on until it returns non-zero;
 * returns how many were done. Parts of a walk fit together while generation
 * (not 0) is the same. Process context.
 */
int vqp_ns_walk(int skip, u32 *generation, int (*fn)(struct vqp_ns *ns, void *arg), void *arg);

#endif
