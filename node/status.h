/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What STATUS_GET tells of this node, where it concerns other nodes. */
#ifndef VQP_NODE_STATUS_H
#define VQP_NODE_STATUS_H

#include <jansson.h>

/*
 * The DCT metadata in a status: {"node_gid","epoch","qkey","lanes"}, a new
 * object; NULL if there is no parent, so that nobody can reach this node.
 */
json_t *vqp_status_dct(const json_t *status);

#endif
