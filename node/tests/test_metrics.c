/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* HTTP requests to vqpd, on a node without the module. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "../vqpd/metrics.h"

int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	(void)netlink;
	(void)cmd;
	(void)attrs;
	(void)reply;
	return -ENOPKG;
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	(void)netlink;
	(void)cmd;
	(void)list;
	return -ENOPKG;
}

static struct vqpd d;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(vqp_loop_init(&d.loop), 0);
	assert_int_equal(vqp_metrics_start(&d, "127.0.0.1:0"), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vqp_metrics_stop(&d);
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

	assert_int_equal(getsockname(MHD_get_daemon_info(d.metrics, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd,
				     (struct sockaddr *)&addr, &bytes), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	do {
		d.metrics_watch.ready(&d.metrics_watch, EPOLLIN);
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
	struct vqpd other = { 0 };

	(void)state;
	assert_int_equal(vqp_metrics_start(&other, "localhost:0"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(metrics_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(health_is_asked_for_apart_from_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(head_tells_all_but_the_text, setup, teardown),
		cmocka_unit_test_setup_teardown(other_methods_and_paths_are_refused, setup, teardown),
		cmocka_unit_test(names_of_hosts_are_no_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
