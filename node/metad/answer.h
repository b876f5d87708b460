/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The requests that vqp-metad answers (see PROTOCOL.md). */
#ifndef VQP_METAD_ANSWER_H
#define VQP_METAD_ANSWER_H

#include <jansson.h>

#include "../log_limit.h"
#include "table.h"

#define VQP_METAD_LEASE_MAX_S	3600

struct vqp_metad {
	struct vqp_table table;
	json_t *hello;		/* what nodes need to READ the table; NULL without an RDMA device */
	uint64_t started_ms;
	/* how many entries of requests were announced, withdrawn, or neither */
	uint64_t announced, announced_refused, withdrawn, withdrawn_refused;
	uint64_t takeovers;	/* how many entries a node took over from another */
	uint64_t refusals;	/* how many requests were refused, lines and clients that were no good included */
	struct vqp_log_limit log;	/* limits the log of these */
};

/* Returns the answer to an object, which any node may have sent; NULL without memory. */
json_t *vqp_metad_answer(struct vqp_metad *metad, const json_t *request, uint64_t now_ms);

#endif
