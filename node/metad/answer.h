/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What vqp-metad does with a request (see PROTOCOL.md). */
#ifndef VQP_METAD_ANSWER_H
#define VQP_METAD_ANSWER_H

#include <jansson.h>

#include "table.h"

#define VQP_METAD_LEASE_MAX_S	3600

struct vqp_metad {
	struct vqp_table table;
	json_t *hello;		/* how nodes READ the table; NULL while there is no RDMA device */
};

/* The answer to an object from anybody; NULL when memory ran out. */
json_t *vqp_metad_answer(struct vqp_metad *metad, const json_t *request, uint64_t now_ms);

#endif
