// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "link.h"

#include <errno.h>
#include <vqp/vqp.h>

static int link_vqp_open(struct link *link, struct link_address *own)
{
	struct ibv_qp_init_attr attr;
	int port = 0;

	link->context = vqp_open();
	if (!link->context)
		return link_fail("vqp_open");
	link->pd = vqp_pd(link->context);
	link->cq = vqp_create_cq(link->context, 3 * LINK_DEPTH, NULL);
	if (!link->cq)
		return link_fail("vqp_create_cq");
	link->mr = vqp_reg_mr(link->pd, link->memory, LINK_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!link->mr)
		return link_fail("vqp_reg_mr");
	attr = link_qp_init_attr(link, VQP_QPT_VQP);
	link->qp = vqp_create_qp(link->pd, &attr);
	if (!link->qp)
		return link_fail("vqp_create_qp");
	if (link->serves)
		port = vqp_bind(link->qp, 0);
	errno = port < 0 ? -port : -vqp_gid(link->context, &own->gid);
	own->number = port;
	return errno ? link_fail("vqp_bind") : 0;
}

static int link_vqp_connect(struct link *link)
{
	/* Who is bound is found by its port. */
	if (link->serves)
		return 0;
	errno = -vqp_connect(link->qp, &link->peer.gid, link->peer.number);
	return errno ? link_fail("vqp_connect") : 0;
}

static void link_vqp_close(struct link *link)
{
	if (link->context)
		vqp_close(link->context);
}

const struct link_kind link_vqp = {
	.name = "vqp",
	.open = link_vqp_open,
	.connect = link_vqp_connect,
	.close = link_vqp_close,
};
