// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "engine/stream_frame.h"
#include "meta/client.h"
#include "ns/namespace.h"
#include "queue/recv.h"
#include "queue/vqp.h"
#include "sock/hub.h"

#define HUB_RECEIVES	32	/* of each namespace with sockets on, a page each */

struct vqp_hub {
	struct list_head link;		/* in hubs, under hubs_mutex */
	struct vqp_ns *ns;		/* referenced */
	struct vqp *vqp;		/* at port 0 of ns */
	struct work_struct work;
	spinlock_t lock;		/* guards frames */
	struct list_head frames;	/* struct hub_frame.link: what has arrived, in order */
};

/* A receive of a hub. */
struct hub_frame {
	struct list_head link;		/* in vqp_hub.frames */
	struct vqp_hub *hub;
	u8 gid[VQP_GID_BYTES];		/* the sender's address */
	u32 bytes;
	u8 msg[VQP_FRAME_MAX];
	struct vqp_recv recv;		/* It ends in a flexible array, and so comes last. */
};

static_assert(sizeof(struct hub_frame) <= PAGE_SIZE);

static DEFINE_MUTEX(hubs_mutex);	/* guards hubs and vqp_ns.hub */
static LIST_HEAD(hubs);
static struct workqueue_struct *hub_wq;
static vqp_hub_fn hub_input __ro_after_init;

static void hub_post(struct hub_frame *f)
{
	if (vqp_recv_post(f->hub->vqp, &f->recv))
		kfree(f);
}

static struct hub_frame *hub_take(struct vqp_hub *hub)
{
	struct hub_frame *f;

	spin_lock_bh(&hub->lock);
	f = list_first_entry_or_null(&hub->frames, struct hub_frame, link);
	if (f)
		list_del(&f->link);
	spin_unlock_bh(&hub->lock);
	return f;
}

static void hub_work(struct work_struct *work)
{
	struct vqp_hub *hub = container_of(work, struct vqp_hub, work);
	struct hub_frame *f;

	while ((f = hub_take(hub))) {
		hub_input(hub->ns, f->gid, f->msg, f->bytes);
		hub_post(f);
		vqp_recv_wake(hub->vqp);
		cond_resched();
	}
}

/* vqp.on_recv. Frames come from kernels, whose VQPs have no number. */
static void hub_on_recv(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	struct hub_frame *f = container_of(recv, struct hub_frame, recv);
	struct vqp_hub *hub = f->hub;

	if (!info) {
		kfree(f);
		return;
	}
	memcpy(f->gid, info->src_gid, VQP_GID_BYTES);
	/* A WRITE puts nothing into the buffer. */
	f->bytes = info->src_qp || info->opcode != VQP_WC_RECV ? 0 : info->bytes;
	spin_lock_bh(&hub->lock);
	list_add_tail(&f->link, &hub->frames);
	spin_unlock_bh(&hub->lock);
	queue_work(hub_wq, &hub->work);
}

static int hub_fill(struct vqp_hub *hub)
{
	struct hub_frame *f;
	int i;

	for (i = 0; i < HUB_RECEIVES; i++) {
		f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
		if (!f)
			return -ENOMEM;
		f->hub = hub;
		f->recv.kbuf = f->msg;
		f->recv.bytes = sizeof(f->msg);
		hub_post(f);
	}
	return 0;
}

/* Nothing finds the hub any more. */
static void hub_destroy(struct vqp_hub *hub)
{
	struct hub_frame *f;

	/* The work posts receives to the VQP, which fails by then. */
	kref_get(&hub->vqp->ref);
	vqp_teardown(hub->vqp);
	cancel_work_sync(&hub->work);
	while ((f = hub_take(hub)))
		kfree(f);
	vqp_put(hub->vqp);
	vqp_ns_put(hub->ns);
	kfree(hub);
}

static struct vqp_hub *hub_create(struct vqp_ns *ns)
{
	struct vqp_hub *hub = kzalloc(sizeof(*hub), GFP_KERNEL_ACCOUNT);

	if (!hub)
		return NULL;
	spin_lock_init(&hub->lock);
	INIT_LIST_HEAD(&hub->frames);
	INIT_WORK(&hub->work, hub_work);
	hub->vqp = vqp_client_listen(ns, hub_on_recv, HUB_RECEIVES);
	if (IS_ERR(hub->vqp)) {
		kfree(hub);
		return NULL;
	}
	hub->ns = ns;
	vqp_ns_get(ns);
	if (hub_fill(hub)) {
		hub_destroy(hub);
		return NULL;
	}
	vqp_recv_wake(hub->vqp);
	return hub;
}

void vqp_hub_begin(struct vqp_ns *ns)
{
	mutex_lock(&hubs_mutex);
	/* One that has died has been told to vqp_hub_end(), or will be. */
	if (!ns->hub && vqp_ns_alive(ns) && vqp_ns_has_sockets(ns)) {
		ns->hub = hub_create(ns);
		if (ns->hub)
			list_add(&ns->hub->link, &hubs);
		else
			pr_warn_ratelimited("no memory for the sockets of %s: their connections to other nodes are of TCP until there is\n",
					    ns->name);
	}
	mutex_unlock(&hubs_mutex);
}

void vqp_hub_end(struct vqp_ns *ns)
{
	struct vqp_hub *hub;

	mutex_lock(&hubs_mutex);
	hub = ns->hub;
	ns->hub = NULL;
	if (hub)
		list_del(&hub->link);
	mutex_unlock(&hubs_mutex);
	if (hub)
		hub_destroy(hub);
}

/* The namespace of one of them, referenced, or NULL. */
static struct vqp_ns *hub_any(void)
{
	struct vqp_ns *ns = NULL;
	struct vqp_hub *hub;

	mutex_lock(&hubs_mutex);
	hub = list_first_entry_or_null(&hubs, struct vqp_hub, link);
	if (hub) {
		ns = hub->ns;
		vqp_ns_get(ns);
	}
	mutex_unlock(&hubs_mutex);
	return ns;
}

void vqp_hubs_end(void)
{
	struct vqp_ns *ns;

	while ((ns = hub_any())) {
		vqp_hub_end(ns);
		vqp_ns_put(ns);
	}
}

int __init vqp_hub_init(vqp_hub_fn input)
{
	hub_input = input;
	hub_wq = alloc_workqueue("vqp_hub", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return hub_wq ? 0 : -ENOMEM;
}

void vqp_hub_exit(void)
{
	destroy_workqueue(hub_wq);
}
