// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/bug.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/wait_bit.h>
#include "base/trace.h"
#include "queue/carrier.h"
#include "queue/vqp.h"

#define CARRIERS_MAX	4

static const struct vqp_carrier_ops *carriers[CARRIERS_MAX] __ro_after_init;
static u32 ncarriers __ro_after_init;

void __init vqp_carrier_register(const struct vqp_carrier_ops *ops)
{
	if (!WARN_ON(ncarriers == CARRIERS_MAX))
		carriers[ncarriers++] = ops;
}

/* Define vqp_carriers_OP(), which calls vqp_carrier_ops.OP of each carrier that has it. */
#define CARRIERS_CALL(op)						\
void vqp_carriers_##op(struct vqp *vqp)					\
{									\
	u32 i;								\
									\
	for (i = 0; i < ncarriers; i++)					\
		if (carriers[i]->op)					\
			carriers[i]->op(vqp);				\
}

CARRIERS_CALL(init)
CARRIERS_CALL(release)
CARRIERS_CALL(detach)
CARRIERS_CALL(forget)
CARRIERS_CALL(break_recvs)

const struct vqp_carrier_ops *vqp_carrier_wanting(struct vqp *vqp, struct vqp_send *send)
{
	u32 i;

	for (i = 0; i < ncarriers; i++)
		if (carriers[i]->wants && carriers[i]->wants(vqp, send))
			return carriers[i];
	return NULL;
}

void vqp_carrier_attach(struct vqp *vqp, const struct vqp_carrier_ops *ops)
{
	u32 i;

	lockdep_assert_held(&vqp->lock);
	/* Accelerators come first: a request that they have begun is later than the carrier's. */
	for (i = 0; vqp->carrier && i < ncarriers; i++)
		if (carriers[i]->wants && carriers[i]->leave)
			carriers[i]->leave(vqp);
	if (vqp->carrier)
		vqp->carrier->leave(vqp);
	trace_vqp_carrier(vqp->ns->tenant, vqp->qp_num, vqp->shown_carrier, ops->id, 0);
	WRITE_ONCE(vqp->carrier, ops);
	vqp->shown_carrier = ops->id;
	vqp->state = VQP_QP_CONNECTED;
}

void vqp_carrier_close(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	if (vqp->carrier && vqp->carrier->close)
		vqp->carrier->close(vqp);
}

void vqp_carrier_hold(struct vqp *vqp, const struct vqp_carrier_ops *ops)
{
	lockdep_assert_held(&vqp->lock);
	vqp->holder = ops;
	vqp->held++;
}

void vqp_carrier_unhold(struct vqp *vqp)
{
	lockdep_assert_held(&vqp->lock);
	if (!--vqp->held && vqp->silent) {
		smp_mb();	/* Order the store before wake_up_var() looks for waiters. */
		wake_up_var(&vqp->held);
	}
}

bool vqp_carrier_is_alone(const struct vqp *vqp, const struct vqp_carrier_ops *ops)
{
	lockdep_assert_held(&vqp->lock);
	return (ops == vqp->carrier || vqp->carrier->idle(vqp)) &&
	       (!vqp->held || vqp->holder == ops);
}
