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

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* 6.2, and 6.1.158. No code arms a VQP's timer any more when it is shut down. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 158)
#define timer_shutdown_sync del_timer_sync
#endif

/* 6.2: a page pinned for reading stays the page that the process writes to (no copy on write). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static inline int vqp_compat_pin_user_pages_fast(unsigned long start, int nr_pages,
						 unsigned int gup_flags, struct page **pages)
{
	if (!(gup_flags & FOLL_WRITE))
		gup_flags |= FOLL_WRITE | FOLL_FORCE;
	return pin_user_pages_fast(start, nr_pages, gup_flags, pages);
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
