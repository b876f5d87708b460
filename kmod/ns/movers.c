// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include "base/wait.h"
#include "ns/movers.h"

struct vqp_mover {
	struct work_struct work;
	struct vqp_movers *movers;	/* constant; referenced while `busy` */
	bool busy;			/* The work is queued, or runs. */
	/* What the work has set going, and has not come back from; compared alone. Or NULL. */
	const struct vqp_wait *at;
};

struct vqp_movers {
	struct kref ref;		/* What goes may drop the last reference of a namespace. */
	spinlock_t lock;		/* guards all below; for process context */
	struct list_head waiting;	/* struct vqp_wait, the oldest first */
	struct vqp_mover mover[VQP_MOVERS_MAX];
};

/*
 * With the greatest limit that there is, of 512 workers at least, 128 namespaces have their movers
 * wait at a time.
 */
static struct workqueue_struct *movers_wq;

static void movers_release(struct kref *ref)
{
	kfree(container_of(ref, struct vqp_movers, ref));
}

void vqp_movers_destroy(struct vqp_movers *movers)
{
	kref_put(&movers->ref, movers_release);
}

static bool movers_are_at(const struct vqp_movers *movers, const struct vqp_wait *wait)
{
	int i;

	for (i = 0; i < VQP_MOVERS_MAX; i++)
		if (movers->mover[i].at == wait)
			return true;
	return false;
}

/* The oldest that no other mover is at, off the list; or NULL. */
static struct vqp_wait *movers_take(struct vqp_movers *movers)
{
	struct vqp_wait *wait;

	lockdep_assert_held(&movers->lock);
	list_for_each_entry(wait, &movers->waiting, link) {
		if (movers_are_at(movers, wait))
			continue;
		vqp_wait_unqueue(wait);
		return wait;
	}
	return NULL;
}

static void mover_work(struct work_struct *work)
{
	struct vqp_mover *mover = container_of(work, struct vqp_mover, work);
	struct vqp_movers *movers = mover->movers;
	struct vqp_wait *wait;

	spin_lock(&movers->lock);
	while ((wait = movers_take(movers))) {
		mover->at = wait;
		spin_unlock(&movers->lock);
		vqp_wait_go(wait);
		cond_resched();
		spin_lock(&movers->lock);
		WRITE_ONCE(mover->at, NULL);
		smp_mb();	/* Order this before wake_up_var()'s look for waiters. */
		wake_up_var(&mover->at);
	}
	mover->busy = false;
	spin_unlock(&movers->lock);
	kref_put(&movers->ref, movers_release);
}

struct vqp_movers *vqp_movers_create(void)
{
	struct vqp_movers *movers = kzalloc(sizeof(*movers), GFP_KERNEL_ACCOUNT);
	int i;

	if (!movers)
		return NULL;
	kref_init(&movers->ref);
	spin_lock_init(&movers->lock);
	INIT_LIST_HEAD(&movers->waiting);
	for (i = 0; i < VQP_MOVERS_MAX; i++) {
		INIT_WORK(&movers->mover[i].work, mover_work);
		movers->mover[i].movers = movers;
	}
	return movers;
}

/* A mover that is busy looks at the list before it ends. */
static void movers_wake_one(struct vqp_movers *movers)
{
	struct vqp_mover *mover;
	int i;

	lockdep_assert_held(&movers->lock);
	for (i = 0; i < VQP_MOVERS_MAX; i++) {
		mover = &movers->mover[i];
		if (mover->busy)
			continue;
		mover->busy = true;
		kref_get(&movers->ref);
		queue_work(movers_wq, &mover->work);
		return;
	}
}

void vqp_movers_queue(struct vqp_movers *movers, struct vqp_wait *wait)
{
	spin_lock(&movers->lock);
	if (vqp_wait_queue(wait, &movers->waiting))
		movers_wake_one(movers);
	spin_unlock(&movers->lock);
}

bool vqp_movers_leave(struct vqp_movers *movers, struct vqp_wait *wait)
{
	struct vqp_mover *mover;
	bool queued;
	int i;

	spin_lock(&movers->lock);
	queued = vqp_wait_unqueue(wait);
	spin_unlock(&movers->lock);
	for (i = 0; i < VQP_MOVERS_MAX; i++) {
		mover = &movers->mover[i];
		wait_var_event(&mover->at, READ_ONCE(mover->at) != wait);
	}
	return queued;
}

int __init vqp_movers_init(void)
{
	movers_wq = alloc_workqueue("vqp_movers", WQ_UNBOUND | WQ_MEM_RECLAIM,
				    WQ_UNBOUND_MAX_ACTIVE);
	return movers_wq ? 0 : -ENOMEM;
}

void vqp_movers_exit(void)
{
	destroy_workqueue(movers_wq);
}
