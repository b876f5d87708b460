// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <string.h>
#include "ud.h"

static void *need(void *object, const char *what)
{
	if (!object)
		err(1, "%s", what);
	return object;
}

/* The device and GID index of an address. */
static int open_device(struct ud *ud, const u8 *from)
{
	struct ibv_device **list = need(ibv_get_device_list(NULL), "ibv_get_device_list");
	union ibv_gid gid;
	int i, index;

	for (i = 0; list[i]; i++) {
		ud->context = need(ibv_open_device(list[i]), "ibv_open_device");
		for (index = 0; !ibv_query_gid(ud->context, 1, index, &gid); index++) {
			if (!memcmp(gid.raw, from, sizeof(gid))) {
				ibv_free_device_list(list);
				return index;
			}
		}
		ibv_close_device(ud->context);
	}
	errx(1, "no RDMA device has the address to send from");
}

static void modify(struct ud *ud, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1, .qkey = ud->qkey };

	errno = ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE | mask);
	if (errno)
		err(1, "ibv_modify_qp");
}

static void post_receive(struct ud *ud, u32 slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)ud->recv[slot], .length = sizeof(ud->recv[slot]), .lkey = ud->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(ud->qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_recv");
}

void ud_open(struct ud *ud, const u8 *from, const u8 *to, u32 qkey)
{
	int index = open_device(ud, from);
	struct ibv_ah_attr ah = {
		.is_global = 1, .port_num = 1, .grh = { .sgid_index = (u8)index, .hop_limit = 64 },
	};
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = UD_SLOTS, .max_recv_wr = UD_SLOTS, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	u32 i;

	memcpy(ah.grh.dgid.raw, to, sizeof(ah.grh.dgid));
	ud->qkey = qkey;
	ud->pd = need(ibv_alloc_pd(ud->context), "ibv_alloc_pd");
	ud->mr = need(ibv_reg_mr(ud->pd, ud, sizeof(*ud), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
	ud->send_cq = init.send_cq = need(ibv_create_cq(ud->context, UD_SLOTS, NULL, NULL, 0), "ibv_create_cq");
	ud->recv_cq = init.recv_cq = need(ibv_create_cq(ud->context, UD_SLOTS, NULL, NULL, 0), "ibv_create_cq");
	ud->ah = need(ibv_create_ah(ud->pd, &ah), "ibv_create_ah");
	ud->qp = need(ibv_create_qp(ud->pd, &init), "ibv_create_qp");
	modify(ud, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	modify(ud, IBV_QPS_RTR, 0);
	modify(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	for (i = 0; i < UD_SLOTS; i++)
		post_receive(ud, i);
}

void ud_send(struct ud *ud, u32 qpn, u32 qkey, const void *buf, u32 bytes)
{
	u32 slot = ud->sent % UD_SLOTS;
	struct ibv_sge sge = { .addr = (uintptr_t)ud->send[slot], .length = bytes, .lkey = ud->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ud->ah, .remote_qpn = qpn, .remote_qkey = qkey },
	}, *bad;
	struct ibv_wc wc;
	int n;

	while (ud->sent - ud->done == UD_SLOTS) {
		n = ibv_poll_cq(ud->send_cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
			errx(1, "a packet could not be sent: %s", n < 0 ? "poll_cq" : ibv_wc_status_str(wc.status));
		ud->done += (u32)n;
	}
	memcpy(ud->send[slot], buf, bytes);
	errno = ibv_post_send(ud->qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
	ud->sent++;
}

u32 ud_receive(struct ud *ud, const u8 **at)
{
	static u8 packet[UD_BYTES];
	struct ibv_wc wc;
	u32 bytes = 0;

	if (ibv_poll_cq(ud->recv_cq, 1, &wc) != 1)
		return 0;
	if (wc.status == IBV_WC_SUCCESS && wc.byte_len > UD_GRH_BYTES) {
		bytes = wc.byte_len - UD_GRH_BYTES;
		memcpy(packet, ud->recv[wc.wr_id] + UD_GRH_BYTES, bytes);
	}
	post_receive(ud, (u32)wc.wr_id);
	*at = packet;
	return bytes;
}
