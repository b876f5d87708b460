/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The figures of a meta server, which Prometheus reads. */
#ifndef VQP_METAD_METRICS_H
#define VQP_METAD_METRICS_H

#include <stdio.h>

#include "../server.h"
#include "answer.h"

/* Writes them, those of connections of `listener`, which nodes announce to. */
void vqp_metad_metrics_put(const struct vqp_metad *metad, const struct vqp_server *listener, uint64_t now_ms, FILE *out);

#endif
