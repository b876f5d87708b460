/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One ioctl of /dev/vqp, spoiled as the call at hand says. */
#ifndef VQP_FUZZ_ISSUE_H
#define VQP_FUZZ_ISSUE_H

#include "world.h"

/* Every wr_id carries it in its upper half, so that one that nobody gave is seen. */
#define WR_ID_MARK	0x76717066ULL

/*
 * `cmd` with its argument, whose size cmd tells; filled in on success, and as
 * far as the kernel wrote it otherwise. Returns 0 or -errno, and counts the
 * call. Ends the fuzzer when the errno is none that <linux/vqp.h> names.
 */
int issue(struct runner *run, int fd, unsigned long cmd, void *arg);

/* The descriptor in object.a; -1 for an object that never was. */
int object_fd(const struct object *object);

/* The descriptor of the context that the object was made in. */
int context_fd(struct runner *run, const struct object *object);

#endif
