// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Latencies as a function sees them: medians of --count rounds, in microseconds, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "vqpt.h"

#define LAT_CONNECTS	64
#define LAT_BATCH	32

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_us(uint64_t *ns, uint32_t count)
{
	qsort(ns, count, sizeof(*ns), by_value);
	return (double)ns[count / 2] / 1000;
}

static double lat_query(struct vqpt_conn *conn, uint64_t *ns, uint32_t count)
{
	struct vqp_query query;
	uint64_t start;
	uint32_t i;

	for (i = 0; i < count; i++) {
		query = (struct vqp_query) { 0 };
		start = vqpt_now_ns();
		if (ioctl(conn->context->cmd_fd, VQP_IOC_QUERY, &query))
			vqpt_die(errno, "VQP_IOC_QUERY");
		ns[i] = vqpt_now_ns() - start;
	}
	return median_us(ns, count);
}

static double lat_connect(struct vqpt_conn *conn, char **args, uint64_t *ns)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = conn->send_cq, .recv_cq = conn->recv_cq, .cap = { 4, 4, 1, 1, 0 }, .qp_type = VQP_QPT_VQP,
	};
	struct ibv_qp *qps[LAT_CONNECTS];
	union ibv_gid gid;
	uint64_t start;
	int i, err;

	vqp_parse_gid(args[0], &gid);
	for (i = 0; i < LAT_CONNECTS; i++) {
		qps[i] = vqp_create_qp(vqp_pd(conn->context), &attr);
		if (!qps[i])
			vqpt_die(errno, "vqp_create_qp");
	}
	for (i = 0; i < LAT_CONNECTS; i++) {
		start = vqpt_now_ns();
		err = vqp_connect(qps[i], &gid, (uint16_t)vqpt_number(args[1], UINT16_MAX));
		ns[i] = vqpt_now_ns() - start;
		if (err)
			vqpt_die(err, "vqp_connect");
	}
	for (i = 0; i < LAT_CONNECTS; i++)
		vqp_destroy_qp(qps[i]);
	return median_us(ns, LAT_CONNECTS);
}

static void spin(struct vqpt_conn *conn)
{
	uint64_t end = vqpt_now_ns() + (uint64_t)conn->timeout_ms * 1000000;
	struct ibv_wc wc;

	while (!ibv_poll_cq(conn->send_cq, 1, &wc)) {
		if (vqpt_now_ns() > end)
			vqpt_die(ETIMEDOUT, "no completion");
	}
	if (wc.status != IBV_WC_SUCCESS)
		vqpt_die(0, "completed with status %d", wc.status);
}

/* Requests of 8 bytes in lists of `list`, the last signaled; time per request. */
static double lat_post(struct vqpt_conn *conn, char **args, enum ibv_wr_opcode opcode, uint32_t list,
		       uint64_t *ns, uint32_t count)
{
	struct ibv_sge sge = { .addr = (uintptr_t)conn->memory, .length = 8, .lkey = conn->mr->lkey };
	struct ibv_send_wr wrs[LAT_BATCH];
	uint64_t start;
	uint32_t i;

	for (i = 0; i < list; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.next = i + 1 < list ? &wrs[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = i + 1 < list ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma = {
				.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX),
				.remote_addr = vqpt_number(args[3], UINT64_MAX),
			},
		};
	}
	for (i = 0; i < count; i++) {
		start = vqpt_now_ns();
		vqpt_conn_post_send(conn->qp, wrs);
		spin(conn);
		ns[i] = (vqpt_now_ns() - start) / list;
	}
	return median_us(ns, count);
}

int vqpt_lat_measure(const struct vqpt_options *options, char **args)
{
	struct vqpt_options o = *options;
	uint32_t count = o.count < LAT_CONNECTS ? LAT_CONNECTS : o.count;
	uint64_t *ns = malloc(count * sizeof(*ns)), start;
	struct vqpt_conn conn;

	if (!ns)
		vqpt_die(ENOMEM, "memory for %u rounds", count);
	o.list = LAT_BATCH;
	start = vqpt_now_ns();
	conn = vqpt_conn_open(&o, 8, IBV_ACCESS_LOCAL_WRITE);
	printf("{\"open_us\":%.2f", (double)(vqpt_now_ns() - start) / 1000);
	start = vqpt_now_ns();
	vqpt_conn_to(&conn, args[0], args[1]);
	printf(",\"first_connect_us\":%.2f", (double)(vqpt_now_ns() - start) / 1000);
	printf(",\"empty_ioctl_us\":%.2f", lat_query(&conn, ns, count));
	printf(",\"connect_us\":%.2f", lat_connect(&conn, args, ns));
	printf(",\"read_us\":%.2f", lat_post(&conn, args, IBV_WR_RDMA_READ, 1, ns, count));
	printf(",\"write_us\":%.2f", lat_post(&conn, args, IBV_WR_RDMA_WRITE, 1, ns, count));
	printf(",\"send_us\":%.2f", lat_post(&conn, args, IBV_WR_SEND, 1, ns, count));
	printf(",\"read_batch_us\":%.2f,\"batch\":%d}\n",
	       lat_post(&conn, args, IBV_WR_RDMA_READ, LAT_BATCH, ns, count), LAT_BATCH);
	vqpt_conn_close(&conn);
	free(ns);
	return 0;
}
