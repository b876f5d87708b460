/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Network namespaces as descriptors. A path or the number of a process means different things in
 * different mount and PID namespaces; so programs open what they are told of at once, and hand each
 * other the descriptor.
 */
#ifndef VQP_COMMON_NETNS_H
#define VQP_COMMON_NETNS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The three functions return a descriptor, which the caller closes, or a negative errno value:
 * -ENOENT; -ESRCH if there is no such process; -EINVAL if the file is no network namespace.
 */

/* Opens the network namespace at a path, as /run/netns/blue. */
int vqp_netns_open(const char *path);

/*
 * Opens that of a process, whose number is that of the caller's PID namespace. /proc may be that of
 * another PID namespace, where the number is another process's: it is never opened by mistake. If
 * /proc does not show the process, that is -ESRCH.
 */
int vqp_netns_open_process(pid_t pid);

/* Opens what a user names: a path, which has a "/", "pid:N", or a name as in ip netns. */
int vqp_netns_open_named(const char *text);

/* Is `fd` a network namespace? 0; -EINVAL if not; or another negative errno value if that cannot be said. */
int vqp_netns_check(int fd);

/*
 * Returns the inode number of an open network namespace, by which the kernel names it; 0 on
 * failure.
 */
uint32_t vqp_netns_inode(int fd);

/* Is the open network namespace that of the caller? Returns 1, 0 or a negative errno value. */
int vqp_netns_is_own(int fd);

/*
 * Calls look() while this thread is in the network namespace, which it enters and leaves again.
 * Returns what look() returns, or a negative errno value.
 */
int vqp_netns_visit(int fd, int (*look)(const void *arg), const void *arg);

/* Has the interface in the network namespace the address? Returns 1, 0 or a negative errno value. */
int vqp_netns_has_address(int fd, const char *ifname, const uint8_t gid[16]);

#endif
