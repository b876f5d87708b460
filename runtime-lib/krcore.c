// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <vqp/krcore.h>

static int check_port(int port)
{
	return port < 0 || port > UINT16_MAX ? -EINVAL : 0;
}

int qbind(struct ibv_qp *qp, union ibv_gid gid, int port)
{
	union ibv_gid own;
	int ret;

	ret = check_port(port);
	if (ret)
		return ret;
	vqp_gid(qp->context, &own);
	if (memcmp(&own, &gid, sizeof(gid)))
		return -EADDRNOTAVAIL;
	ret = vqp_bind(qp, (uint16_t)port);
	return ret < 0 ? ret : 0;
}

int qconnect(struct ibv_qp *qp, union ibv_gid gid, int port)
{
	int err = check_port(port);

	return err ? err : vqp_connect(qp, &gid, (uint16_t)port);
}

int qpop_msgs(struct ibv_qp *qp, int num_entries, struct ibv_qp **src_qp, struct ibv_wc *wc)
{
	return vqp_pop_msgs(qp, num_entries, src_qp, wc);
}
