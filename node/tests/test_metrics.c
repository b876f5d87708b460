/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* HTTP requests to vqpd, on a node without the module; and the figures of a meta server. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../metad/metrics.h"
#include "../vqpd/metrics.h"

const char vqp_version[] = "1.2.3";

/* What a module answers to STATUS_GET and NS_GET; NULL: none is loaded. */
static const char *module_status, *module_namespaces;

int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	(void)netlink;
	(void)attrs;
	if (!module_status)
		return -ENOPKG;
	assert_int_equal(cmd, VQP_CMD_STATUS_GET);
	*reply = unit_json(module_status);
	return 0;
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	(void)netlink;
	if (!module_namespaces)
		return -ENOPKG;
	assert_int_equal(cmd, VQP_CMD_NS_GET);
	*list = unit_json(module_namespaces);
	return 0;
}

static struct vqpd d;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(vqp_loop_init(&d.loop), 0);
	d.http.owner = &d;
	d.http.metrics = vqp_metrics_put;
	assert_int_equal(vqp_http_start(&d.http, &d.loop, "127.0.0.1:0", "9471"), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vqp_http_stop(&d.http);
	vqp_loop_exit(&d.loop);
	return 0;
}

/* Returns what comes until the connection ends. */
static const char *answer_to(const char *request)
{
	static char answer[4096];
	struct sockaddr_in addr = { 0 };
	socklen_t bytes = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t done = 0;
	ssize_t n;

	assert_int_equal(getsockname(MHD_get_daemon_info(d.http.daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd,
				     (struct sockaddr *)&addr, &bytes), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	do {
		d.http.watch.ready(&d.http.watch, EPOLLIN);
		n = recv(fd, answer + done, sizeof(answer) - done - 1, MSG_DONTWAIT);
		assert_true(n >= 0 || errno == EAGAIN);
		done += n > 0 ? n : 0;
	} while (n);
	close(fd);
	answer[done] = '\0';
	return answer;
}

static const char *ask(const char *method, const char *path)
{
	char request[256];

	snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n", method, path);
	return answer_to(request);
}

static void assert_status(const char *answer, const char *status)
{
	assert_int_equal(strncmp(answer, "HTTP/1.1 ", 9), 0);
	assert_int_equal(strncmp(answer + 9, status, 3), 0);
}

static const char *body(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

static void metrics_are_there(void **state)
{
	const char *answer = ask("GET", "/metrics");

	(void)state;
	assert_status(answer, "200");
	assert_non_null(strstr(body(answer), "\nvqp_module_loaded 0\n"));
}

static void health_is_asked_for_apart_from_figures(void **state)
{
	const char *answer = ask("GET", "/healthz");

	(void)state;
	assert_status(answer, "200");
	assert_string_equal(body(answer), "ok\n");
}

static void head_tells_all_but_the_text(void **state)
{
	static const char *const paths[] = { "/metrics", "/healthz" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *answer = ask("HEAD", paths[i]);

		assert_status(answer, "200");
		assert_non_null(strcasestr(answer, "\r\nContent-Length: "));
		assert_string_equal(body(answer), "");
	}
}

static void other_methods_and_paths_are_refused(void **state)
{
	const char *answer = ask("DELETE", "/metrics");

	(void)state;
	assert_status(answer, "405");
	assert_non_null(strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
	assert_status(ask("GET", "/other"), "404");
}

static void names_of_hosts_are_no_addresses(void **state)
{
	struct vqp_http other = { 0 };

	(void)state;
	assert_int_equal(vqp_http_start(&other, &d.loop, "localhost:0", "9471"), -EINVAL);
}

/* ---- namespaces ---- */

#define NAMESPACE(gid, fields)	"{\"tenant\":7,\"gid\":\"" gid "\",\"max_vqps\":\"unlimited\"" fields "}"
#define COUNTED(name, value)	"{\"name\":\"" name "\",\"value\":" value "}"

static void namespaces_tell_of_their_sockets(void **state)
{
	static const char *const expected[] = {
		"\n# TYPE vqp_namespace_streams gauge\nvqp_namespace_streams{tenant=\"7\",gid=\"10.1.0.2\"} 3\n# HELP",
		"\nvqp_namespace_trunks{tenant=\"7\",gid=\"10.1.0.2\"} 2\n",
		"\nvqp_namespace_stream_bytes{tenant=\"7\",gid=\"10.1.0.2\"} 8192\n",
		"\n# TYPE vqp_namespace_sock_near_total counter\nvqp_namespace_sock_near_total{tenant=\"7\",gid=\"10.1.0.2\"} 5\n# HELP",
		"\nvqp_namespace_sock_rx_bytes_total{tenant=\"7\",gid=\"10.1.0.2\"} 6000000000\n",
		"\nvqp_namespace_max_vqps{tenant=\"7\",gid=\"10.1.0.3\"} +Inf\n",
		NULL,
	};
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	module_status = "{\"counters\":[" COUNTED("sock_near", "9") "]}";
	/* The second is of a module that does not tell of sockets. */
	module_namespaces = "[" NAMESPACE("10.1.0.2", ",\"streams\":3,\"trunks\":2,\"stream_bytes\":8192,\"counters\":["
			    COUNTED("sock_near", "5") "," COUNTED("sock_rx_bytes", "6000000000") "]") ","
			    NAMESPACE("10.1.0.3", "") "]";
	vqp_metrics_put(&d, out);
	fclose(out);
	module_status = NULL;
	module_namespaces = NULL;
	for (int i = 0; expected[i]; i++)
		if (!strstr(text, expected[i]))
			fail_msg("no %s in %s", expected[i], text);
	free(text);
}

/* ---- a meta server ---- */

static void ask_meta(struct vqp_metad *metad, const char *text)
{
	json_t *request = unit_json(text);

	json_decref(vqp_metad_answer(metad, request, 1000));
	json_decref(request);
}

static void assert_figures(const struct vqp_metad *metad, const struct vqp_server *listener, const char *const *expected)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	vqp_metad_metrics_put(metad, listener, 93999, out);
	fclose(out);
	for (; *expected; expected++)
		if (!strstr(text, *expected))
			fail_msg("no %s in %s", *expected, text);
	free(text);
}

#define ASK(op, node, addresses)	"{\"op\":\"" op "\",\"lease_s\":30,\"node\":{\"node_gid\":\"" node "\",\"epoch\":5," \
					"\"qkey\":6,\"lanes\":[17]},\"entries\":[" addresses "]}"
#define ENTRY(address)			"{\"tenant\":1,\"gid\":\"" address "\"}"

static void a_meta_server_counts_what_nodes_ask(void **state)
{
	static struct vqp_bucket buckets[2];
	struct vqp_metad metad = { .started_ms = 3000, .refusals = 9 };
	struct vqp_server listener = { .count = 2, .handshakes_failed = 8 };

	(void)state;
	assert_int_equal(vqp_table_init(&metad.table, buckets, 2), 0);
	ask_meta(&metad, ASK("announce", "10.0.0.1", ENTRY("10.1.0.2") "," ENTRY("10.1.0.3") "," ENTRY("10.1.0.4")));
	ask_meta(&metad, ASK("announce", "10.0.0.2", ENTRY("10.1.0.2") "," ENTRY("10.1.0.5")));
	ask_meta(&metad, ASK("announce", "10.0.0.2", "{\"tenant\":1,\"gid\":\"10.1.0.3\",\"new\":true}"));
	ask_meta(&metad, ASK("withdraw", "10.0.0.1", ENTRY("10.1.0.4") "," ENTRY("10.1.0.5") "," ENTRY("10.1.0.9")));
	assert_figures(&metad, &listener, (const char *[]){
		"\nvqp_metad_info{version=\"1.2.3\"} 1\n",
		"\nvqp_metad_uptime_seconds 90\n",
		"\nvqp_metad_parent_up 0\n",
		"\n# TYPE vqp_metad_entries gauge\nvqp_metad_entries 3\n",
		"\nvqp_metad_entries_max 14\n",
		"\nvqp_metad_buckets 2\n",
		"\n# TYPE vqp_metad_takeovers_total counter\nvqp_metad_takeovers_total 1\n",
		"\nvqp_metad_announcements_total{result=\"taken\"} 5\n",
		"\nvqp_metad_announcements_total{result=\"refused\"} 1\n",
		"\nvqp_metad_withdrawals_total{result=\"taken\"} 1\n",
		"\nvqp_metad_withdrawals_total{result=\"refused\"} 2\n",
		"\nvqp_metad_refusals_total 9\n",
		"\nvqp_metad_connections{kind=\"proved\"} 2\n",
		"\nvqp_metad_connections{kind=\"stranger\"} 0\n",
		"\nvqp_metad_handshakes_failed_total 8\n",
		NULL,
	});
	vqp_table_exit(&metad.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(metrics_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(health_is_asked_for_apart_from_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(head_tells_all_but_the_text, setup, teardown),
		cmocka_unit_test_setup_teardown(other_methods_and_paths_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_hosts_are_no_addresses, setup, teardown),
		cmocka_unit_test(namespaces_tell_of_their_sockets),
		cmocka_unit_test(a_meta_server_counts_what_nodes_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
