/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Priorities of namespaces. While a higher one sends, and for a little longer,
 * the flows of lower ones yield: each has one packet under way at a time, so that
 * neither the lanes nor the targets' queues are long when a packet of the higher one
 * comes, and all go on. Otherwise nobody is held back.
 */
#ifndef VQP_PRIO_H
#define VQP_PRIO_H

#include <linux/types.h>

struct vqp;

/* vqp sends something. */
void vqp_prio_note(const struct vqp *vqp);

/* Does a higher one send? Then vqp keeps off rc, where nobody knows how long the queues are. */
bool vqp_prio_yields(const struct vqp *vqp);

/* Around what may send packets of vqp over dc; both under vqp.lock. */
void vqp_prio_begin(struct vqp *vqp);
void vqp_prio_end(struct vqp *vqp);

#endif
