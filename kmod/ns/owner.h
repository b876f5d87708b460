/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Owners of VQPs and memory regions. Each open /dev/vqp is one, and so is each user of VQPs inside
 * the kernel. All that an owner has is in one namespace, and ends with it.
 */
#ifndef VQP_NS_OWNER_H
#define VQP_NS_OWNER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct vqp_ns;

struct vqp_owner {
	/* It is referenced, NULL until vqp_owner_bind(), and constant from then on. */
	struct vqp_ns *ns;
	struct list_head ns_link;	/* in vqp_ns.owners, under vqp_ns.lock */
	struct mutex lock;		/* guards all below; inside vqp_ns.lock */
	struct list_head vqps;
	struct list_head mrs;
	bool dead;			/* The namespace is gone: nothing can be made any more. */
};

void vqp_owner_init(struct vqp_owner *owner);

/* Does it have a namespace? What preceded vqp_owner_bind() is seen. Any context. */
static inline bool vqp_owner_is_bound(const struct vqp_owner *owner)
{
	return smp_load_acquire(&owner->ns);	/* pairs with vqp_owner_bind() */
}

/*
 * Give an owner its namespace, for good; the reference is the owner's on success. -EISCONN: it has
 * one; -ESHUTDOWN: ns is gone. Process context.
 */
int __must_check vqp_owner_bind(struct vqp_owner *owner, struct vqp_ns *ns);

/*
 * The end of an owner, in two steps: the namespace does not find it any more; and when all that it
 * had is destroyed, the reference of the namespace goes. Process context.
 */
void vqp_owner_unlist(struct vqp_owner *owner);
void vqp_owner_release(struct vqp_owner *owner);

#endif
