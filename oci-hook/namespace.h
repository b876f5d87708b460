/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The VQP namespaces of a network namespace, as the kernel knows them. */
#ifndef VQP_OCI_NAMESPACE_H
#define VQP_OCI_NAMESPACE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../common/error.h"
#include "../include/uapi/linux/vqp.h"

struct vqp_namespace {
	uint32_t tenant;
	uint8_t gid[VQP_GID_BYTES];
};

/* All functions return a negative errno value with *error set on failure. */

/*
 * Opens the network namespace of the container's process. Returns a descriptor, which the caller
 * closes.
 */
int vqp_namespace_open(pid_t pid, struct vqp_error *error);

/* Is the network namespace the host's? Returns 1 or 0. */
int vqp_namespace_is_host(int netns_fd, struct vqp_error *error);

/* Is there an interface of this name in the network namespace? Returns 1 or 0. */
int vqp_namespace_has_interface(int netns_fd, const char *name, struct vqp_error *error);

/* Moves this thread into the network namespace, for good. 0 on success. */
int vqp_namespace_enter(int netns_fd, struct vqp_error *error);

/*
 * Queries the VQP namespace of this thread's network namespace. Of several it is the one with this
 * address, or the oldest if none has the address, or the address is "". 0; -ENONET if there is
 * none.
 */
int vqp_namespace_query(struct vqp_namespace *found, const char *address, struct vqp_error *error);

/*
 * Lists the global unicast addresses, at most `max`, of the interfaces of this thread's network
 * namespace that are up, without loopback. Of IPv6 they are those that somebody has given the
 * interface for good, and not those that it has by a router's advertisements, which whoever is on
 * the container's link may send: the tenant follows from these addresses. 0 on success.
 */
int vqp_namespace_gids(uint8_t (*gids)[VQP_GID_BYTES], size_t max, size_t *count, struct vqp_error *error);

/* Returns the addresses as text, a new array; NULL without memory. */
json_t *vqp_namespace_say_gids(const uint8_t (*gids)[VQP_GID_BYTES], size_t count);

#endif
