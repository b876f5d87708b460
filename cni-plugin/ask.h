/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests to vqpd, whose errors become errors of CNI. */
#ifndef VQP_CNI_ASK_H
#define VQP_CNI_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "config.h"
#include "cni_error.h"

/*
 * Sends a request to vqpd, and with it the network namespace that it is about, or none if netns_fd
 * is negative. The caller releases *reply, also after a failure. The error's context says that
 * `what` cannot be done with `whom`.
 */
int vqp_ask(const struct vqp_config *config, const json_t *request, int netns_fd, json_t **reply, const char *what,
	    const char *whom, struct vqp_error *error);

/*
 * While vqpd is away, the following two ask the kernel module instead. They set *away then, and do
 * not try vqpd if it is set already, so that those who ask again do not wait for vqpd again.
 */

/*
 * Deletes the VQP namespaces of an attachment to the configuration's network: in the network
 * namespace, or wherever they are if netns_fd is negative. The error's context is as above.
 */
int vqp_ask_del(const struct vqp_config *config, const char *id, const char *ifname, int netns_fd, bool *away,
		const char *what, struct vqp_error *error);

/* Lists the node's VQP namespaces. */
int vqp_ask_list(const struct vqp_config *config, json_t **list, bool *away, const char *what, const char *whom,
		 struct vqp_error *error);

#endif
