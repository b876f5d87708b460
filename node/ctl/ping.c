/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The command vqpctl ping: WRITEs of no bytes, which the target's kernel acknowledges. Neither a
 * process nor memory of the target takes part.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include <vqp/vqp.h>

#include "../../common/cleanup.h"
#include "../../common/netns.h"
#include "ctl.h"

#define ANY_PORT 1	/* WRITEs do not reach the port. */
#define REPLY_MS 10000	/* The kernel gives up a silent peer before. */

struct ping {
	const struct ctl_args *args;
	const char *address;
	struct ibv_context *context;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static int enter_netns(const struct ctl_args *args)
{
	cleanup_close int fd = -1;

	if (!args->netns)
		return 0;
	fd = vqp_netns_open_named(args->netns);
	if (fd < 0)
		return ctl_fail(args, fd, "--netns %s: %s", args->netns,
				fd == -EINVAL ? "no network namespace" : strerror(-fd));
	if (setns(fd, CLONE_NEWNET))
		return ctl_fail(args, errno, "cannot enter %s: %s", args->netns, strerror(errno));
	return 0;
}

static int fail_open(const struct ctl_args *args)
{
	switch (errno) {
	case ENOENT:
		return ctl_fail(args, ENOPKG, "no vqp module loaded: modprobe vqp");
	case ENONET:
		return ctl_fail(args, ENONET, "this network namespace has no VQP namespace: vqpctl ns add");
	case EPERM:
	case EACCES:
		return ctl_fail(args, EPERM, "pinging between nodes needs CAP_NET_ADMIN: run as root");
	default:
		return ctl_fail(args, errno, "cannot open /dev/vqp: %s", strerror(errno));
	}
}

static int open_objects(struct ping *ping)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = VQP_QPT_VQP,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	ping->context = vqp_open();
	if (!ping->context)
		return fail_open(ping->args);
	ping->cq = vqp_create_cq(ping->context, 2, NULL);
	if (ping->cq) {
		attr.send_cq = attr.recv_cq = ping->cq;
		ping->qp = vqp_create_qp(vqp_pd(ping->context), &attr);
	}
	return ping->qp ? 0 : ctl_fail(ping->args, errno, "cannot make a VQP: %s", strerror(errno));
}

static int connect_to(const struct ping *ping)
{
	union ibv_gid gid;
	int ret;

	if (vqp_parse_gid(ping->address, &gid))
		return ctl_fail(ping->args, EINVAL, "'%s' is no literal IPv4 or IPv6 address", ping->address);
	ret = vqp_connect(ping->qp, &gid, ANY_PORT);
	switch (ret) {
	case 0:
		return 0;
	case -EHOSTUNREACH:
		return ctl_fail(ping->args, ret, "nobody of this tenant has the address %s", ping->address);
	case -ETIMEDOUT:
		return ctl_fail(ping->args, ret, "no meta server answered: vqpctl status, vqpctl meta list");
	case -ENETDOWN:
		return ctl_fail(ping->args, ret, "no RDMA device on this node: rdma link");
	default:
		return ctl_fail(ping->args, ret, "cannot connect to %s: %s", ping->address, strerror(-ret));
	}
}

static const char *status_text(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "no answer";
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
		return "the target refused";
	default:
		return "failed";
	}
}

/* Measures one round trip, *us. 0 or the exit status. */
static int write_nothing(const struct ping *ping, double *us)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;
	double start = now_us();
	struct ibv_wc wc;
	int ret = ibv_post_send(ping->qp, &wr, &bad), n;

	if (ret)
		return ctl_fail(ping->args, ret, "cannot post: %s", strerror(ret));
	n = vqp_cq_wait(ping->cq, REPLY_MS);
	if (n > 0)
		n = ibv_poll_cq(ping->cq, 1, &wc);
	*us = now_us() - start;
	if (n <= 0)
		return ctl_fail(ping->args, n ? n : ETIMEDOUT, "%s: no completion within %d s", ping->address, REPLY_MS / 1000);
	if (wc.status != IBV_WC_SUCCESS)
		return ctl_fail(ping->args, wc.status == IBV_WC_RETRY_EXC_ERR ? ETIMEDOUT : EPROTO,
				"%s: %s (status %d)", ping->address, status_text(wc.status), wc.status);
	return 0;
}

static int report(const struct ping *ping, double connect_us, const double *us, uint32_t count)
{
	double min = us[0], max = us[0], sum = 0;
	json_t *list;

	for (uint32_t i = 0; i < count; i++) {
		min = us[i] < min ? us[i] : min;
		max = us[i] > max ? us[i] : max;
		sum += us[i];
	}
	if (!ping->args->json) {
		printf("connect %.1f us; round trip min %.1f us, avg %.1f us, max %.1f us\n",
		       connect_us, min, sum / count, max);
		return 0;
	}
	list = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, json_real(us[i]));
	return ctl_print_json(json_pack("{s:b, s:s, s:f, s:o, s:f, s:f, s:f}", "ok", 1, "address", ping->address,
					"connect_us", connect_us, "round_trips_us", list,
					"min_us", min, "avg_us", sum / count, "max_us", max));
}

static int run(struct ping *ping)
{
	uint32_t count = ping->args->count;
	cleanup_free double *us = calloc(count, sizeof(*us));
	double start, connect_us;
	int ret;

	if (!us)
		return ctl_fail(ping->args, ENOMEM, "out of memory");
	ret = open_objects(ping);
	if (!ping->qp)
		return ret;
	start = now_us();
	ret = connect_to(ping);
	connect_us = now_us() - start;
	for (uint32_t i = 0; i < count && !ret; i++) {
		ret = write_nothing(ping, &us[i]);
		if (!ret && !ping->args->json)
			printf("%s: %u: %.1f us\n", ping->address, i + 1, us[i]);
	}
	return ret ? ret : report(ping, connect_us, us, count);
}

int ctl_ping(const struct ctl_args *args)
{
	struct ping ping = { .args = args, .address = args->words[0] };
	int ret = enter_netns(args);

	if (!ret)
		ret = run(&ping);
	if (ping.context)
		vqp_close(ping.context);
	return ret;
}
