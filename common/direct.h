/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What clients of vqpd ask of the kernel module themselves while vqpd is away, because nobody would
 * come back to it: an attachment ends once. vqpd reads the VQP namespaces back from the kernel when
 * it starts, and the announcements of those that are gone end with their leases; while it runs, it
 * compares its records with the kernel twice a second, and withdraws what it finds missing.
 *
 * The caller needs CAP_NET_ADMIN in the host, and is in the host's network namespace: in another
 * one the module does not answer, which is -ENONET.
 */
#ifndef VQP_COMMON_DIRECT_H
#define VQP_COMMON_DIRECT_H

#include <jansson.h>

#include "error.h"

/*
 * Deletes the VQP namespaces of an attachment, as vqpd does on "del": by their name, in the network
 * namespace or, if netns_fd is negative, in whichever; network may be NULL. It is no failure if
 * there are none. 0, or a negative errno value with *error set.
 */
int vqp_direct_del(const char *id, const char *ifname, const char *network, int netns_fd, struct vqp_error *error);

/*
 * Lists the VQP namespaces of the node as vqpd does on "list", but for "published". 0, or a
 * negative errno value with *error set.
 */
int vqp_direct_list(json_t **list, struct vqp_error *error);

#endif
