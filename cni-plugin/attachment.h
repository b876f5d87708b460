/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ADD, DEL and CHECK of an attachment, which is an interface of a container in the network. */
#ifndef VQP_CNI_ATTACHMENT_H
#define VQP_CNI_ATTACHMENT_H

#include <jansson.h>

#include "args.h"
#include "config.h"
#include "cni_error.h"
#include "wish.h"

/* Opens the container's network namespace, for an ADD, as *netns_fd, which the caller closes. */
int vqp_attachment_open(const struct vqp_args *args, int *netns_fd, struct vqp_error *error);

/* Makes the VQP namespace. *result is the answer, a new object. After a failure nothing is left. */
int vqp_attachment_add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
		       int netns_fd, json_t **result, struct vqp_error *error);

/* Undoes an ADD whose result could not be written. */
void vqp_attachment_undo(const struct vqp_args *args, const struct vqp_config *config, int netns_fd);

/* Deletes the VQP namespace. It is no error if there is none. */
int vqp_attachment_del(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error);

/* Checks that the VQP namespace is as an ADD with the same input would have made it. */
int vqp_attachment_check(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
			 struct vqp_error *error);

#endif
