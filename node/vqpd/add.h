/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ADDs whose VQP namespace exists, and whose client waits until other nodes can find it. */
#ifndef VQPD_ADD_H
#define VQPD_ADD_H

#include "request.h"

#define VQP_ADD_WAIT_MS	2000

/*
 * Answers `client` as soon as a meta server has the entry, or at once if no meta server is alive.
 * If all refuse, the answer is their error, and the namespace is removed again if it was `made`.
 * Otherwise the answer comes after VQP_ADD_WAIT_MS, and vqpd goes on announcing in the background.
 */
void vqp_add_wait(struct vqpd *d, struct vqp_client *client, const struct vqp_request *request, bool made);

/* Answers all clients that can be answered now. */
void vqp_add_settle(struct vqpd *d);

/*
 * The client has gone: removes the namespace that was made for it, unless another client waits for
 * that, because no client has learned of it.
 */
void vqp_add_cancel(struct vqpd *d, const struct vqp_client *client);

#endif
