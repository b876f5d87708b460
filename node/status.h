/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of STATUS_GET's answer that other nodes need. */
#ifndef VQP_NODE_STATUS_H
#define VQP_NODE_STATUS_H

#include <jansson.h>

/*
 * Returns the DCT metadata in a status, {"node_gid","epoch","qkey","lanes"}, as a new object; NULL
 * if there is no parent, so that no node can reach this one.
 */
json_t *vqp_status_dct(const json_t *status);

#endif
