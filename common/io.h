/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files as a whole, whatever signals and sizes the kernel likes. */
#ifndef VQP_COMMON_IO_H
#define VQP_COMMON_IO_H

#include <sys/types.h>

/* Until the buffer is full or the file has ended: how many bytes there were, or a negative errno value. */
ssize_t vqp_io_read(int fd, void *buffer, size_t bytes);

/* All of it: 0 or a negative errno value. */
int vqp_io_write(int fd, const void *buffer, size_t bytes);

#endif
