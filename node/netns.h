/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Network namespaces by path, process or name. */
#ifndef VQP_NODE_NETNS_H
#define VQP_NODE_NETNS_H

#include <stdint.h>

/*
 * Opens the network namespace at a path ("/proc/1/ns/net", "/run/netns/blue"), of a process
 * ("pid:1") or of a name of `ip netns` ("blue"). Returns a file descriptor, or a negative errno
 * value: -ENOENT; -EINVAL if it is no network namespace.
 */
int vqp_netns_open(const char *text);

/*
 * Returns the inode number of an open network namespace, by which the kernel names it; 0 on
 * failure.
 */
uint32_t vqp_netns_inode(int fd);

#endif
