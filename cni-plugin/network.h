/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The network as a whole: STATUS and GC. */
#ifndef VQP_CNI_NETWORK_H
#define VQP_CNI_NETWORK_H

#include "config.h"
#include "cni_error.h"

/* Whether an ADD can be served. */
int vqp_network_status(const struct vqp_config *config, struct vqp_error *error);

/* Delete what this network's ADDs made and its DELs forgot: attachments that the configuration does not list. */
int vqp_network_gc(const struct vqp_config *config, struct vqp_error *error);

#endif
