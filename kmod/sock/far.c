// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/slab.h>
#include "base/counters.h"
#include "ns/namespace.h"
#include "sock/far.h"
#include "sock/stream.h"
#include "sock/trunk.h"

void vqp_far_release(struct kref *ref)
{
	struct vqp_far *far = container_of(ref, struct vqp_far, ref);

	/* What is on its way yet is memory of the namespace's. */
	vqp_limit_uncharge(&far->s.ns->limits[VQP_LIMIT_STREAMS], 1);
	vqp_trunk_put(far->trunk);
	vqp_ns_put(far->s.ns);
	kfree(far);
	vqp_count_freed(VQP_OBJ_STREAM);
}

void vqp_far_put(struct vqp_far *far)
{
	kref_put(&far->ref, vqp_far_release);
}

int vqp_far_may(const struct vqp_ns *ns, const u8 *peer, u16 port)
{
	if (!vqp_ns_lets_sockets(ns, peer, port))
		return -EACCES;
	return READ_ONCE(ns->hub) && !READ_ONCE(ns->address.away) ? 0 : -EHOSTUNREACH;
}
