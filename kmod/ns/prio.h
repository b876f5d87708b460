/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Priorities of namespaces. While a higher one sends, and for a little longer,
 * the flows of lower ones yield: each has one packet under way at a time, so that
 * neither the lanes nor the targets' queues are long when a packet of the higher one
 * comes, and all go on. Otherwise nobody is held back.
 */
#ifndef VQP_NS_PRIO_H
#define VQP_NS_PRIO_H

#include <linux/types.h>

struct vqp_ns;

/* A VQP of ns sends something. */
void vqp_prio_note(const struct vqp_ns *ns);

/* Does a namespace of a higher priority than ns send? */
bool vqp_prio_yields(const struct vqp_ns *ns);

#endif
