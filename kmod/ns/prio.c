// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/jiffies.h>
#include "ns/namespace.h"
#include "ns/prio.h"

/* This is longer than a round trip and the time that a function needs for its next request. */
#define PRIO_RECENT_MS	50

/* When namespaces of each priority last sent, in jiffies; accessed without a lock. */
static unsigned long prio_sent[VQP_PRIORITY_HIGH + 1];

/* Are the priorities of tenants the namespace's affair? */
static bool prio_concerns(const struct vqp_ns *ns)
{
	return ns->tenant != 0;
}

void vqp_prio_note(const struct vqp_ns *ns)
{
	unsigned long *sent = &prio_sent[READ_ONCE(ns->priority)];
	const unsigned long now = jiffies;

	if (!prio_concerns(ns))
		return;
	/* All processors share the cache line, so that it is written once in a tick at most. */
	if (READ_ONCE(*sent) != now)
		WRITE_ONCE(*sent, now);
}

bool vqp_prio_yields(const struct vqp_ns *ns)
{
	u32 higher = READ_ONCE(ns->priority);

	if (!prio_concerns(ns))
		return false;
	while (++higher <= VQP_PRIORITY_HIGH)
		if (time_before(jiffies, READ_ONCE(prio_sent[higher]) +
					 msecs_to_jiffies(PRIO_RECENT_MS)))
			return true;
	return false;
}
