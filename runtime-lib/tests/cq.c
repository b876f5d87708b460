// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: the ring is polled without a system call. */
#include <unistd.h>
#include "fake.h"

static void complete_many(uint64_t first, int count)
{
	struct vqp_cqe cqe = { 0 };
	int i;

	for (i = 0; i < count; i++) {
		cqe.wr_id = first + (uint64_t)i;
		fake_complete(&cqe);
	}
}

static void empty_ring_gives_nothing(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

static void polling_makes_no_system_call(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	int before = fake.ioctls;
	struct ibv_wc wc;

	complete_many(1, 1);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 1);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
	assert_int_equal(fake.ioctls, before);
}

static void all_fields_arrive(void **state)
{
	const struct vqp_cqe cqe = {
		.wr_id = 0x1122334455667788,
		.status = VQP_WC_REM_ACCESS_ERR,
		.opcode = VQP_WC_RECV_RDMA_WITH_IMM,
		.byte_len = 77,
		.flags = VQP_WC_WITH_IMM,
		.imm_data = 0xcafe,
		.qp_num = 5,
		.src_qp = 6,
	};
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_wc wc;

	fake_complete(&cqe);
	memset(&wc, 0xff, sizeof(wc));
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 0x1122334455667788);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.byte_len, 77);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(wc.imm_data, 0xcafe);
	assert_int_equal(wc.qp_num, 5);
	assert_int_equal(wc.src_qp, 6);
	assert_int_equal(wc.vendor_err, 0);
	assert_int_equal(wc.slid, 0);
}

static void no_more_than_asked_for(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 8, NULL);
	struct ibv_wc wc[8];

	complete_many(0, 5);
	assert_int_equal(ibv_poll_cq(cq, 3, wc), 3);
	assert_int_equal(wc[2].wr_id, 2);
	assert_int_equal(ibv_poll_cq(cq, 8, wc), 2);
	assert_int_equal(wc[0].wr_id, 3);
	assert_int_equal(ibv_poll_cq(cq, 0, wc), 0);
	assert_int_equal(ibv_poll_cq(cq, -1, wc), 0);
}

static void polled_entries_are_given_back(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_wc wc[4];

	complete_many(0, 4);
	assert_int_equal(ibv_poll_cq(cq, 4, wc), 4);
	assert_int_equal(fake.ring->head, 4);
}

static void order_holds_around_the_ring(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_wc wc[4];
	uint64_t next = 0;
	int round, i, n;

	for (round = 0; round < 20; round++) {
		complete_many((uint64_t)round * 3, 3);
		n = ibv_poll_cq(cq, 4, wc);
		assert_int_equal(n, 3);
		for (i = 0; i < n; i++)
			assert_int_equal(wc[i].wr_id, next++);
	}
}

static void counters_may_wrap(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 8, NULL);
	struct ibv_wc wc[8];
	int i;

	fake.ring->head = fake.ring->tail = UINT32_MAX - 1;
	complete_many(100, 6);
	assert_int_equal(ibv_poll_cq(cq, 8, wc), 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(wc[i].wr_id, 100 + i);
	assert_int_equal(fake.ring->head, 4);
}

static void granted_size_is_the_kernels(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 5, (void *)0x99);

	assert_int_equal(cq->cqe, 8);
	assert_ptr_equal(cq->cq_context, (void *)0x99);
}

static void a_ring_that_lies_is_not_read_beyond_its_end(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_wc wc[64];

	fake.ring->entries = 1 << 20;
	fake.ring->tail = 1000;
	assert_int_equal(ibv_poll_cq(cq, 64, wc), 64);
}

static void create_refuses_no_entries(void **state)
{
	assert_null(vqp_create_cq(*state, 0, NULL));
	assert_int_equal(errno, EINVAL);
	assert_null(vqp_create_cq(*state, -1, NULL));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_CREATE_CQ)], 0);
}

static void create_passes_the_errno_on(void **state)
{
	fake_fail(VQP_IOC_CREATE_CQ, EMFILE);
	assert_null(vqp_create_cq(*state, 4, NULL));
	assert_int_equal(errno, EMFILE);
}

static void create_without_memory_creates_nothing(void **state)
{
	fake.fail_alloc = 1;
	assert_null(vqp_create_cq(*state, 4, NULL));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_CREATE_CQ)], 0);
}

static void a_ring_that_cannot_be_mapped_is_given_back(void **state)
{
	int before = dup(0), after;

	close(before);
	fake.unmappable = 1;
	assert_null(vqp_create_cq(*state, 4, NULL));
	assert_int_equal(errno, EINVAL);
	after = dup(0);
	assert_int_equal(before, after);
	close(after);
}

static void wait_returns_at_once_when_something_is_there(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);

	complete_many(0, 1);
	assert_int_equal(vqp_cq_wait(cq, -1), 1);
}

static void wait_says_when_nothing_came(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct vqp_cq *own = vqp_container(cq, struct vqp_cq, verbs);
	int ring_fd = own->fd, fds[2];

	/* as the kernel's: silent, readable, hung up because it overflowed */
	assert_int_equal(pipe(fds), 0);
	own->fd = fds[0];
	assert_int_equal(vqp_cq_wait(cq, 0), 0);
	assert_int_equal(write(fds[1], "", 1), 1);
	assert_int_equal(vqp_cq_wait(cq, -1), 1);
	assert_int_equal(read(fds[0], &(char){ 0 }, 1), 1);
	close(fds[1]);
	assert_int_equal(vqp_cq_wait(cq, -1), -EOVERFLOW);
	close(fds[0]);
	own->fd = ring_fd;
}

static void notify_is_a_success_without_effect(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	int before = fake.ioctls;

	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(fake.ioctls, before);
}

static void destroy_is_refused_while_in_use(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 4, NULL);
	struct ibv_qp *qp = fake_qp(*state, cq, 0);

	assert_int_equal(vqp_destroy_cq(cq), -EBUSY);
	assert_int_equal(vqp_destroy_qp(qp), 0);
	assert_int_equal(vqp_destroy_cq(cq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_ring_gives_nothing, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(polling_makes_no_system_call, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(all_fields_arrive, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(no_more_than_asked_for, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(polled_entries_are_given_back, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(order_holds_around_the_ring, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(counters_may_wrap, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(granted_size_is_the_kernels, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_ring_that_lies_is_not_read_beyond_its_end, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_refuses_no_entries, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_passes_the_errno_on, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_without_memory_creates_nothing, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_ring_that_cannot_be_mapped_is_given_back, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wait_returns_at_once_when_something_is_there,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wait_says_when_nothing_came, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(notify_is_a_success_without_effect, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(destroy_is_refused_while_in_use, fake_setup, fake_teardown),
	};

	return cmocka_run_group_tests_name("cq", tests, NULL, NULL);
}
