/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The differences between the kernels that vqp is built for. The module is written for the newest
 * kernel, and each entry here gives older ones a name of it. An entry begins with the version that
 * introduced the name. It defines a macro, since a stable kernel may introduce the name later.
 *
 * The oldest kernel is 6.1.0. Its min() and max() warn of two different unsigned types until
 * 6.1.101, against which no macro helps.
 */
#ifndef VQP_BASE_COMPAT_H
#define VQP_BASE_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* 6.2, and 6.1.158. No code arms a VQP's timer any more when it is shut down. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 158)
#define timer_shutdown_sync del_timer_sync
#endif

/*
 * 6.2: a page pinned for reading stays the page that the process writes to (no copy on write).
 * 6.5: a page of a file that is written back is not pinned for long to be written to, because the
 * file system is not told of the writing, and may have let go of what it needs to write it back.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
static inline bool vqp_compat_needs_dirty_tracking(const struct vm_area_struct *vma)
{
	if ((vma->vm_flags & (VM_SHARED | VM_WRITE)) != (VM_SHARED | VM_WRITE))
		return false;
	if (vma->vm_ops && (vma->vm_ops->page_mkwrite || vma->vm_ops->pfn_mkwrite))
		return true;
	return vma->vm_file && mapping_can_writeback(vma->vm_file->f_mapping);
}

/* The caller has mmap_lock. */
static inline bool vqp_compat_may_pin(unsigned long start, int nr_pages)
{
	const unsigned long end = start + ((unsigned long)nr_pages << PAGE_SHIFT);
	struct vm_area_struct *vma = find_vma(current->mm, start);

	for (; vma && vma->vm_start < end; vma = find_vma(current->mm, vma->vm_end))
		if (vqp_compat_needs_dirty_tracking(vma))
			return false;
	return true;
}

static inline int vqp_compat_pin_user_pages_fast(unsigned long start, int nr_pages,
						 unsigned int gup_flags, struct page **pages)
{
	int ret = -EFAULT;

	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) && !(gup_flags & FOLL_WRITE))
		gup_flags |= FOLL_WRITE | FOLL_FORCE;
	mmap_read_lock(current->mm);
	if (!(gup_flags & FOLL_WRITE) || vqp_compat_may_pin(start, nr_pages))
		ret = pin_user_pages(start, nr_pages, gup_flags, pages, NULL);
	mmap_read_unlock(current->mm);
	return ret;
}

#define pin_user_pages_fast vqp_compat_pin_user_pages_fast
#endif

/* 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vqp_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

#define vm_flags_set vqp_compat_vm_flags_set
#endif

/* 6.13; 6.15 has no hrtimer_init(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void vqp_compat_hrtimer_setup(struct hrtimer *timer,
					    enum hrtimer_restart (*function)(struct hrtimer *),
					    clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}

#define hrtimer_setup vqp_compat_hrtimer_setup
#endif

/* 6.16, which renames from_timer(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0) && !defined(timer_container_of)
#define timer_container_of from_timer
#endif

/* 6.17; 7.2 warns of system_unbound_wq. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_dfl_wq system_unbound_wq
#endif

#endif
