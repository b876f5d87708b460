/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dev/ is the front that functions see: the file /dev/vqp, its calls, the lists of requests that
 * come from user space, and the descriptors of CQs. It checks what user space says and calls api/;
 * it knows no carrier and no device beyond whether there is one.
 *
 * Contexts: open files of /dev/vqp. Each is a struct vqp_owner: all that a function holds, but CQs,
 * lives and dies with one.
 */
#ifndef VQP_DEV_CONTEXT_H
#define VQP_DEV_CONTEXT_H

int __init vqp_context_init(void);
void vqp_context_exit(void);

#endif
