/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prometheus metrics over HTTP, and /healthz, served from vqpd's own loop. */
#ifndef VQPD_METRICS_H
#define VQPD_METRICS_H

#include "vqpd.h"

/* Listens on ADDR:PORT, as vqp_server_bind_tcp() does; [::] is IPv6 alone. 0 or a negative errno value. */
int vqp_metrics_start(struct vqpd *d, const char *addr);

/* Is called from time to time: lets connections time out. */
void vqp_metrics_tick(struct vqpd *d);

void vqp_metrics_stop(struct vqpd *d);

#endif
