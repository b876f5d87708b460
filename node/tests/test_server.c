/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../server.h"
#include "turn.h"

/* A server that echoes, keeps "later" waiting and stops at nothing. */
struct fixture {
	struct vqp_loop loop;
	struct vqp_server server;
	struct vqp_client *waiting;
	unsigned int gone;
	char directory[64], path[128];
};

static void serve(struct vqp_client *client, json_t *request)
{
	struct fixture *f = client->server->owner;

	if (json_object_get(request, "later"))
		f->waiting = client;
	else
		vqp_server_answer(client, json_copy(request));
}

static void gone(struct vqp_client *client)
{
	struct fixture *f = client->server->owner;

	f->gone++;
	f->waiting = NULL;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/vqp-test-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/run/sock", f->directory);
	assert_int_equal(vqp_loop_init(&f->loop), 0);
	f->server.owner = f;
	f->server.request = serve;
	f->server.gone = gone;
	assert_int_equal(vqp_server_listen_unix(&f->server, &f->loop, f->path), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vqp_server_exit(&f->server);
	vqp_loop_exit(&f->loop);
	unlink(f->path);
	*strrchr(f->path, '/') = '\0';
	rmdir(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

/* Handle everything there is to handle now. */
static void turn(struct fixture *f)
{
	unit_turn(&f->loop, 0);
}

static int join(struct fixture *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	turn(f);
	return fd;
}

static void say(struct fixture *f, int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	turn(f);
}

static void assert_heard(int fd, const char *expected)
{
	char text[4096];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

static void assert_silence(int fd)
{
	char c;

	assert_int_equal(read(fd, &c, 1), -1);
	assert_int_equal(errno, EAGAIN);
}

static void requests_are_answered(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"n\":1}\n");
	assert_heard(fd, "{\"n\":1}\n");
	unit_hang_up(fd);
	turn(f);
	assert_int_equal(f->server.count, 0);
}

static void many_requests_at_once_are_answered_in_order(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
	assert_heard(fd, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
	close(fd);
}

static void a_slow_client_holds_up_nobody(void **state)
{
	struct fixture *f = *state;
	int slow = join(f), other = join(f);

	say(f, slow, "{\"n\":");
	say(f, other, "{\"n\":2}\n");
	assert_heard(other, "{\"n\":2}\n");
	say(f, slow, "1}\n");
	assert_heard(slow, "{\"n\":1}\n");
	close(slow);
	close(other);
}

static void a_client_that_does_not_read_is_not_read_from(void **state)
{
	struct fixture *f = *state;
	int deaf = join(f), other = join(f);
	size_t written = 0, heard = 0;
	char line[1000], text[65536];

	memset(line, 'x', sizeof(line));
	memcpy(line, "{\"x\":\"", 6);
	memcpy(line + sizeof(line) - 3, "\"}\n", 3);
	for (;;) {
		ssize_t n = write(deaf, line + written % sizeof(line), sizeof(line) - written % sizeof(line));

		if (n < 0)
			break;
		written += n;
		turn(f);
		assert_true(written < (64U << 20));
	}
	assert_int_equal(errno, EAGAIN);
	say(f, other, "{\"n\":2}\n");
	assert_heard(other, "{\"n\":2}\n");
	/* All of it is answered once it reads. */
	for (;;) {
		ssize_t n = read(deaf, text, sizeof(text));

		if (n < 0)
			break;
		heard += n;
		turn(f);
	}
	assert_int_equal(heard, written / sizeof(line) * sizeof(line));
	close(deaf);
	close(other);
}

static void an_answer_may_come_later(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"later\":1}\n{\"n\":2}\n");
	assert_silence(fd);
	assert_non_null(f->waiting);
	vqp_server_answer(f->waiting, json_pack("{s:i}", "n", 1));
	turn(f);
	assert_heard(fd, "{\"n\":1}\n{\"n\":2}\n");
	close(fd);
}

static void a_client_that_has_said_all_still_gets_its_answer(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"later\":1}\n");
	shutdown(fd, SHUT_WR);
	turn(f);
	assert_non_null(f->waiting);
	vqp_server_answer(f->waiting, json_pack("{s:i}", "n", 1));
	turn(f);
	assert_heard(fd, "{\"n\":1}\n");
	assert_heard(fd, "");
	assert_int_equal(f->server.count, 0);
	close(fd);
}

static void who_waits_for_an_answer_may_leave(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"later\":1}\n");
	unit_hang_up(fd);
	turn(f);
	assert_int_equal(f->gone, 1);
	assert_int_equal(f->server.count, 0);
}

static void who_answers_is_told_that_nobody_is_there(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "{\"later\":1}\n");
	unit_hang_up(fd);	/* and nobody has noticed yet */
	assert_false(vqp_server_answer(f->waiting, json_object()));
	assert_int_equal(f->gone, 0);
	assert_int_equal(f->server.count, 0);

	fd = join(f);
	say(f, fd, "{\"later\":1}\n");
	assert_true(vqp_server_answer(f->waiting, json_object()));
	say(f, fd, "{\"later\":1}\n");
	assert_false(vqp_server_answer(f->waiting, NULL));
	assert_int_equal(f->server.count, 0);
	close(fd);
}

static void who_does_not_read_may_leave(void **state)
{
	struct fixture *f = *state;
	int deaf = join(f), other = join(f);
	char line[1000];

	memset(line, 'x', sizeof(line));
	memcpy(line, "{\"x\":\"", 6);
	memcpy(line + sizeof(line) - 3, "\"}\n", 3);
	while (write(deaf, line, sizeof(line)) == sizeof(line))
		turn(f);
	unit_hang_up(deaf);
	turn(f);
	assert_int_equal(f->server.count, 1);
	say(f, other, "{\"n\":2}\n");
	assert_heard(other, "{\"n\":2}\n");
	close(other);
}

static void who_comes_when_no_more_can_be_taken_waits(void **state)
{
	struct fixture *f = *state;
	struct rlimit limit, low;
	int first = join(f), late;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	late = dup(0);
	close(late);
	low.rlim_cur = late + 1;	/* for the late one's own end, and nothing else */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	late = join(f);
	assert_int_equal(f->server.count, 1);
	assert_true(f->server.full);
	assert_int_equal(write(late, "{\"n\":2}\n", 8), 8);
	assert_silence(late);
	say(f, first, "{\"n\":1}\n");
	assert_heard(first, "{\"n\":1}\n");
	unit_hang_up(first);
	turn(f);
	assert_heard(late, "{\"n\":2}\n");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(late);
}

static void who_comes_first_of_all_waits_for_no_one_to_leave(void **state)
{
	struct fixture *f = *state;
	struct rlimit limit, low;
	int fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	fd = dup(0);
	close(fd);
	low.rlim_cur = fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fd = join(f);		/* comes to an end: the loop does not spin */
	assert_int_equal(f->server.count, 0);
	vqp_server_tick(&f->server);
	turn(f);
	assert_int_equal(f->server.count, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	vqp_server_tick(&f->server);
	turn(f);
	assert_int_equal(f->server.count, 1);
	say(f, fd, "{\"n\":1}\n");
	assert_heard(fd, "{\"n\":1}\n");
	close(fd);
}

static void nonsense_is_refused_and_forgiven(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	say(f, fd, "nonsense\n{\"n\":1}\n");
	assert_heard(fd, "{\"ok\":false,\"errno\":\"EBADMSG\",\"error\":\"a request is one JSON object on one line\"}\n"
		     "{\"n\":1}\n");
	close(fd);
}

static void too_long_a_request_is_refused_and_forgiven(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);
	char text[1000];

	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned int bytes = 0; bytes <= VQP_LINE_MAX; bytes += sizeof(text) - 1)
		say(f, fd, text);
	say(f, fd, "\n{\"n\":1}\n");
	assert_heard(fd, "{\"ok\":false,\"errno\":\"EMSGSIZE\",\"error\":\"a request has at most 65536 bytes\"}\n{\"n\":1}\n");
	close(fd);
}

static void the_socket_is_its_owners(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_live_servers_socket_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct vqp_server second = { 0 };

	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, f->path), -EADDRINUSE);
}

/* Have the server end as a daemon does whose socket is kept for the next. Returns that. */
static int end_but_keep(struct fixture *f)
{
	int kept = fcntl(f->server.watch.fd, F_DUPFD_CLOEXEC, 10);

	assert_true(kept >= 0);
	vqp_server_exit(&f->server);
	return kept;
}

static void a_request_waits_at_a_socket_that_is_kept_for_the_next_server(void **state)
{
	struct fixture *f = *state;
	int kept = end_but_keep(f), fd = join(f);

	assert_int_equal(write(fd, "{\"n\":1}\n", 8), 8);
	assert_silence(fd);
	assert_int_equal(vqp_server_adopt_unix(&f->server, &f->loop, kept, f->path), 0);
	turn(f);
	turn(f);
	assert_heard(fd, "{\"n\":1}\n");
	close(fd);
}

static void what_is_no_socket_of_that_name_is_not_adopted(void **state)
{
	struct fixture *f = *state;
	struct vqp_server second = { .owner = f, .request = serve, .gone = gone };
	int kept = fcntl(f->server.watch.fd, F_DUPFD_CLOEXEC, 10);

	assert_int_equal(vqp_server_adopt_unix(&second, &f->loop, kept, "/somewhere/else"), -ESTALE);
	assert_int_equal(fcntl(kept, F_GETFD), -1);
	assert_int_equal(vqp_server_adopt_unix(&second, &f->loop, open("/dev/null", O_RDONLY), f->path), -ESTALE);
	assert_int_equal(vqp_server_adopt_unix(&second, &f->loop, socket(AF_UNIX, SOCK_STREAM, 0), f->path), -ESTALE);
	kept = end_but_keep(f);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(vqp_server_adopt_unix(&f->server, &f->loop, kept, f->path), -ESTALE);
	assert_int_equal(vqp_server_listen_unix(&f->server, &f->loop, f->path), 0);
}

static void a_dead_servers_socket_is_replaced(void **state)
{
	struct fixture *f = *state;
	int fd;

	/* As kill -9 does, this leaves the file behind; and it listens no more, whoever has it open. */
	shutdown(f->server.watch.fd, SHUT_RDWR);
	vqp_server_exit(&f->server);
	assert_int_equal(vqp_server_listen_unix(&f->server, &f->loop, f->path), 0);
	fd = join(f);
	say(f, fd, "{\"n\":1}\n");
	assert_heard(fd, "{\"n\":1}\n");
	close(fd);
}

static void paths_that_cannot_be_had_are_refused(void **state)
{
	struct fixture *f = *state;
	struct vqp_server second = { 0 };
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, path), -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/none/none/sock", f->directory);
	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, path), -ENOENT);
	snprintf(path, sizeof(path), "%s/below", f->path);
	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, path), -ENOTDIR);
	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, f->directory), -EEXIST);
}

static void what_is_no_socket_is_not_replaced(void **state)
{
	struct fixture *f = *state;
	struct vqp_server second = { 0 };
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/file", f->directory);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(vqp_server_listen_unix(&second, &f->loop, path), -EEXIST);
	assert_int_equal(unlink(path), 0);
}

static void tcp_addresses_that_cannot_be_had_are_refused(void **state)
{
	struct fixture *f = *state;
	struct vqp_server first = { .owner = f, .request = serve }, second = { 0 };
	struct sockaddr_in addr = { 0 };
	socklen_t bytes = sizeof(addr);
	char text[32];

	assert_int_equal(vqp_server_listen_tcp(&first, &f->loop, "127.0.0.1:0", "0"), 0);
	assert_int_equal(getsockname(first.watch.fd, (struct sockaddr *)&addr, &bytes), 0);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(addr.sin_port));
	assert_int_equal(vqp_server_listen_tcp(&second, &f->loop, text, "0"), -EADDRINUSE);
	assert_int_equal(vqp_server_listen_tcp(&second, &f->loop, "127.0.0.1:http", "0"), -EINVAL);
	assert_int_equal(vqp_server_listen_tcp(&second, &f->loop, "1:2:3", "0"), -EINVAL);
	assert_int_equal(vqp_server_listen_tcp(&second, &f->loop, "localhost", "0"), -EINVAL);
	vqp_server_exit(&first);
}

static void tcp_addresses_may_come_to_an_interface_later(void **state)
{
	int v4 = vqp_server_bind_tcp("192.0.2.1", "0", true), v6 = vqp_server_bind_tcp("[2001:db8::1]", "0", true);

	(void)state;
	assert_true(v4 >= 0);
	assert_true(v6 >= 0);
	assert_int_equal(fcntl(v4, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(v4, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(v4);
	close(v6);
}

static int get_v6_only(int fd)
{
	socklen_t bytes = sizeof(int);
	int v6_only = -1;

	assert_int_equal(getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, &bytes), 0);
	return v6_only;
}

static void all_addresses_of_ipv6_are_those_of_ipv4_if_the_caller_wants(void **state)
{
	int plain = socket(AF_INET6, SOCK_STREAM, 0);
	int both = vqp_server_bind_tcp("[::]", "0", false), v6 = vqp_server_bind_tcp("[::]", "0", true);

	(void)state;
	assert_int_equal(get_v6_only(v6), 1);
	assert_int_equal(get_v6_only(both), get_v6_only(plain));	/* as the system has it */
	close(plain);
	close(both);
	close(v6);
}

static unsigned int refusals;

static void refused(const struct vqp_client *client, const json_t *reply)
{
	if (client->request)
		unit_assert_string(client->request, "errno", "EPERM");
	else
		unit_assert_string(reply, "errno", "EBADMSG");
	refusals++;
}

static void refusals_are_told_with_what_was_refused(void **state)
{
	struct fixture *f = *state;
	int fd = join(f);

	refusals = 0;
	f->server.refused = refused;
	say(f, fd, "{\"ok\":true}\n");
	assert_int_equal(refusals, 0);
	say(f, fd, "{\"ok\":false,\"errno\":\"EPERM\"}\n");
	say(f, fd, "nonsense\n");
	assert_int_equal(refusals, 2);
	unit_hang_up(fd);
	turn(f);
}

static int number_of(int fd, int level, int option)
{
	socklen_t bytes = sizeof(int);
	int value = -1;

	assert_int_equal(getsockopt(fd, level, option, &value, &bytes), 0);
	return value;
}

static void tcp_clients_that_die_are_noticed(void **state)
{
	struct fixture *f = *state;
	struct vqp_server server = { .owner = f, .request = serve };
	struct sockaddr_in addr = { 0 };
	socklen_t bytes = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0), theirs;

	assert_int_equal(vqp_server_listen_tcp(&server, &f->loop, "127.0.0.1:0", "0"), 0);
	assert_int_equal(getsockname(server.watch.fd, (struct sockaddr *)&addr, &bytes), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	turn(f);
	assert_non_null(server.clients);
	theirs = server.clients->watch.fd;
	assert_int_equal(number_of(theirs, SOL_SOCKET, SO_KEEPALIVE), 1);
	assert_int_equal(number_of(theirs, IPPROTO_TCP, TCP_KEEPIDLE), 30);
	assert_int_equal(number_of(theirs, IPPROTO_TCP, TCP_KEEPINTVL), 10);
	assert_int_equal(number_of(theirs, IPPROTO_TCP, TCP_KEEPCNT), 3);
	close(fd);
	vqp_server_exit(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(many_requests_at_once_are_answered_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_slow_client_holds_up_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_that_does_not_read_is_not_read_from, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_may_come_later, setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_that_has_said_all_still_gets_its_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(who_waits_for_an_answer_may_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(who_answers_is_told_that_nobody_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(who_does_not_read_may_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(who_comes_when_no_more_can_be_taken_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(who_comes_first_of_all_waits_for_no_one_to_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_is_refused_and_forgiven, setup, teardown),
		cmocka_unit_test_setup_teardown(too_long_a_request_is_refused_and_forgiven, setup, teardown),
		cmocka_unit_test_setup_teardown(the_socket_is_its_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(a_live_servers_socket_is_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_waits_at_a_socket_that_is_kept_for_the_next_server, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_socket_of_that_name_is_not_adopted, setup, teardown),
		cmocka_unit_test_setup_teardown(a_dead_servers_socket_is_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(paths_that_cannot_be_had_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_socket_is_not_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(tcp_addresses_that_cannot_be_had_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(tcp_addresses_may_come_to_an_interface_later, setup, teardown),
		cmocka_unit_test_setup_teardown(all_addresses_of_ipv6_are_those_of_ipv4_if_the_caller_wants, setup, teardown),
		cmocka_unit_test_setup_teardown(tcp_clients_that_die_are_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_are_told_with_what_was_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
