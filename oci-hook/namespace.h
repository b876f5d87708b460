/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The VQP namespaces of a network namespace, asked of the kernel itself. */
#ifndef VQP_OCI_NAMESPACE_H
#define VQP_OCI_NAMESPACE_H

#include <stddef.h>
#include <stdint.h>

#include "../common/error.h"
#include "../include/uapi/linux/vqp.h"

struct vqp_namespace {
	uint32_t tenant;
	uint8_t gid[VQP_GID_BYTES];
};

/*
 * Functions return 0 or a negative errno value with *error set.
 */

/* 1 or 0: the host's network namespace is at `path`. */
int vqp_namespace_is_host(const char *path, struct vqp_error *error);

/* 1 or 0: there is an interface of this name in the network namespace at `path`. */
int vqp_namespace_has_interface(const char *path, const char *name, struct vqp_error *error);

/* Move this thread into the network namespace at `path`, for good. */
int vqp_namespace_enter(const char *path, struct vqp_error *error);

/*
 * The VQP namespace of the network namespace this thread is in: of several the one with this
 * address, or the oldest if none has it ("" likewise). -ENONET: there is none.
 */
int vqp_namespace_query(struct vqp_namespace *found, const char *address, struct vqp_error *error);

/*
 * The global unicast addresses, at most `max`, of interfaces that are up, other
 * than loopback, where this thread is.
 */
int vqp_namespace_gids(uint8_t (*gids)[VQP_GID_BYTES], size_t max, size_t *count, struct vqp_error *error);

#endif
