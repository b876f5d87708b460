/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>

#include "../http.h"
#include "metrics.h"

/* Writes the counters that have `field` as one metric with a label. */
static void put_counters(FILE *out, const json_t *counters, const char *field,
			 const char *name, const char *label, const char *what)
{
	const json_t *counter;
	size_t i;

	vqp_http_describe(out, name, "counter", what);
	json_array_foreach(counters, i, counter) {
		const json_t *value = json_object_get(counter, field);

		if (value)
			fprintf(out, "%s{%s=\"%s\"} %lld\n", name, label,
				json_string_value(json_object_get(counter, "name")),
				(long long)json_integer_value(value));
	}
}

/* Begins a line about a namespace. */
static void put_namespace(FILE *out, const json_t *item, const char *name)
{
	fprintf(out, "%s{tenant=\"%lld\",gid=\"%s\"} ", name,
		(long long)json_integer_value(json_object_get(item, "tenant")),
		json_string_value(json_object_get(item, "gid")));
}

static void put_namespaces(FILE *out, const json_t *list, const char *field, const char *name, const char *what)
{
	const json_t *item;
	size_t i;

	vqp_http_describe(out, name, "gauge", what);
	json_array_foreach(list, i, item) {
		const json_t *value = json_object_get(item, field);

		if (!value)
			continue;	/* The module is of an earlier version. */
		put_namespace(out, item, name);
		if (json_is_integer(value))
			fprintf(out, "%lld\n", (long long)json_integer_value(value));
		else
			fputs("+Inf\n", out);	/* The limit is "unlimited". */
	}
}

/* Writes one of the counters that the kernel has for each namespace. */
static void put_namespace_counter(FILE *out, const json_t *list, const char *counter, const char *what)
{
	const json_t *item, *counted;
	char name[64];
	size_t i, j;

	snprintf(name, sizeof(name), "vqp_namespace_%s_total", counter);
	vqp_http_describe(out, name, "counter", what);
	json_array_foreach(list, i, item)
		json_array_foreach(json_object_get(item, "counters"), j, counted)
			if (!strcmp(json_string_value(json_object_get(counted, "name")), counter)) {
				put_namespace(out, item, name);
				fprintf(out, "%lld\n",
					(long long)json_integer_value(json_object_get(counted, "value")));
			}
}

/* What stream sockets have and have done. */
static void put_sockets(FILE *out, const json_t *list)
{
	static const struct { const char *name, *what; } counters[] = {
		{ "sock_near", "Stream sockets of a namespace that got a connection within the node." },
		{ "sock_far", "Stream sockets of a namespace that got a connection to another node by vqp." },
		{ "sock_tcp", "Stream sockets of a namespace that connect by TCP, or accepted what did." },
		{ "sock_ruled_out", "Connections of stream sockets that are TCP's since sockets are off or rules say so." },
		{ "sock_broken", "Connections by vqp that broke while a stream socket had them." },
		{ "sock_tx_bytes", "Bytes that a namespace's stream sockets sent by vqp." },
		{ "sock_rx_bytes", "Bytes that came to a namespace's stream sockets by vqp." },
	};

	put_namespaces(out, list, "streams", "vqp_namespace_streams", "Connections of its stream sockets by vqp.");
	put_namespaces(out, list, "trunks", "vqp_namespace_trunks", "Addresses on other nodes that these lead to, or led to; at most 256.");
	put_namespaces(out, list, "stream_bytes", "vqp_namespace_stream_bytes", "What these hold of the memory that all namespaces share.");
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		put_namespace_counter(out, list, counters[i].name, counters[i].what);
}

static void put_metas(FILE *out, const struct vqpd *d)
{
	vqp_http_describe(out, "vqp_meta_up", "gauge", "Whether a meta server answers.");
	for (unsigned int i = 0; i < d->nmetas; i++)
		fprintf(out, "vqp_meta_up{server=\"%s\"} %d\n", d->metas[i].name, d->metas[i].state == VQP_META_UP);
}

void vqp_metrics_put(void *vqpd, FILE *out)
{
	struct vqpd *d = vqpd;
	json_auto_t *status = NULL, *list = NULL;
	bool module = !vqp_netlink_do(&d->netlink, VQP_CMD_STATUS_GET, NULL, &status);
	const json_t *counters = json_object_get(status, "counters");

	vqp_http_number(out, "vqp_module_loaded", "gauge", "Whether the kernel module is there.", module);
	put_metas(out, d);
	if (!module || vqp_netlink_dump(&d->netlink, VQP_CMD_NS_GET, &list))
		return;
	vqp_http_number(out, "vqp_parent_up", "gauge", "Whether an RDMA device is there.",
			json_object_get(status, "parent") != NULL);
	vqp_http_number(out, "vqp_pool_bytes", "gauge", "Memory of the fixed pool.",
			json_integer_value(json_object_get(status, "pool_bytes")));
	put_counters(out, counters, "made", "vqp_objects_made_total", "object", "Kernel objects made.");
	put_counters(out, counters, "freed", "vqp_objects_freed_total", "object", "Kernel objects freed.");
	put_counters(out, counters, "value", "vqp_events_total", "event", "Events.");
	put_namespaces(out, list, "vqps", "vqp_namespace_vqps", "VQPs of a namespace.");
	put_namespaces(out, list, "mrs", "vqp_namespace_mrs", "Memory regions of a namespace.");
	put_namespaces(out, list, "contexts", "vqp_namespace_contexts", "Open contexts of a namespace.");
	put_namespaces(out, list, "max_vqps", "vqp_namespace_max_vqps", "Limit of its VQPs, or +Inf.");
	put_namespaces(out, list, "max_mrs", "vqp_namespace_max_mrs", "Limit of its memory regions, or +Inf.");
	put_namespaces(out, list, "max_bytes", "vqp_namespace_max_bytes", "Limit of its pinned bytes, or +Inf.");
	put_namespaces(out, list, "max_rate", "vqp_namespace_max_rate", "Bytes that it may send per second, or +Inf.");
	put_namespaces(out, list, "priority", "vqp_namespace_priority", "1: low, 2: normal, 3: high.");
	put_namespaces(out, list, "pinned_bytes", "vqp_namespace_pinned_bytes", "Pages that a namespace's regions pin, and of its arenas.");
	put_sockets(out, list);
}
