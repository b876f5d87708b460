// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The calls of RDMAvisor, by sockets of TCP within this machine, which are said to be of that kind. */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vqp/raas.h>
#include "fake.h"

/* A listener, and a connection to it, of which both ends are open. */
struct ends {
	struct vqp_raas_target target;
	int listener, client, server;
};

/* Listen at that address; the target is where it may be reached. */
static int listen_at(const char *address, int flags, struct vqp_raas_target *target)
{
	struct sockaddr_in6 name = { 0 };
	socklen_t bytes = sizeof(name);
	int fd;

	target->port = 0;
	assert_int_equal(vqp_parse_gid(address, &target->gid), 0);
	fd = vqp_raas_listen(target, flags);
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &bytes), 0);
	/* the port is at the same place for both families */
	target->port = ntohs(name.sin6_port);
	return fd;
}

static struct ends connect_ends(void)
{
	struct ends ends;

	ends.listener = listen_at("127.0.0.1", 0, &ends.target);
	ends.client = vqp_raas_connect(&ends.target, 0);
	assert_true(ends.client >= 0);
	ends.server = vqp_raas_accept(ends.listener, 0);
	assert_true(ends.server >= 0);
	return ends;
}

static void close_ends(const struct ends *ends)
{
	close(ends->client);
	close(ends->server);
	close(ends->listener);
}

static void what_is_sent_is_received(void **state)
{
	struct ends ends = connect_ends();
	char got[8] = "";

	(void)state;
	assert_int_equal(vqp_raas_send(ends.client, "hello", 5, 0), 5);
	assert_int_equal(vqp_raas_recv(ends.server, got, 5, 0), 5);
	assert_memory_equal(got, "hello", 5);
	close(ends.client);
	assert_int_equal(vqp_raas_recv(ends.server, got, 5, 0), 0);
	close(ends.server);
	close(ends.listener);
}

static void descriptors_close_at_exec(void **state)
{
	struct ends ends = connect_ends();

	(void)state;
	assert_true(fcntl(ends.listener, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(ends.client, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(ends.server, F_GETFD) & FD_CLOEXEC);
	close_ends(&ends);
}

static void a_listener_of_any_address_takes_ipv4(void **state)
{
	struct vqp_raas_target target;
	int listener = listen_at("::", 0, &target), fd;

	(void)state;
	assert_int_equal(vqp_parse_gid("127.0.0.1", &target.gid), 0);
	fd = vqp_raas_connect(&target, 0);
	assert_true(fd >= 0);
	close(fd);
	close(listener);
}

static void without_vqp_it_is_tcp_unless_that_is_not_wanted(void **state)
{
	static const int errors[] = { EPROTONOSUPPORT, EPERM, EACCES, EINVAL };
	struct ends ends;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		fake.vqp_errno = errors[i];
		ends = connect_ends();
		assert_int_equal(vqp_raas_connect(&ends.target, VQP_RAAS_RC), -errors[i]);
		assert_int_equal(vqp_raas_listen(&ends.target, VQP_RAAS_RC), -errors[i]);
		close_ends(&ends);
	}
	fake.vqp_errno = EMFILE;
	assert_int_equal(vqp_raas_connect(&ends.target, 0), -EMFILE);
}

static void rc_refuses_connections_of_tcp(void **state)
{
	struct vqp_raas_target target;
	int listener = listen_at("127.0.0.1", VQP_RAAS_RC, &target), before = dup(listener), fd;

	(void)state;
	close(before);
	fake.kind = VQP_SOCK_TCP;
	assert_int_equal(vqp_raas_connect(&target, VQP_RAAS_RC), -EOPNOTSUPP);
	fake.kind = VQP_SOCK_FAR;
	fake.others = 1;
	assert_int_equal(vqp_raas_connect(&target, VQP_RAAS_RC), -EOPNOTSUPP);
	fd = vqp_raas_connect(&target, VQP_RAAS_RC);
	assert_int_equal(fd, before);		/* the others were closed */
	close(fd);
	close(listener);
}

static void an_accept_by_rc_passes_over_tcp(void **state)
{
	struct vqp_raas_target target;
	int listener = listen_at("127.0.0.1", 0, &target);
	int first = vqp_raas_connect(&target, 0), second = vqp_raas_connect(&target, 0), fd;
	char byte;

	(void)state;
	fake.kind = VQP_SOCK_NEAR;
	fake.others = 1;
	fd = vqp_raas_accept(listener, VQP_RAAS_RC);
	assert_true(fd >= 0);
	assert_int_equal(vqp_raas_recv(first, &byte, 1, 0), 0);
	assert_int_equal(vqp_raas_send(second, "x", 1, 0), 1);
	assert_int_equal(vqp_raas_recv(fd, &byte, 1, VQP_RAAS_RC), 1);
	close(fd);
	close(first);
	close(second);
	close(listener);
}

static void a_way_that_the_connection_has_not_is_refused(void **state)
{
	static const struct {
		int kind, flags, err;
	} cases[] = {
		{ VQP_SOCK_FAR, VQP_RAAS_SEND, 0 },
		{ VQP_SOCK_FAR, VQP_RAAS_RC | VQP_RAAS_SEND, 0 },
		{ VQP_SOCK_FAR, VQP_RAAS_RC, 0 },
		{ VQP_SOCK_FAR, VQP_RAAS_WRITE, -EOPNOTSUPP },
		{ VQP_SOCK_FAR, VQP_RAAS_RC | VQP_RAAS_READ, -EOPNOTSUPP },
		{ VQP_SOCK_NEAR, VQP_RAAS_RC, 0 },
		{ VQP_SOCK_NEAR, VQP_RAAS_SEND, -EOPNOTSUPP },
		{ VQP_SOCK_TCP, 0, 0 },
		{ VQP_SOCK_TCP, VQP_RAAS_RC, -EOPNOTSUPP },
		{ VQP_SOCK_TCP, VQP_RAAS_SEND, -EOPNOTSUPP },
		{ VQP_SOCK_FRESH, VQP_RAAS_SEND, -ENOTCONN },
		{ VQP_SOCK_LISTENER, VQP_RAAS_RC, -ENOTCONN },
	};
	struct ends ends = connect_ends();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.kind = cases[i].kind;
		assert_int_equal(vqp_raas_send(ends.client, "x", 1, cases[i].flags), cases[i].err ? cases[i].err : 1);
	}
	close_ends(&ends);
}

static void flags_that_a_call_has_not_are_refused(void **state)
{
	struct ends ends = connect_ends();
	char byte;

	(void)state;
	fake.kind = VQP_SOCK_FAR;
	assert_int_equal(vqp_raas_connect(&ends.target, VQP_RAAS_SEND), -EINVAL);
	assert_int_equal(vqp_raas_listen(&ends.target, VQP_RAAS_READ), -EINVAL);
	assert_int_equal(vqp_raas_accept(ends.listener, VQP_RAAS_WRITE), -EINVAL);
	assert_int_equal(vqp_raas_recv(ends.server, &byte, 1, VQP_RAAS_SEND), -EINVAL);
	assert_int_equal(vqp_raas_send(ends.client, "x", 1, 0x100), -EINVAL);
	assert_int_equal(vqp_raas_send(ends.client, "x", 1, VQP_RAAS_SEND | VQP_RAAS_READ), -EINVAL);
	assert_int_equal(vqp_raas_send(ends.client, "x", -1, 0), -EINVAL);
	assert_int_equal(vqp_raas_recv(ends.server, &byte, -1, 0), -EINVAL);
	close_ends(&ends);
}

static void a_peer_that_has_gone_raises_no_signal(void **state)
{
	struct ends ends = connect_ends();
	int sent = 1;

	(void)state;
	close(ends.server);
	while (sent == 1)
		sent = vqp_raas_send(ends.client, "x", 1, 0);
	assert_true(sent == -EPIPE || sent == -ECONNRESET);
	close(ends.client);
	close(ends.listener);
}

static void zero_copy_takes_registered_memory_alone(void **state)
{
	struct ibv_pd *pd = vqp_pd(*state);
	struct ends ends = connect_ends();
	char memory[64] = "";
	void *at = memory + 8;
	struct ibv_mr *mr;

	assert_int_equal(vqp_raas_send(ends.client, "0123456789", 10, 0), 10);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 4, 0), -EFAULT);
	/* The kernel may only read that. */
	mr = vqp_reg_mr(pd, memory, 32, IBV_ACCESS_REMOTE_READ);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 4, 0), -EFAULT);
	assert_int_equal(vqp_dereg_mr(mr), 0);
	mr = vqp_reg_mr(pd, memory + 1, 31, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 25, 0), -EFAULT);
	at = memory;
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 4, 0), -EFAULT);
	at = memory + 8;
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 4, 0), 4);
	assert_ptr_equal(at, memory + 8);
	assert_memory_equal(at, "0123", 5);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 24, 0), 6);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, -1, 0), -EINVAL);
	assert_int_equal(vqp_dereg_mr(mr), 0);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 4, 0), -EFAULT);
	close_ends(&ends);
}

static void memory_of_any_context_is_registered_until_that_closes(void **state)
{
	struct ibv_context *other = vqp_open();
	struct ends ends = connect_ends();
	char memory[64] = "";
	void *at = memory;

	(void)state;
	assert_non_null(vqp_reg_mr(vqp_pd(other), memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(vqp_raas_send(ends.client, "01", 2, 0), 2);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 1, 0), 1);
	assert_int_equal(vqp_close(other), 0);
	assert_int_equal(vqp_raas_recv_zero_copy(ends.server, &at, 1, 0), -EFAULT);
	close_ends(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_sent_is_received, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(descriptors_close_at_exec, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_listener_of_any_address_takes_ipv4, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(without_vqp_it_is_tcp_unless_that_is_not_wanted, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(rc_refuses_connections_of_tcp, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(an_accept_by_rc_passes_over_tcp, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_way_that_the_connection_has_not_is_refused, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(flags_that_a_call_has_not_are_refused, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_has_gone_raises_no_signal, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(zero_copy_takes_registered_memory_alone, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(memory_of_any_context_is_registered_until_that_closes, fake_setup, fake_teardown),
	};

	return cmocka_run_group_tests_name("raas", tests, NULL, NULL);
}
