/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What differs between the kernels vqp is built for, in the newer one's words. */
#ifndef VQP_COMPAT_H
#define VQP_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif
