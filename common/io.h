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

/*
 * Sends bytes by a connected Unix socket as send(2) does, and with them the descriptor `passed`
 * unless that is -1. Returns the number of bytes sent, or -1 with errno set.
 */
ssize_t vqp_io_send(int fd, const void *buffer, size_t bytes, int passed);

#endif
