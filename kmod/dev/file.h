/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dev/ is the front for functions: the file /dev/vqp, its calls, the lists of requests that come
 * from user space, the descriptors of CQs, and the mappings of rings and arenas. It checks what
 * user space passes, and calls api/. It knows no carrier, and of the device only whether there is
 * one.
 *
 * This is the character device. Each open file of it is a context.
 */
#ifndef VQP_DEV_FILE_H
#define VQP_DEV_FILE_H

int __init vqp_file_init(void);
void vqp_file_exit(void);

#endif
