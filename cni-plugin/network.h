/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* STATUS and GC, which are about the whole network. */
#ifndef VQP_CNI_NETWORK_H
#define VQP_CNI_NETWORK_H

#include "config.h"
#include "cni_error.h"

/* Checks that an ADD can be served. */
int vqp_network_status(const struct vqp_config *config, struct vqp_error *error);

/* Deletes the attachments of this network that the configuration does not list as valid. */
int vqp_network_gc(const struct vqp_config *config, struct vqp_error *error);

#endif
