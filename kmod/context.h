/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Contexts: open files of /dev/vqp. All that a function holds, but CQs, lives and dies with one. */
#ifndef VQP_CONTEXT_H
#define VQP_CONTEXT_H

#include <linux/list.h>
#include <linux/mutex.h>

struct vqp_ns;
struct vqp_ns_user;

struct vqp_context {
	/* NULL until the first ioctl, then constant; one reference */
	struct vqp_ns *ns;
	struct list_head ns_link;	/* under vqp_ns.lock */
	struct mutex lock;		/* guards the lists and dead; inside vqp_ns.lock */
	struct list_head vqps;
	struct list_head mrs;
	bool dead;			/* the namespace is gone: nothing can be made any more */
};

int __init vqp_context_init(void);
void vqp_context_exit(void);

/* Contexts' part in the going of a namespace. */
extern struct vqp_ns_user vqp_context_ns_user;

#endif
