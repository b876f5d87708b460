// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Over user-space verbs: an RC queue pair on the device that VQP_DEVICE names, or the first, with all that makes one fast. */
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINK_READS	128	/* READs under way; more than soft RoCE allows is refused */
/* A second. Nothing is lost, and soft RoCE may fail a WRITE that it repeats because the machine was slow. */
#define LINK_TIMEOUT	18

/* The place of the GID that is this node's IPv4 address on RoCE v2, or -1. */
static int link_verbs_gid(struct ibv_context *context, union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;

	for (int i = 0; !ibv_query_gid_ex(context, 1, i, &entry, 0); i++) {
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && !memcmp(entry.gid.raw, mapped, sizeof(mapped))) {
			*gid = entry.gid;
			return i;
		}
	}
	errno = ENODATA;
	return link_fail("no GID of an IPv4 address");
}

/* The one that is named, for machines with several. */
static struct ibv_device *link_choose_device(struct ibv_device **list)
{
	const char *name = getenv("VQP_DEVICE");

	for (; *list; list++)
		if (!name || !strcmp(ibv_get_device_name(*list), name))
			break;
	return *list;
}

static int link_verbs_open_device(struct link *link)
{
	struct ibv_device *device;
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return link_fail("get_device_list");
	errno = ENODEV;
	device = link_choose_device(list);
	if (device)
		link->context = ibv_open_device(device);
	ibv_free_device_list(list);
	return link->context ? 0 : link_fail("open_device");
}

static int link_verbs_create_qp(struct link *link)
{
	struct ibv_qp_init_attr init = link_qp_init_attr(link, IBV_QPT_RC);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	link->qp = ibv_create_qp(link->pd, &init);
	if (!link->qp)
		return link_fail("create_qp");
	errno = ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			      IBV_QP_ACCESS_FLAGS);
	return errno ? link_fail("modify_qp to INIT") : 0;
}

static int link_verbs_open(struct link *link, struct link_address *own)
{
	if (link_verbs_open_device(link) || link_verbs_gid(link->context, &own->gid) < 0)
		return -1;
	link->pd = ibv_alloc_pd(link->context);
	if (!link->pd)
		return link_fail("alloc_pd");
	link->cq = ibv_create_cq(link->context, 3 * LINK_DEPTH, NULL, NULL, 0);
	if (!link->cq)
		return link_fail("create_cq");
	link->mr = ibv_reg_mr(link->pd, link->memory, LINK_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!link->mr)
		return link_fail("reg_mr");
	if (link_verbs_create_qp(link))
		return -1;
	own->number = link->qp->qp_num;
	return 0;
}

static int link_verbs_connect(struct link *link)
{
	union ibv_gid own;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = link->peer.number,
		.max_dest_rd_atomic = LINK_READS,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = link->peer.gid,
				.sgid_index = link_verbs_gid(link->context, &own),
				.hop_limit = 64,
			},
		},
	};

	errno = ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			      IBV_QP_MIN_RNR_TIMER);
	if (errno)
		return link_fail("modify_qp to RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = LINK_TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = LINK_READS,
	};
	errno = ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	return errno ? link_fail("modify_qp to RTS") : 0;
}

static void link_verbs_close(struct link *link)
{
	if (link->qp)
		ibv_destroy_qp(link->qp);
	if (link->mr)
		ibv_dereg_mr(link->mr);
	if (link->cq)
		ibv_destroy_cq(link->cq);
	if (link->pd)
		ibv_dealloc_pd(link->pd);
	if (link->context)
		ibv_close_device(link->context);
}

const struct link_kind link_verbs = {
	.name = "verbs",
	.open = link_verbs_open,
	.connect = link_verbs_connect,
	.close = link_verbs_close,
};
