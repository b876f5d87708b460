/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The priorities of namespaces. While a namespace of a higher priority sends, and for a little
 * longer, flows of lower priorities yield: each has one packet in flight at most. A packet of the
 * higher priority then finds short queues at the lanes and targets, and all flows go on. The
 * host's own namespace stands outside: the kernel's calls and lookups, for which all tenants wait,
 * are its flows. They yield to none, and none yields to them.
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
