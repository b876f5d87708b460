// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/workqueue.h>
#include "base/counters.h"
#include "dc/dc.h"
#include "meta/client.h"
#include "ns/namespace.h"
#include "queue/vqp.h"

/* Functions' work waits for answers to these VQPs, and so has another workqueue. */
static struct workqueue_struct *client_wq;

/* What it looked up, or was told, is stale: its user will know better. */
static void client_lose(struct vqp *vqp)
{
	if (!vqp_is_lost(vqp))
		return;
	vqp_count_event(VQP_EV_STALE);
	vqp_fail(vqp, VQP_WC_RETRY_EXC_ERR);
}

static void client_work(struct work_struct *work)
{
	struct vqp *vqp = container_of(work, struct vqp, work);

	if (test_and_clear_bit(VQP_TODO_FLUSH, &vqp->todo))
		vqp_fail(vqp, VQP_WC_WR_FLUSH_ERR);
	if (test_and_clear_bit(VQP_TODO_REROUTE, &vqp->todo))
		client_lose(vqp);
	vqp_put(vqp);
}

static struct vqp *client_alloc(struct vqp_ns *ns)
{
	struct vqp *vqp = vqp_alloc(&ns->kernel);

	if (!IS_ERR(vqp)) {
		/*
		 * The work has a lockdep class of its own. A function's work looks addresses up,
		 * and so takes the locks under which this VQP is made and destroyed; the work of
		 * this VQP looks nothing up.
		 */
		INIT_WORK(&vqp->work, client_work);
		vqp->wq = client_wq;
	}
	return vqp;
}

struct vqp *vqp_client_make(struct vqp_ns *ns, const u8 *gid)
{
	struct vqp *vqp = client_alloc(ns);

	if (!IS_ERR(vqp)) {
		vqp->max_send_wr = VQP_MAX_WR;
		memcpy(vqp->remote_gid, gid, VQP_GID_BYTES);
	}
	return vqp;
}

struct vqp *vqp_client_connect(struct vqp_ns *ns, const u8 *gid, const struct vqp_dct *dct)
{
	struct vqp *vqp = vqp_client_make(ns, gid);
	int ret;

	if (IS_ERR(vqp))
		return vqp;
	ret = vqp_dc_attach(vqp, dct);
	if (ret) {
		vqp_teardown(vqp);
		return ERR_PTR(ret);
	}
	return vqp;
}

struct vqp *vqp_client_listen(struct vqp_ns *ns,
			      void (*on_recv)(struct vqp_recv *recv,
					      const struct vqp_recv_info *info),
			      u32 max_recv_wr)
{
	struct vqp *vqp = client_alloc(ns);
	int ret;

	if (IS_ERR(vqp))
		return vqp;
	vqp->on_recv = on_recv;
	vqp->max_recv_wr = max_recv_wr;
	vqp->state = VQP_QP_BOUND;
	ret = xa_insert(&ns->ports, 0, vqp, GFP_KERNEL);
	if (ret) {
		vqp_teardown(vqp);
		return ERR_PTR(ret);
	}
	return vqp;
}

int __init vqp_client_init(void)
{
	client_wq = alloc_workqueue("vqp_kernel", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return client_wq ? 0 : -ENOMEM;
}

void vqp_client_exit(void)
{
	destroy_workqueue(client_wq);
}
