/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The figures of a node, which Prometheus reads. */
#ifndef VQPD_METRICS_H
#define VQPD_METRICS_H

#include <stdio.h>

#include "vqpd.h"

/* vqp_http.metrics of vqpd, its owner. */
void vqp_metrics_put(void *vqpd, FILE *out);

#endif
