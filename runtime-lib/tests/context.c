// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Contexts, memory regions and addresses. */
#include <fcntl.h>
#include <unistd.h>
#include "fake.h"

static void open_takes_two_system_calls(void **state)
{
	(void)state;
	assert_int_equal(fake.opens, 1);
	assert_int_equal(fake.ioctls, 1);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ATTACH)], 1);
}

static void open_says_that_there_is_no_device(void **state)
{
	(void)state;
	fake_fail(0, ENOENT);
	assert_null(vqp_open());
	assert_int_equal(errno, ENOENT);
}

static void open_says_that_there_is_no_namespace(void **state)
{
	int fd = dup(((struct ibv_context *)*state)->cmd_fd), next;

	fake_fail(VQP_IOC_ATTACH, ENONET);
	assert_null(vqp_open());
	assert_int_equal(errno, ENONET);
	next = dup(fd);
	assert_int_equal(next, fd + 1);		/* the device was closed */
	close(next);
	close(fd);
}

static void open_without_memory_closes_the_device(void **state)
{
	int fd = dup(((struct ibv_context *)*state)->cmd_fd), next;

	fake.fail_alloc = 1;
	assert_null(vqp_open());
	assert_int_equal(errno, ENOMEM);
	next = dup(fd);
	assert_int_equal(next, fd + 1);
	close(next);
	close(fd);
}

static void open_gid_attaches_to_that_address(void **state)
{
	union ibv_gid gid, attached;
	struct ibv_context *context;

	(void)state;
	assert_int_equal(vqp_parse_gid("10.1.0.3", &gid), 0);
	context = vqp_open_gid(&gid);
	assert_non_null(context);
	assert_memory_equal(fake.attach.gid, &gid, sizeof(gid));
	assert_int_equal(vqp_gid(context, &attached), 0);
	assert_memory_equal(&attached, &gid, sizeof(gid));
	assert_int_equal(vqp_close(context), 0);
	fake_fail(VQP_IOC_ATTACH, EADDRNOTAVAIL);
	assert_null(vqp_open_gid(&gid));
	assert_int_equal(errno, EADDRNOTAVAIL);
}

static void gid_is_the_namespaces(void **state)
{
	union ibv_gid want, got;

	assert_int_equal(vqp_parse_gid(FAKE_GID, &want), 0);
	assert_int_equal(vqp_gid(*state, &got), 0);
	assert_memory_equal(&want, &got, sizeof(want));
}

static void close_frees_what_was_made(void **state)
{
	struct ibv_context *context = *state;
	struct ibv_cq *cq = vqp_create_cq(context, 8, NULL);
	int fd = vqp_cq_fd(cq);

	fake_qp(context, cq, 0);
	fake_qp(context, cq, 0);
	assert_non_null(vqp_reg_mr(vqp_pd(context), &fd, sizeof(fd), 0));
	assert_int_equal(vqp_close(context), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_DESTROY_QP)], 0);	/* goes with the file */
	*state = NULL;
}

static void reg_mr_hands_on_range_and_rights(void **state)
{
	char memory[100];
	struct ibv_mr *mr;

	mr = vqp_reg_mr(vqp_pd(*state), memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(fake.reg_mr.addr, (uintptr_t)memory);
	assert_int_equal(fake.reg_mr.length, 100);
	assert_int_equal(fake.reg_mr.access, VQP_ACCESS_LOCAL_WRITE | VQP_ACCESS_REMOTE_READ);
	assert_int_equal(mr->lkey, 0x1234);
	assert_int_equal(mr->rkey, 0x1234);
	assert_int_equal(vqp_dereg_mr(mr), 0);
}

static void reg_mr_passes_the_errno_on(void **state)
{
	char memory[1];

	fake_fail(VQP_IOC_REG_MR, ENOSPC);
	assert_null(vqp_reg_mr(vqp_pd(*state), memory, 1, 0));
	assert_int_equal(errno, ENOSPC);
}

static void reg_mr_without_memory_registers_nothing(void **state)
{
	char memory[1];

	fake.fail_alloc = 1;
	assert_null(vqp_reg_mr(vqp_pd(*state), memory, 1, 0));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_REG_MR)], 0);
}

static void dereg_mr_that_fails_keeps_the_region(void **state)
{
	char memory[1];
	struct ibv_mr *mr = vqp_reg_mr(vqp_pd(*state), memory, 1, 0);

	fake_fail(VQP_IOC_DEREG_MR, EIO);
	assert_int_equal(vqp_dereg_mr(mr), -EIO);
	fake_fail(VQP_IOC_DEREG_MR, 0);
	assert_int_equal(vqp_dereg_mr(mr), 0);
}

static void alloc_rounds_to_pages(void **state)
{
	char *memory = vqp_alloc(*state, 5000);

	assert_non_null(memory);
	memory[2 * 4096 - 1] = 1;
	assert_int_equal(vqp_free(memory, 5000), 0);
}

static void alloc_refuses_more_than_an_arena(void **state)
{
	assert_null(vqp_alloc(*state, VQP_MAX_ARENA_BYTES + 1));
	assert_int_equal(errno, EINVAL);
	assert_null(vqp_alloc(*state, 0));
	assert_int_equal(errno, EINVAL);
}

static void parse_gid_maps_ipv4(void **state)
{
	static const uint8_t want[16] = { [10] = 0xff, 0xff, 192, 168, 7, 1 };
	union ibv_gid gid;

	(void)state;
	assert_int_equal(vqp_parse_gid("192.168.7.1", &gid), 0);
	assert_memory_equal(gid.raw, want, 16);
	assert_int_equal(vqp_parse_gid("::ffff:192.168.7.1", &gid), 0);
	assert_memory_equal(gid.raw, want, 16);
}

static void parse_gid_takes_ipv6(void **state)
{
	static const uint8_t want[16] = { 0xfd, 0x01, [15] = 0x20 };
	union ibv_gid gid;

	(void)state;
	assert_int_equal(vqp_parse_gid("fd01::20", &gid), 0);
	assert_memory_equal(gid.raw, want, 16);
}

static void parse_gid_refuses_what_is_no_address(void **state)
{
	static const char *const bad[] = {
		"", " ", "10.0.0", "10.0.0.256", "10.0.0.1 ", "10.0.0.1/24", "localhost", "fe80::1%eth0", ":::",
	};
	union ibv_gid gid;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(vqp_parse_gid(bad[i], &gid), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(open_takes_two_system_calls, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(open_says_that_there_is_no_device, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(open_says_that_there_is_no_namespace, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(open_without_memory_closes_the_device, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(open_gid_attaches_to_that_address, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(gid_is_the_namespaces, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(close_frees_what_was_made, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(reg_mr_hands_on_range_and_rights, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(reg_mr_passes_the_errno_on, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(reg_mr_without_memory_registers_nothing, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(dereg_mr_that_fails_keeps_the_region, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(alloc_rounds_to_pages, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(alloc_refuses_more_than_an_arena, fake_setup, fake_teardown),
		cmocka_unit_test(parse_gid_maps_ipv4),
		cmocka_unit_test(parse_gid_takes_ipv6),
		cmocka_unit_test(parse_gid_refuses_what_is_no_address),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
