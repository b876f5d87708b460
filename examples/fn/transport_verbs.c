// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The transport over user-space verbs, with an RC queue pair and the quickest handshake possible.
 * The receiver's queue pair waits in INIT with its receive posted. Its number is in the target,
 * "ADDRESS UDP-PORT QPN", so that the sender can move its own queue pair on while its datagram with
 * its QPN is under way. A datagram comes back when the receiver is ready, after one round trip.
 *
 * RDMA_ADDRESS and RDMA_GID_INDEX are the node's RoCE v2 address and its index in the GID table.
 * They are configured, because to look them up takes time.
 */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VERBS_INLINE_BYTES	128	/* A payload of this size goes inline, unregistered. */
#define VERBS_RETRY_MS		100	/* the time after which a datagram is sent again */
#define VERBS_CONNECT_MS	8000
/* One second. With less, soft RoCE may fail a WRITE that it repeats on a slow machine. */
#define VERBS_TIMEOUT		18

static uint8_t verbs_gid_index(void)
{
	const char *text = getenv("RDMA_GID_INDEX");

	return text ? atoi(text) : 0;
}

static int transport_open_context(struct transport *t)
{
	struct ibv_device **list;

	memset(t, 0, sizeof(*t));
	t->handshake_fd = -1;
	list = ibv_get_device_list(NULL);
	if (!list)
		return transport_fail(t, "get_device_list");
	errno = ENODEV;
	if (list[0])
		t->context = ibv_open_device(list[0]);
	if (!t->context)
		transport_fail(t, "open_device");
	ibv_free_device_list(list);
	if (!t->context)
		return -1;
	t->pd = ibv_alloc_pd(t->context);
	if (!t->pd)
		return transport_fail(t, "alloc_pd");
	t->cq = ibv_create_cq(t->context, 2, NULL, NULL, 0);
	return t->cq ? 0 : transport_fail(t, "create_cq");
}

static int transport_register(struct transport *t)
{
	t->mr = ibv_reg_mr(t->pd, t->data, t->bytes, IBV_ACCESS_LOCAL_WRITE);
	return t->mr ? 0 : transport_fail(t, "reg_mr");
}

static int verbs_create_qp(struct transport *t, uint32_t sends, uint32_t receives)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = t->cq,
		.recv_cq = t->cq,
		.cap = {
			.max_send_wr = sends,
			.max_send_sge = sends,
			.max_recv_wr = receives,
			.max_recv_sge = receives,
			.max_inline_data = t->mr || !sends ? 0 : VERBS_INLINE_BYTES,
		},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	t->qp = ibv_create_qp(t->pd, &init);
	if (!t->qp)
		return transport_fail(t, "create_qp");
	errno = ibv_modify_qp(t->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			      IBV_QP_ACCESS_FLAGS);
	return errno ? transport_fail(t, "modify_qp to INIT") : 0;
}

static int verbs_ready_to_receive(struct transport *t, struct in_addr peer, uint32_t qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = qpn,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1,
			.grh = { .sgid_index = verbs_gid_index(), .hop_limit = 64 },
			.port_num = 1,
		},
	};

	/* The RoCE v2 GID of an IPv4 address is the address mapped into IPv6. */
	memset(&attr.ah_attr.grh.dgid.raw[10], 0xff, 2);
	memcpy(&attr.ah_attr.grh.dgid.raw[12], &peer, sizeof(peer));
	errno = ibv_modify_qp(t->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			      IBV_QP_MIN_RNR_TIMER);
	return errno ? transport_fail(t, "modify_qp to RTR") : 0;
}

static int verbs_ready_to_send(struct transport *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = VERBS_TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	errno = ibv_modify_qp(t->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	return errno ? transport_fail(t, "modify_qp to RTS") : 0;
}

int transport_open(struct transport *t, void *payload, size_t bytes)
{
	if (transport_open_context(t))
		return -1;
	t->data = payload;
	t->bytes = bytes;
	if (bytes <= VERBS_INLINE_BYTES)
		return 0;
	return transport_register(t);
}

int transport_listen(struct transport *t, size_t bytes, char target[TRANSPORT_TARGET_MAX])
{
	const char *own = getenv("RDMA_ADDRESS");
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t address_bytes = sizeof(address);

	if (transport_open_context(t))
		return -1;
	t->bytes = bytes;
	if (bytes) {
		t->owned = malloc(bytes);
		if (!t->owned)
			return transport_fail(t, "malloc");
		t->data = t->owned;
		if (transport_register(t))
			return -1;
	}
	if (verbs_create_qp(t, 0, 1) || transport_post_receive(t))
		return -1;
	errno = EINVAL;
	if (!own || !inet_aton(own, &address.sin_addr))
		return transport_fail(t, "RDMA_ADDRESS");
	t->handshake_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (t->handshake_fd < 0 ||
	    bind(t->handshake_fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(t->handshake_fd, (struct sockaddr *)&address, &address_bytes))
		return transport_fail(t, "handshake socket");
	snprintf(target, TRANSPORT_TARGET_MAX, "%s %u %u", own, ntohs(address.sin_port),
		 t->qp->qp_num);
	return 0;
}

/* Sends the question until the receiver answers that it is ready. */
static int verbs_await_ready(struct transport *t, uint32_t question)
{
	struct pollfd ready = { .fd = t->handshake_fd, .events = POLLIN };
	uint32_t answer;

	for (int waited = 0; waited < VERBS_CONNECT_MS; waited += VERBS_RETRY_MS) {
		if (poll(&ready, 1, VERBS_RETRY_MS) > 0 &&
		    recv(t->handshake_fd, &answer, sizeof(answer), 0) == sizeof(answer))
			return 0;
		if (send(t->handshake_fd, &question, sizeof(question), 0) < 0)
			return transport_fail(t, "handshake");
	}
	errno = ETIMEDOUT;
	return transport_fail(t, "handshake");
}

int transport_connect(struct transport *t, const char *target)
{
	struct sockaddr_in peer = { .sin_family = AF_INET };
	uint32_t question, qpn;
	char address[16];
	uint16_t port;

	if (sscanf(target, "%15s %hu %u", address, &port, &qpn) != 3 ||
	    !inet_aton(address, &peer.sin_addr)) {
		errno = EINVAL;
		return transport_fail(t, target);
	}
	peer.sin_port = htons(port);
	if (verbs_create_qp(t, 1, 0))
		return -1;
	t->handshake_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	question = t->qp->qp_num;
	if (t->handshake_fd < 0 ||
	    connect(t->handshake_fd, (struct sockaddr *)&peer, sizeof(peer)) ||
	    send(t->handshake_fd, &question, sizeof(question), 0) < 0)
		return transport_fail(t, "handshake");
	if (verbs_ready_to_receive(t, peer.sin_addr, qpn) || verbs_ready_to_send(t))
		return -1;
	return verbs_await_ready(t, question);
}

/* Answers a datagram of the handshake. A repeated one is only answered again. */
static int verbs_accept(struct transport *t)
{
	struct sockaddr_in peer;
	socklen_t peer_bytes = sizeof(peer);
	uint32_t qpn;

	if (recvfrom(t->handshake_fd, &qpn, sizeof(qpn), 0, (struct sockaddr *)&peer,
		     &peer_bytes) != sizeof(qpn))
		return transport_fail(t, "handshake");
	if (t->qp->state == IBV_QPS_INIT && verbs_ready_to_receive(t, peer.sin_addr, qpn))
		return -1;
	if (sendto(t->handshake_fd, &t->qp->qp_num, sizeof(t->qp->qp_num), 0,
		   (struct sockaddr *)&peer, peer_bytes) < 0)
		return transport_fail(t, "handshake");
	return 0;
}

/* Answers the handshake at once, and leaves the rest to the kernel. */
int transport_receive(struct transport *t, int timeout_ms)
{
	uint64_t deadline = transport_now_ns() + timeout_ms * 1000000ULL;
	const struct timespec nap = { .tv_nsec = TRANSPORT_RECEIVER_NAP_US * 1000 };
	struct pollfd question = { .fd = t->handshake_fd, .events = POLLIN };
	struct ibv_wc wc;
	int count;

	while (transport_now_ns() < deadline) {
		if (ppoll(&question, 1, &nap, NULL) > 0 && verbs_accept(t))
			return -1;
		count = transport_poll(t, &wc);
		if (count < 0)
			return -1;
		if (count) {
			t->bytes = wc.byte_len;
			return 0;
		}
	}
	errno = ETIMEDOUT;
	return transport_fail(t, "receive");
}

void transport_disconnect(struct transport *t)
{
	if (t->qp)
		ibv_destroy_qp(t->qp);
	t->qp = NULL;
	if (t->handshake_fd >= 0)
		close(t->handshake_fd);
	t->handshake_fd = -1;
}

void transport_close(struct transport *t)
{
	transport_disconnect(t);
	if (t->mr)
		ibv_dereg_mr(t->mr);
	if (t->cq)
		ibv_destroy_cq(t->cq);
	if (t->pd)
		ibv_dealloc_pd(t->pd);
	if (t->context)
		ibv_close_device(t->context);
	t->context = NULL;
	free(t->owned);
	t->owned = NULL;
}
