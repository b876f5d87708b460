/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Network namespaces, as people name them. */
#ifndef VQP_NODE_NETNS_H
#define VQP_NODE_NETNS_H

#include <stdint.h>

/*
 * Open a path ("/proc/1/ns/net", "/run/netns/blue"), a process ("pid:1") or a name
 * as `ip netns` uses it ("blue"). A file descriptor, or a negative errno value:
 * ENOENT; EINVAL: it is something else than a network namespace.
 */
int vqp_netns_open(const char *text);

/* The inode number of an open namespace, which is its name in the kernel; 0 if it cannot be told. */
uint32_t vqp_netns_inode(int fd);

#endif
