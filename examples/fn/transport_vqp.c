// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transport over virtual queue pairs. The target is "ADDRESS PORT". The receiver's process
 * takes no part in connecting, so that the sender need not wait for it.
 */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <vqp/vqp.h>

/* A payload of this size goes inline, and needs no registered memory. */
#define VQP_INLINE_BYTES	1024

static int transport_open_context(struct transport *t)
{
	memset(t, 0, sizeof(*t));
	t->handshake_fd = -1;
	t->context = vqp_open();
	if (!t->context)
		return transport_fail(t, "vqp_open");
	t->pd = vqp_pd(t->context);
	t->cq = vqp_create_cq(t->context, 2, NULL);
	return t->cq ? 0 : transport_fail(t, "vqp_create_cq");
}

/* Allocates arena memory, which does not count for a function's 64 KiB of locked memory. */
static int transport_alloc(struct transport *t, size_t bytes)
{
	t->owned = vqp_alloc(t->context, bytes);
	if (!t->owned)
		return transport_fail(t, "vqp_alloc");
	t->owned_bytes = bytes;
	t->data = t->owned;
	t->mr = vqp_reg_mr(t->pd, t->data, bytes, IBV_ACCESS_LOCAL_WRITE);
	return t->mr ? 0 : transport_fail(t, "vqp_reg_mr");
}

static int transport_create_qp(struct transport *t, uint32_t sends, uint32_t receives)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = VQP_QPT_VQP,
		.send_cq = t->cq,
		.recv_cq = t->cq,
		.cap = {
			.max_send_wr = sends,
			.max_send_sge = sends,
			.max_recv_wr = receives,
			.max_recv_sge = receives,
			.max_inline_data = sends ? VQP_INLINE_BYTES : 0,
		},
	};

	t->qp = vqp_create_qp(t->pd, &attr);
	return t->qp ? 0 : transport_fail(t, "vqp_create_qp");
}

int transport_open(struct transport *t, void *payload, size_t bytes)
{
	if (transport_open_context(t))
		return -1;
	t->bytes = bytes;
	if (bytes <= VQP_INLINE_BYTES) {
		t->data = payload;
		return 0;
	}
	if (transport_alloc(t, bytes))
		return -1;
	memcpy(t->data, payload, bytes);
	return 0;
}

int transport_listen(struct transport *t, size_t bytes, char target[TRANSPORT_TARGET_MAX])
{
	char address[INET6_ADDRSTRLEN];
	union ibv_gid gid;
	int port;

	if (transport_open_context(t))
		return -1;
	t->bytes = bytes;
	if (bytes && transport_alloc(t, bytes))
		return -1;
	if (transport_create_qp(t, 0, 1) || transport_post_receive(t))
		return -1;
	port = vqp_bind(t->qp, 0);
	if (port < 0) {
		errno = -port;
		return transport_fail(t, "vqp_bind");
	}
	errno = -vqp_gid(t->context, &gid);
	if (errno)
		return transport_fail(t, "vqp_gid");
	snprintf(target, TRANSPORT_TARGET_MAX, "%s %d",
		 inet_ntop(AF_INET6, gid.raw, address, sizeof(address)), port);
	return 0;
}

int transport_connect(struct transport *t, const char *target)
{
	char address[INET6_ADDRSTRLEN];
	unsigned int port;
	int ret;

	if (sscanf(target, "%45s %u", address, &port) != 2) {
		errno = EINVAL;
		return transport_fail(t, target);
	}
	if (transport_create_qp(t, 1, 0))
		return -1;
	ret = vqp_connect_addr(t->qp, address, port);
	if (ret) {
		errno = -ret;
		return transport_fail(t, "vqp_connect");
	}
	return 0;
}

int transport_receive(struct transport *t, int timeout_ms)
{
	struct ibv_wc wc;

	if (transport_await(t, &wc, TRANSPORT_RECEIVER_NAP_US, timeout_ms))
		return -1;
	t->bytes = wc.byte_len;
	return 0;
}

void transport_disconnect(struct transport *t)
{
	if (t->qp)
		vqp_destroy_qp(t->qp);
	t->qp = NULL;
}

void transport_close(struct transport *t)
{
	transport_disconnect(t);
	if (t->context)
		vqp_close(t->context);
	t->context = NULL;
	if (t->owned)
		vqp_free(t->owned, t->owned_bytes);
	t->owned = NULL;
}
