// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A user of VQPs inside the kernel. Loaded in a network namespace, it opens the VQP namespace of
 * that and echoes what comes to `port`. If it is told of a `peer`, it sends messages to the echo
 * server there and checks what comes back. If it is told of a region of the peer's (`key`, `addr`),
 * it also writes the region and reads it back until rc has carried a request. Once the module is
 * loaded, all of that has succeeded, and `carriers` says what carried the requests.
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include "api/api.h"
#include "queue/recv.h"
#include "queue/send.h"
#include "queue/vqp.h"

#define CONSUMER_BYTES		1000U
#define CONSUMER_RECVS		8
#define CONSUMER_TIMEOUT	(10 * HZ)
#define CONSUMER_RC_TRIES	3000

static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "IPv4 address of an echo server");

static unsigned int port = 700;
module_param(port, uint, 0444);
MODULE_PARM_DESC(port, "of the peer's echo server, and of this one's");

static unsigned int count = 100;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "messages to send");

static unsigned int key;
module_param(key, uint, 0444);
MODULE_PARM_DESC(key, "of a region of the peer's");

static unsigned long addr;
module_param(addr, ulong, 0444);
MODULE_PARM_DESC(addr, "of that region");

static unsigned int carriers;
module_param(carriers, uint, 0444);
MODULE_PARM_DESC(carriers, "bits of the enum vqp_carrier of what carried requests");

static struct vqp_owner owner;

/* ---- Requests ---- */

struct request {
	struct completion done;
	u32 status;
	u8 data[CONSUMER_BYTES];
	struct vqp_send send;		/* last: ends in a flexible array */
};

static void request_done(struct vqp_send *send, u32 status)
{
	struct request *request = container_of(send, struct request, send);

	request->status = status;
	complete(&request->done);
}

/* Post a request about request->data, and wait until it is over. */
static int request_do(struct vqp *vqp, struct request *request, u32 opcode, u8 op)
{
	struct vqp_query_qp q;
	LIST_HEAD(sends);
	int ret;

	init_completion(&request->done);
	request->send = (struct vqp_send) {
		.opcode = opcode,
		.kbuf = request->data,
		.done = request_done,
		.msg = { .op = op, .bytes = CONSUMER_BYTES, .remote_addr = addr, .rkey = key },
	};
	list_add(&request->send.msg.link, &sends);
	ret = vqp_send_queue(vqp, &sends, 1);
	if (ret < 0)
		return ret;
	/* It ends in any case: a peer that is silent fails it. */
	wait_for_completion(&request->done);
	vqp_query(vqp, &q);
	carriers |= BIT(q.carrier);
	return request->status ? -EIO : 0;
}

/* ---- The echo server ---- */

struct message {
	struct work_struct work;
	u32 src_qp;
	u8 src_gid[VQP_GID_BYTES];
	struct request echo;
	u8 data[CONSUMER_BYTES];
	struct vqp_recv recv;		/* last: ends in a flexible array */
};

static struct vqp *server;
static struct workqueue_struct *server_wq;

static void message_post(struct message *message)
{
	if (vqp_recv_post(server, &message->recv))
		kfree(message);
	else
		vqp_recv_wake(server);
}

static void message_echo(struct work_struct *work)
{
	struct message *message = container_of(work, struct message, work);
	struct vqp *reply = vqp_accept(server, message->src_gid, message->src_qp);

	if (!IS_ERR(reply)) {
		memcpy(message->echo.data, message->data, CONSUMER_BYTES);
		if (request_do(reply, &message->echo, VQP_WR_SEND, VQP_OP_SEND))
			pr_warn("vqp-consumer: the client is gone\n");
		vqp_destroy(reply);
		vqp_put(reply);
	}
	message_post(message);
}

static void message_received(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	struct message *message = container_of(recv, struct message, recv);

	if (!info) {
		kfree(message);
		return;
	}
	message->src_qp = info->src_qp;
	memcpy(message->src_gid, info->src_gid, VQP_GID_BYTES);
	queue_work(server_wq, &message->work);
}

static int server_start(void)
{
	const struct vqp_init_attr attr = {
		.on_recv = message_received,
		.max_send_wr = 1,
		.max_recv_wr = CONSUMER_RECVS,
	};
	struct message *message;
	u32 bound = port;
	int i, ret;

	server = vqp_create(&owner, &attr);
	if (IS_ERR(server))
		return PTR_ERR(server);
	ret = vqp_bind(server, &bound);
	for (i = 0; i < CONSUMER_RECVS && !ret; i++) {
		message = kzalloc(sizeof(*message), GFP_KERNEL);
		if (!message)
			return -ENOMEM;
		INIT_WORK(&message->work, message_echo);
		message->recv.kbuf = message->data;
		message->recv.bytes = CONSUMER_BYTES;
		message_post(message);
	}
	return ret;
}

/* ---- The client ---- */

struct client {
	struct vqp *vqp;
	struct request request, read;
	struct completion echoed;
	u8 echo[CONSUMER_BYTES];
	struct vqp_recv recv;		/* last: ends in a flexible array */
};

static void client_received(struct vqp_recv *recv, const struct vqp_recv_info *info)
{
	if (info)
		complete(&container_of(recv, struct client, recv)->echoed);
}

static int client_echo(struct client *client)
{
	int ret;

	client->recv = (struct vqp_recv) { .kbuf = client->echo, .bytes = CONSUMER_BYTES };
	ret = vqp_recv_post(client->vqp, &client->recv);
	if (ret)
		return ret;
	vqp_recv_wake(client->vqp);
	ret = request_do(client->vqp, &client->request, VQP_WR_SEND, VQP_OP_SEND);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&client->echoed, CONSUMER_TIMEOUT))
		return -ETIMEDOUT;
	return memcmp(client->echo, client->request.data, CONSUMER_BYTES) ? -EBADMSG : 0;
}

/* Write the peer's region and read it back. */
static int client_write(struct client *client)
{
	int ret;

	ret = request_do(client->vqp, &client->request, VQP_WR_RDMA_WRITE, VQP_OP_WRITE);
	if (!ret)
		ret = request_do(client->vqp, &client->read, VQP_WR_RDMA_READ, VQP_OP_READ);
	if (ret)
		return ret;
	return memcmp(client->read.data, client->request.data, CONSUMER_BYTES) ? -EBADMSG : 0;
}

static int client_talk(struct client *client)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		memset(client->request.data, i, CONSUMER_BYTES);
		ret = client_echo(client);
	}
	if (!key)
		return ret;
	for (i = 0; i < CONSUMER_RC_TRIES && !ret && !(carriers & BIT(VQP_CARRIER_RC)); i++) {
		memset(client->request.data, i, CONSUMER_BYTES);
		ret = client_write(client);
	}
	return ret;
}

static int client_run(void)
{
	const struct vqp_init_attr attr = {
		.on_recv = client_received,
		.max_send_wr = 1,
		.max_recv_wr = 1,
	};
	struct client *client;
	struct in6_addr gid;
	__be32 v4;
	int ret;

	if (!in4_pton(peer, -1, (u8 *)&v4, -1, NULL))
		return -EINVAL;
	ipv6_addr_set_v4mapped(v4, &gid);
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return -ENOMEM;
	init_completion(&client->echoed);
	client->vqp = vqp_create(&owner, &attr);
	ret = PTR_ERR_OR_ZERO(client->vqp);
	if (!ret) {
		ret = vqp_connect(client->vqp, gid.s6_addr, port) ?: client_talk(client);
		vqp_destroy(client->vqp);
		vqp_put(client->vqp);
	}
	kfree(client);
	return ret;
}

/* ---- The module ---- */

static void consumer_stop(void)
{
	if (!IS_ERR_OR_NULL(server))
		vqp_destroy(server);
	/* What is being echoed finds the server ended, and frees its message. */
	destroy_workqueue(server_wq);
	if (!IS_ERR_OR_NULL(server))
		vqp_put(server);
	vqp_close(&owner);
}

static int __init consumer_init(void)
{
	int ret;

	/* Ordered: messages come back in the order in which they came. */
	server_wq = alloc_ordered_workqueue("vqp_consumer", 0);
	if (!server_wq)
		return -ENOMEM;
	vqp_owner_init(&owner);
	ret = vqp_open(&owner, current->nsproxy->net_ns, NULL) ?: server_start();
	if (!ret && peer)
		ret = client_run();
	if (ret)
		consumer_stop();
	return ret;
}

module_init(consumer_init);
module_exit(consumer_stop);
MODULE_DESCRIPTION("A user of VQPs inside the kernel, for tests");
MODULE_LICENSE("Dual BSD/GPL");
