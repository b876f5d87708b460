/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Adds whose namespace exists and whose client waits until others can find it. */
#ifndef VQPD_ADD_H
#define VQPD_ADD_H

#include "request.h"

#define VQP_ADD_WAIT_MS	2000

/*
 * Answer `client` as soon as a meta server has the entry; at once if none is
 * alive; when all refuse, with that error, the namespace being removed again if `made`;
 * otherwise after VQP_ADD_WAIT_MS: announcing then goes on in the background.
 */
void vqp_add_wait(struct vqpd *d, struct vqp_client *client, const struct vqp_request *request, bool made);

/* Answer those that can be answered. */
void vqp_add_settle(struct vqpd *d);

/* The client went away: what was made for it goes, unless another waits for it, since nobody knows that it is there. */
void vqp_add_cancel(struct vqpd *d, const struct vqp_client *client);

#endif
