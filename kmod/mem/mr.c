// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vqp.h>
#include "base/compat.h"
#include "base/counters.h"
#include "base/ids.h"
#include "mem/arena.h"
#include "mem/mr.h"
#include "ns/namespace.h"
#include "ns/owner.h"

#define KEY_TAG_BITS	16
#define KEY_INDEX_MAX	((1U << (32 - KEY_TAG_BITS)) - 1)
#define PIN_BATCH	4096

#define ACCESS_ALL	(VQP_ACCESS_LOCAL_WRITE | VQP_ACCESS_REMOTE_WRITE | \
			 VQP_ACCESS_REMOTE_READ | VQP_ACCESS_REMOTE_ATOMIC)
#define ACCESS_WRITES	(VQP_ACCESS_REMOTE_WRITE | VQP_ACCESS_REMOTE_ATOMIC)

static const struct vqp_mr_user *mr_user __ro_after_init;

static bool mr_covers(const struct vqp_mr *mr, u32 key, u64 addr, u64 bytes,
		      u32 access, const struct vqp_owner *owner)
{
	return READ_ONCE(mr->key) == key && (mr->access & access) == access &&
	       (!owner || mr->owner == owner) &&
	       addr >= mr->addr && bytes <= mr->length &&
	       addr - mr->addr <= mr->length - bytes;
}

struct vqp_mr *vqp_mr_get(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes,
			  u32 access, const struct vqp_owner *owner)
{
	struct vqp_mr *mr;

	rcu_read_lock();
	mr = xa_load(&ns->keys, key >> KEY_TAG_BITS);
	if (mr && (!mr_covers(mr, key, addr, bytes, access, owner) ||
		   !refcount_inc_not_zero(&mr->ref)))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

bool vqp_mr_valid(struct vqp_ns *ns, u32 key, u64 addr, u64 bytes, u32 access,
		  const struct vqp_owner *owner)
{
	struct vqp_mr *mr;
	bool valid;

	rcu_read_lock();
	mr = xa_load(&ns->keys, key >> KEY_TAG_BITS);
	valid = mr && mr_covers(mr, key, addr, bytes, access, owner);
	rcu_read_unlock();
	return valid;
}

struct vqp_mr *vqp_mr_find(struct vqp_ns *ns, u32 key)
{
	struct vqp_mr *mr;

	rcu_read_lock();
	mr = xa_load(&ns->keys, key >> KEY_TAG_BITS);
	if (mr && (READ_ONCE(mr->key) != key || !refcount_inc_not_zero(&mr->ref)))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

void vqp_mr_hold(struct vqp_mr *mr)
{
	refcount_inc(&mr->ref);
}

void vqp_mr_put(struct vqp_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->unused);
}

static unsigned int mr_pin_flags(const struct vqp_mr *mr)
{
	return mr->access & VQP_ACCESS_LOCAL_WRITE ? FOLL_LONGTERM | FOLL_WRITE : FOLL_LONGTERM;
}

static u64 mr_pinned_bytes(const struct vqp_mr *mr)
{
	return (u64)mr->npages << PAGE_SHIFT;
}

static void mr_unpin(struct vqp_mr *mr, unsigned long pinned)
{
	unpin_user_pages_dirty_lock(mr->pages, pinned,
				    mr->access & VQP_ACCESS_LOCAL_WRITE);
	atomic64_sub(mr->npages, &mr->mm->pinned_vm);
	mmdrop(mr->mm);
	kvfree(mr->pages);
	vqp_limit_uncharge(&mr->ns->limits[VQP_LIMIT_BYTES], mr_pinned_bytes(mr));
}

static int mr_pin(struct vqp_mr *mr)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long start = mr->addr & PAGE_MASK, done = 0;
	int ret;

	mr->first_offset = offset_in_page(mr->addr);
	mr->npages = (mr->addr + mr->length - start + PAGE_SIZE - 1) >> PAGE_SHIFT;
	if (mr->npages > INT_MAX / sizeof(*mr->pages))
		return -ENOMEM;
	/* The charge comes first, because the caller determines the array's size, too. */
	ret = vqp_limit_charge(&mr->ns->limits[VQP_LIMIT_BYTES], mr_pinned_bytes(mr));
	if (ret)
		return ret;
	mr->mm = current->mm;
	mmgrab(mr->mm);
	if (atomic64_add_return(mr->npages, &mr->mm->pinned_vm) <= limit || capable(CAP_IPC_LOCK))
		mr->pages = kvmalloc_array(mr->npages, sizeof(*mr->pages), GFP_KERNEL_ACCOUNT);
	if (!mr->pages) {
		mr_unpin(mr, 0);
		return -ENOMEM;
	}
	while (done < mr->npages) {
		ret = pin_user_pages_fast(start + (done << PAGE_SHIFT),
					  min(mr->npages - done, (unsigned long)PIN_BATCH),
					  mr_pin_flags(mr), mr->pages + done);
		if (ret <= 0) {
			mr_unpin(mr, done);
			return ret ?: -EFAULT;
		}
		done += ret;
		cond_resched();
	}
	return 0;
}

/* Release the pages of the region: unpin them, or put the arena that they belong to, if any. */
static void mr_release_pages(struct vqp_mr *mr)
{
	if (mr->arena)
		vqp_arena_put(mr->arena);
	else if (mr->mm)
		mr_unpin(mr, mr->npages);
}

static int mr_take_pages(struct vqp_owner *owner, struct vqp_mr *mr)
{
	u64 offset;

	mr->arena = vqp_arena_find(owner, mr->addr, mr->length, &offset);
	if (!mr->arena)
		return mr_pin(mr);
	mr->pages = mr->arena->pages + (offset >> PAGE_SHIFT);
	mr->first_offset = offset_in_page(offset);
	mr->npages = mr->arena->npages - (offset >> PAGE_SHIFT);
	return 0;
}

static int mr_check(const struct vqp_reg_mr *arg)
{
	if (!arg->length || arg->addr + arg->length < arg->addr ||
	    arg->addr + arg->length > TASK_SIZE_MAX)
		return -EINVAL;
	if (arg->access & ~ACCESS_ALL)
		return -EINVAL;
	if ((arg->access & ACCESS_WRITES) && !(arg->access & VQP_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/*
 * Give the region its key. Requests that name a region may be under way when it is deregistered.
 * The index of its key is therefore not used again before all others have been, since a new region
 * with the same index would have the same tag once in 65,536 times. Until mr->key is set, no key
 * finds the region.
 */
static int mr_publish(struct vqp_mr *mr)
{
	struct vqp_ns *ns = mr->ns;
	u32 index;
	int ret;

	ret = vqp_id_take(&ns->keys, KEY_INDEX_MAX, &ns->next_key_index, mr, &index);
	if (ret)
		return ret == -EBUSY ? -ENOSPC : ret;
	WRITE_ONCE(mr->key, index << KEY_TAG_BITS | (get_random_u32() >> (32 - KEY_TAG_BITS)));
	return 0;
}

/* A region without pages, which is charged; or ERR_PTR(). */
static struct vqp_mr *mr_alloc(struct vqp_owner *owner, u64 addr, u64 length, u32 access)
{
	const int ret = vqp_limit_charge(&owner->ns->limits[VQP_LIMIT_MRS], 1);
	struct vqp_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		vqp_limit_uncharge(&owner->ns->limits[VQP_LIMIT_MRS], 1);
		return ERR_PTR(-ENOMEM);
	}
	mr->addr = addr;
	mr->length = length;
	mr->access = access;
	mr->owner = owner;
	mr->ns = owner->ns;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->unused);
	INIT_LIST_HEAD(&mr->windows);
	return mr;
}

static void mr_abandon(struct vqp_mr *mr)
{
	vqp_limit_uncharge(&mr->ns->limits[VQP_LIMIT_MRS], 1);
	kfree(mr);
}

/* The region has its pages, and is the owner's from here on. 0 and *key; or -errno. */
static int mr_add(struct vqp_owner *owner, struct vqp_mr *mr, u32 *key)
{
	int ret;

	mutex_lock(&owner->lock);
	ret = owner->dead ? -ESHUTDOWN : mr_publish(mr);
	if (!ret) {
		list_add(&mr->owner_link, &owner->mrs);
		/* Without the lock another thread may deregister the region. */
		*key = mr->key;
		vqp_count_made(VQP_OBJ_MR);
	}
	mutex_unlock(&owner->lock);
	return ret;
}

int vqp_mr_reg(struct vqp_owner *owner, struct vqp_reg_mr *arg)
{
	struct vqp_mr *mr;
	int ret;

	ret = mr_check(arg);
	if (ret)
		return ret;
	mr = mr_alloc(owner, arg->addr, arg->length, arg->access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = mr_take_pages(owner, mr);
	if (ret)
		goto abandon;
	ret = mr_add(owner, mr, &arg->key);
	if (ret)
		goto release;
	return 0;

release:
	mr_release_pages(mr);
abandon:
	mr_abandon(mr);
	return ret;
}

int vqp_mr_reg_kernel(struct vqp_owner *owner, struct page **pages, u32 bytes, u32 *key)
{
	struct vqp_mr *mr = mr_alloc(owner, 0, bytes, 0);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->pages = pages;
	mr->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	ret = mr_add(owner, mr, key);
	if (ret)
		mr_abandon(mr);
	return ret;
}

void __init vqp_mr_set_user(const struct vqp_mr_user *user)
{
	mr_user = user;
}

void vqp_mr_revoke_all(struct vqp_owner *owner)
{
	struct vqp_mr *mr;

	lockdep_assert_held(&owner->lock);
	list_for_each_entry(mr, &owner->mrs, owner_link)
		mr_user->revoke(mr);
}

void vqp_mr_wait_all(struct vqp_owner *owner)
{
	struct vqp_mr *mr;

	lockdep_assert_held(&owner->lock);
	list_for_each_entry(mr, &owner->mrs, owner_link)
		mr_user->wait(mr);
}

/* No key finds the region any more. Wait for the requests that use it; devices may reach it yet. */
static void mr_withdraw(struct vqp_mr *mr)
{
	xa_erase(&mr->ns->keys, mr->key >> KEY_TAG_BITS);
	vqp_mr_put(mr);
	wait_for_completion(&mr->unused);
	mr_user->revoke(mr);
}

/* Free a region that has been withdrawn. */
static void mr_free(struct vqp_mr *mr)
{
	list_del(&mr->owner_link);
	mr_user->wait(mr);
	mr_release_pages(mr);
	vqp_limit_uncharge(&mr->ns->limits[VQP_LIMIT_MRS], 1);
	kfree_rcu(mr, rcu);
	vqp_count_freed(VQP_OBJ_MR);
}

/* All of them first lose their keys, so that peers which do not answer cost a second once. */
void vqp_mr_destroy_all(struct vqp_owner *owner)
{
	struct vqp_mr *mr, *next;

	lockdep_assert_held(&owner->lock);
	list_for_each_entry(mr, &owner->mrs, owner_link)
		mr_withdraw(mr);
	list_for_each_entry_safe(mr, next, &owner->mrs, owner_link)
		mr_free(mr);
}

int vqp_mr_dereg(struct vqp_owner *owner, u32 key)
{
	struct vqp_mr *mr;
	bool own;

	mutex_lock(&owner->lock);
	/* A region of another owner may be freed here; regions of `owner` need owner->lock. */
	rcu_read_lock();
	mr = xa_load(&owner->ns->keys, key >> KEY_TAG_BITS);
	own = mr && READ_ONCE(mr->key) == key && mr->owner == owner;
	rcu_read_unlock();
	if (own) {
		mr_withdraw(mr);
		mr_free(mr);
	}
	mutex_unlock(&owner->lock);
	return own ? 0 : -ENOENT;
}
