/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The commands vqpctl status, pool, vqps, peers, ss and cache. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "../../common/client.h"
#include "ctl.h"

static json_int_t number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *string(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "-";
}

static void print_node(const json_t *status)
{
	if (json_object_get(status, "parent"))
		printf("parent      %s, %s, UD payload %lld bytes\n", string(status, "parent"),
		       string(status, "node_gid"), (long long)number(status, "mtu"));
	else
		printf("parent      none: no RDMA device is there (rdma link)\n");
	printf("epoch       %lld\n", (long long)number(status, "epoch"));
	printf("pool        %zu lanes, %lld bytes\n", json_array_size(json_object_get(status, "lanes")),
	       (long long)number(status, "pool_bytes"));
	printf("hook        %s\n", !strcmp(string(status, "hook"), "refused")
	       ? "refused by this kernel: programs get stream sockets of vqp by number or by vqp-run"
	       : string(status, "hook"));
}

static void print_vqpd(const json_t *vqpd)
{
	const json_t *meta;
	size_t i;

	if (!json_is_true(json_object_get(vqpd, "ok"))) {
		printf("vqpd        %s\n", string(vqpd, "error"));
		return;
	}
	printf("vqpd        running, %lld namespaces\n", (long long)number(vqpd, "namespaces"));
	json_array_foreach(json_object_get(vqpd, "meta"), i, meta) {
		const char *state = json_is_true(json_object_get(meta, "up")) ? "up" : "down";
		const char *error = json_string_value(json_object_get(meta, "error"));

		printf("meta        %s, %s%s%s\n", string(meta, "server"), state, error ? ": " : "", error ? error : "");
	}
}

static void print_counters(const json_t *counters)
{
	const json_t *counter;
	size_t i;

	json_array_foreach(counters, i, counter) {
		if (json_object_get(counter, "value"))
			printf("%-28s %lld\n", string(counter, "name"), (long long)number(counter, "value"));
		else
			printf("%-28s %lld made, %lld freed\n", string(counter, "name"),
			       (long long)number(counter, "made"), (long long)number(counter, "freed"));
	}
}

/* Returns vqpd's status, or the reason why there is none, which is no error here. */
static json_t *ask_vqpd(const struct ctl_args *args)
{
	json_auto_t *request = json_pack("{s:s}", "op", "status");
	cleanup_error struct vqp_error error = { 0 };
	json_t *reply;

	if (vqpd_call(args->socket, request, -1, &reply, &error))
		reply = json_pack("{s:b, s:s}", "ok", 0, "error", vqp_error_text(&error));
	return reply;
}

int ctl_status(const struct ctl_args *args)
{
	json_t *status;
	int ret = ctl_do(args, VQP_CMD_STATUS_GET, NULL, &status);

	if (ret)
		return ret;
	json_object_set_new(status, "vqpd", ask_vqpd(args));
	if (args->json)
		return ctl_print_json(status);
	print_node(status);
	print_vqpd(json_object_get(status, "vqpd"));
	print_counters(json_object_get(status, "counters"));
	json_decref(status);
	return 0;
}

int ctl_pool(const struct ctl_args *args)
{
	static const char *const names[] = { "parent", "mtu", "pool_bytes", "lanes", "qkey" };
	json_auto_t *status = NULL;
	json_t *pool;
	int ret = ctl_do(args, VQP_CMD_STATUS_GET, NULL, &status);

	if (ret)
		return ret;
	pool = json_object();
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (json_object_get(status, names[i]))
			json_object_set(pool, names[i], json_object_get(status, names[i]));
	if (args->json)
		return ctl_print_json(pool);
	return ctl_print_table(args, json_pack("[o]", pool), (const struct ctl_column[]){
		{ "parent", "PARENT" }, { "mtu", "PAYLOAD" }, { "pool_bytes", "BYTES" }, { "lanes", "LANES" }, { 0 },
	});
}

static int dump_table(const struct ctl_args *args, enum vqp_cmd cmd, const struct ctl_column *columns)
{
	json_t *list;
	int ret = ctl_dump(args, cmd, &list);

	return ret ? ret : ctl_print_table(args, list, columns);
}

int ctl_vqps(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "tenant", "TENANT" }, { "gid", "ADDRESS" }, { "qp_num", "VQP" }, { "state", "STATE" },
		{ "carrier", "CARRIER" }, { "port", "PORT" }, { "remote_gid", "PEER" }, { "remote_port", "PEER-PORT" },
		{ "sends_pending", "SENDS" }, { "recvs_pending", "RECVS" }, { "tx_msgs", "TX" }, { "rx_msgs", "RX" },
		{ 0 },
	};

	return dump_table(args, VQP_CMD_VQP_GET, columns);
}

int ctl_peers(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "node_gid", "NODE" }, { "epoch", "EPOCH" },
		{ "tx_packets", "TX-PACKETS" }, { "rx_packets", "RX-PACKETS" }, { 0 },
	};

	return dump_table(args, VQP_CMD_PEER_GET, columns);
}

int ctl_ss(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "kind", "KIND" }, { "tcp_state", "STATE" }, { "recv_queue", "RECV-Q" }, { "send_queue", "SEND-Q" },
		{ "gid", "ADDRESS" }, { "port", "PORT" }, { "remote_gid", "PEER" }, { "remote_port", "PEER-PORT" },
		{ "tx_bytes", "TX" }, { "rx_bytes", "RX" }, { "window", "WINDOW" }, { "resent", "RESENT" },
		{ "node_gid", "NODE" }, { "flow", "FLOW" }, { "tenant", "TENANT" }, { "netns_ino", "NETNS" }, { 0 },
	};

	return dump_table(args, VQP_CMD_SOCK_GET, columns);
}

int ctl_cache_list(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "tenant", "TENANT" }, { "gid", "ADDRESS" }, { "node_gid", "NODE" }, { 0 },
	};

	return dump_table(args, VQP_CMD_CACHE_GET, columns);
}

int ctl_cache_flush(const struct ctl_args *args)
{
	json_auto_t *request = json_object();
	int ret = args->has_tenant || args->address ? ctl_put_key(args, request) : 0;

	if (!ret)
		ret = ctl_do(args, VQP_CMD_CACHE_FLUSH, request, NULL);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_pack("{s:b}", "ok", 1));
}
