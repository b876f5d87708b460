// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static struct vqp_cq *qp_cq(struct ibv_cq *cq)
{
	return vqp_container(cq, struct vqp_cq, verbs);
}

struct vqp_qp *vqp_qp_new(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	struct vqp_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->verbs.context = pd->context;
	qp->verbs.pd = pd;
	qp->verbs.qp_context = attr->qp_context;
	qp->verbs.send_cq = attr->send_cq;
	qp->verbs.recv_cq = attr->recv_cq;
	qp->verbs.qp_type = attr->qp_type;
	qp->verbs.state = IBV_QPS_INIT;
	qp->max_inline = attr->cap.max_inline_data;
	pthread_mutex_init(&qp->verbs.mutex, NULL);
	return qp;
}

void vqp_qp_link(struct vqp_qp *qp, uint32_t qp_num)
{
	struct vqp_context *ctx = vqp_container(qp->verbs.context, struct vqp_context, verbs);

	qp->verbs.qp_num = qp_num;
	qp->verbs.handle = qp_num;
	__atomic_add_fetch(&qp_cq(qp->verbs.send_cq)->users, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&qp_cq(qp->verbs.recv_cq)->users, 1, __ATOMIC_RELAXED);
	vqp_context_link(qp->verbs.context, &ctx->qps, &qp->link);
}

void vqp_qp_free(struct vqp_qp *qp)
{
	pthread_mutex_destroy(&qp->verbs.mutex);
	free(qp->replies);
	free(qp);
}

static int check_init_attr(const struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	if (attr->qp_type != VQP_QPT_VQP && attr->qp_type != IBV_QPT_RC)
		return -EINVAL;
	if (attr->srq || !attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (attr->send_cq->context != pd->context || attr->recv_cq->context != pd->context)
		return -EINVAL;
	if (attr->cap.max_inline_data > VQP_MAX_INLINE_BYTES)
		return -EINVAL;
	return 0;
}

struct ibv_qp *vqp_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct vqp_create_qp create;
	struct vqp_qp *qp;
	int err;

	err = check_init_attr(pd, attr);
	if (err)
		return vqp_null(err);
	qp = vqp_qp_new(pd, attr);
	if (!qp)
		return NULL;
	create = (struct vqp_create_qp) {
		.send_cq_fd = qp_cq(attr->send_cq)->fd,
		.recv_cq_fd = qp_cq(attr->recv_cq)->fd,
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = attr->cap.max_recv_wr,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = attr->cap.max_recv_sge,
		.flags = attr->sq_sig_all ? VQP_QP_SQ_SIG_ALL : 0,
	};
	err = vqp_ioctl(pd->context, VQP_IOC_CREATE_QP, &create);
	if (err) {
		vqp_qp_free(qp);
		return vqp_null(err);
	}
	vqp_qp_link(qp, create.qp_num);
	return &qp->verbs;
}

int vqp_destroy_qp(struct ibv_qp *ibqp)
{
	struct vqp_qp *qp = vqp_container(ibqp, struct vqp_qp, verbs);
	struct vqp_destroy_qp destroy = { .qp_num = ibqp->qp_num };
	int err;

	err = vqp_msgs_destroy_replies(qp);
	if (err)
		return err;
	err = vqp_ioctl(ibqp->context, VQP_IOC_DESTROY_QP, &destroy);
	if (err)
		return err;
	if (qp->bound)
		vqp_msgs_forget(qp);
	__atomic_sub_fetch(&qp_cq(ibqp->send_cq)->users, 1, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&qp_cq(ibqp->recv_cq)->users, 1, __ATOMIC_RELEASE);
	vqp_context_unlink(ibqp->context, &qp->link);
	vqp_qp_free(qp);
	return 0;
}

int vqp_bind(struct ibv_qp *qp, uint16_t port)
{
	struct vqp_bind bind = { .qp_num = qp->qp_num, .port = port };
	int err;

	err = vqp_ioctl(qp->context, VQP_IOC_BIND, &bind);
	if (err)
		return err;
	qp->state = IBV_QPS_RTR;
	return (int)bind.port;
}

int vqp_connect(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t port)
{
	struct vqp_connect connect = { .qp_num = qp->qp_num, .port = port };
	int err;

	memcpy(connect.gid, gid->raw, sizeof(connect.gid));
	err = vqp_ioctl(qp->context, VQP_IOC_CONNECT, &connect);
	if (err)
		return err;
	qp->state = IBV_QPS_RTS;
	return 0;
}

int vqp_connect_addr(struct ibv_qp *qp, const char *address, uint16_t port)
{
	union ibv_gid gid;
	int err;

	err = vqp_parse_gid(address, &gid);
	return err ? err : vqp_connect(qp, &gid, port);
}
