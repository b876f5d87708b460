/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One container's interface in the network: ADD, DEL and CHECK. */
#ifndef VQP_CNI_ATTACHMENT_H
#define VQP_CNI_ATTACHMENT_H

#include <jansson.h>

#include "args.h"
#include "config.h"
#include "cni_error.h"
#include "grant.h"

/* *result: the answer, a new object. On failure nothing is left. */
int vqp_attachment_add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
		       json_t **result, struct vqp_error *error);

/* After an ADD whose result cannot be given to whom it is for. */
void vqp_attachment_undo(const struct vqp_args *args, const struct vqp_config *config);

/* Of what is not there, too. */
int vqp_attachment_del(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error);

/* Whether all is as an ADD with the same input made it. */
int vqp_attachment_check(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_grant *grant,
			 struct vqp_error *error);

#endif
