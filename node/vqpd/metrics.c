/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics.h"

#define DEFAULT_PORT	"9471"
#define CONNECTIONS_MAX	32
#define TIMEOUT_S	10

static void put(FILE *out, const char *name, const char *type, const char *what)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, what, name, type);
}

static void put_number(FILE *out, const char *name, const char *type, const char *what, json_int_t number)
{
	put(out, name, type, what);
	fprintf(out, "%s %lld\n", name, (long long)number);
}

/* Writes the counters that have `field` as one metric with a label. */
static void put_counters(FILE *out, const json_t *counters, const char *field,
			 const char *name, const char *label, const char *what)
{
	const json_t *counter;
	size_t i;

	put(out, name, "counter", what);
	json_array_foreach(counters, i, counter) {
		const json_t *value = json_object_get(counter, field);

		if (value)
			fprintf(out, "%s{%s=\"%s\"} %lld\n", name, label,
				json_string_value(json_object_get(counter, "name")),
				(long long)json_integer_value(value));
	}
}

static void put_namespaces(FILE *out, const json_t *list, const char *field, const char *name, const char *what)
{
	const json_t *item;
	size_t i;

	put(out, name, "gauge", what);
	json_array_foreach(list, i, item) {
		const json_t *value = json_object_get(item, field);

		fprintf(out, "%s{tenant=\"%lld\",gid=\"%s\"} ", name,
			(long long)json_integer_value(json_object_get(item, "tenant")),
			json_string_value(json_object_get(item, "gid")));
		if (json_is_integer(value))
			fprintf(out, "%lld\n", (long long)json_integer_value(value));
		else
			fputs("+Inf\n", out);	/* The limit is "unlimited". */
	}
}

static void put_metas(FILE *out, const struct vqpd *d)
{
	put(out, "vqp_meta_up", "gauge", "Whether a meta server answers.");
	for (unsigned int i = 0; i < d->nmetas; i++)
		fprintf(out, "vqp_meta_up{server=\"%s\"} %d\n", d->metas[i].name, d->metas[i].state == VQP_META_UP);
}

static void put_all(FILE *out, struct vqpd *d)
{
	json_auto_t *status = NULL, *list = NULL;
	bool module = !vqp_netlink_do(&d->netlink, VQP_CMD_STATUS_GET, NULL, &status);
	const json_t *counters = json_object_get(status, "counters");

	put_number(out, "vqp_module_loaded", "gauge", "Whether the kernel module is there.", module);
	put_metas(out, d);
	if (!module || vqp_netlink_dump(&d->netlink, VQP_CMD_NS_GET, &list))
		return;
	put_number(out, "vqp_parent_up", "gauge", "Whether an RDMA device is there.",
		   json_object_get(status, "parent") != NULL);
	put_number(out, "vqp_pool_bytes", "gauge", "Memory of the fixed pool.",
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
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned int status, char *text, size_t bytes)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result serve(void *data, struct MHD_Connection *connection, const char *url, const char *method,
			     const char *version, const char *upload, size_t *upload_bytes, void **state)
{
	unsigned int status = MHD_HTTP_OK;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)version, (void)upload, (void)upload_bytes, (void)state;
	if (!out)
		return MHD_NO;
	/* For HEAD the library leaves the text out. */
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		fputs("GET and HEAD only\n", out);
	} else if (!strcmp(url, "/metrics")) {
		put_all(out, data);
	} else if (!strcmp(url, "/healthz")) {
		fputs("ok\n", out);
	} else {
		status = MHD_HTTP_NOT_FOUND;
		fputs("metrics are at /metrics, and whether vqpd serves at /healthz\n", out);
	}
	if (fclose(out)) {
		free(text);
		return MHD_NO;
	}
	return respond(connection, status, text, bytes);
}

static void ready(struct vqp_watch *watch, uint32_t events)
{
	struct vqpd *d = (struct vqpd *)((char *)watch - offsetof(struct vqpd, metrics_watch));

	(void)events;
	MHD_run(d->metrics);
}

int vqp_metrics_start(struct vqpd *d, const char *addr)
{
	int fd = vqp_server_bind_tcp(addr, DEFAULT_PORT, true);

	if (fd < 0)
		return fd;
	if (listen(fd, SOMAXCONN)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	errno = 0;
	d->metrics = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, serve, d, MHD_OPTION_LISTEN_SOCKET, fd,
				      MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
				      MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_END);
	if (!d->metrics)
		return errno ? -errno : -EIO;	/* vqpd ends, and the socket with it. */
	d->metrics_watch.fd = MHD_get_daemon_info(d->metrics, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	d->metrics_watch.ready = ready;
	return vqp_loop_add(&d->loop, &d->metrics_watch, EPOLLIN);
}

void vqp_metrics_tick(struct vqpd *d)
{
	if (d->metrics)
		MHD_run(d->metrics);
}

void vqp_metrics_stop(struct vqpd *d)
{
	if (!d->metrics)
		return;
	vqp_loop_remove(&d->loop, &d->metrics_watch);
	MHD_stop_daemon(d->metrics);
}
