/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reading and writing in full, across signals and short transfers. */
#ifndef VQP_COMMON_IO_H
#define VQP_COMMON_IO_H

#include <sys/types.h>

/*
 * Reads until the buffer is full or the file ends. Returns the number of bytes read, or a negative
 * errno value.
 */
ssize_t vqp_io_read(int fd, void *buffer, size_t bytes);

/* Writes all bytes. 0 or a negative errno value. */
int vqp_io_write(int fd, const void *buffer, size_t bytes);

#endif
