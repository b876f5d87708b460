// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Command streams of ibv_post_send and ibv_post_recv. */
#include <arpa/inet.h>
#include "fake.h"

#define MANY 4096

static struct ibv_qp *setup_qp(void **state)
{
	return fake_qp(*state, vqp_create_cq(*state, 8, NULL), 64);
}

static const struct vqp_send_wr *sent(void)
{
	return (const struct vqp_send_wr *)fake.stream;
}

static const struct vqp_sge *sges_of(const struct vqp_send_wr *wr)
{
	return (const struct vqp_sge *)(wr + 1);
}

static void send_is_encoded(void **state)
{
	struct ibv_sge sge = { .addr = 0x7000, .length = 99, .lkey = 0xab };
	struct ibv_send_wr wr = {
		.wr_id = 42, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.imm_data = 7, .wr.rdma = { 8, 9 },
	}, *bad;
	struct ibv_qp *qp = setup_qp(state);

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	assert_int_equal(fake.post.qp_num, qp->qp_num);
	assert_int_equal(fake.post.wr_count, 1);
	assert_int_equal(fake.post.wrs_bytes, sizeof(struct vqp_send_wr) + sizeof(struct vqp_sge));
	assert_int_equal(sent()->wr_id, 42);
	assert_int_equal(sent()->opcode, VQP_WR_SEND);
	assert_int_equal(sent()->send_flags, VQP_SEND_SIGNALED);
	assert_int_equal(sent()->num_sge, 1);
	assert_int_equal(sent()->inline_bytes, 0);
	assert_int_equal(sges_of(sent())->addr, 0x7000);
	assert_int_equal(sges_of(sent())->length, 99);
	assert_int_equal(sges_of(sent())->lkey, 0xab);
	/* Fields that mean nothing for this opcode are zero. */
	assert_int_equal(sent()->imm_data, 0);
	assert_int_equal(sent()->remote_addr, 0);
	assert_int_equal(sent()->rkey, 0);
	assert_int_equal(sent()->reserved, 0);
}

static void immediate_data_is_encoded(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(0x01020304) }, *bad;

	assert_int_equal(ibv_post_send(setup_qp(state), &wr, &bad), 0);
	assert_int_equal(sent()->imm_data, htonl(0x01020304));
	assert_int_equal(sent()->num_sge, 0);
}

static void one_sided_requests_are_encoded(void **state)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ };
	struct ibv_send_wr wr = { .wr.rdma = { .remote_addr = 0x123456789a, .rkey = 0x55 } }, *bad;
	struct ibv_qp *qp = setup_qp(state);
	size_t i;

	for (i = 0; i < 3; i++) {
		wr.opcode = opcodes[i];
		assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
		assert_int_equal(sent()->opcode, opcodes[i]);
		assert_int_equal(sent()->remote_addr, 0x123456789a);
		assert_int_equal(sent()->rkey, 0x55);
	}
}

static void atomics_are_encoded(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP }, *bad;

	wr.wr.atomic.remote_addr = 0x100;
	wr.wr.atomic.compare_add = 1;
	wr.wr.atomic.swap = 2;
	wr.wr.atomic.rkey = 3;
	assert_int_equal(ibv_post_send(setup_qp(state), &wr, &bad), 0);
	assert_int_equal(sent()->remote_addr, 0x100);
	assert_int_equal(sent()->compare_add, 1);
	assert_int_equal(sent()->swap, 2);
	assert_int_equal(sent()->rkey, 3);
}

static void inline_data_is_copied_and_padded(void **state)
{
	char hello[] = "hello", you[] = ", you";
	struct ibv_sge sges[] = { { (uintptr_t)hello, 5, 0 }, { 0, 0, 0 }, { (uintptr_t)you, 5, 0 } };
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = 3, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	}, *bad;

	assert_int_equal(ibv_post_send(setup_qp(state), &wr, &bad), 0);
	assert_int_equal(sent()->num_sge, 0);
	assert_int_equal(sent()->inline_bytes, 10);
	assert_int_equal(fake.post.wrs_bytes, sizeof(struct vqp_send_wr) + 16);
	assert_memory_equal(sent() + 1, "hello, you\0\0\0\0\0", 16);
}

static void inline_data_has_its_limit(void **state)
{
	char data[65] = "";
	struct ibv_sge sges[] = { { (uintptr_t)data, 32, 0 }, { (uintptr_t)data, 32, 0 } };
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	}, *bad = NULL;
	struct ibv_qp *qp = setup_qp(state);

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	sges[1].length = 33;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	sges[1].length = UINT32_MAX - 16;	/* a sum that wraps in 32 bits */
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
}

static void sge_counts_are_checked(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = -1 }, *bad = NULL;
	struct ibv_recv_wr rwr = { .num_sge = VQP_MAX_SGE + 1 }, *rbad = NULL;
	struct ibv_qp *qp = setup_qp(state);

	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(ibv_post_recv(qp, &rwr, &rbad), EINVAL);
	assert_ptr_equal(rbad, &rwr);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_POST_SEND)], 0);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_POST_RECV)], 0);
}

static struct ibv_send_wr *chain(struct ibv_send_wr *wrs, uint32_t count, struct ibv_sge *sge)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 1,
			.next = i + 1 < count ? &wrs[i + 1] : NULL,
		};
	}
	return wrs;
}

static void a_list_is_one_system_call(void **state)
{
	static struct ibv_send_wr wrs[MANY];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_qp *qp = setup_qp(state);
	struct ibv_send_wr *bad;
	uint32_t count, calls = 0;

	for (count = 1; count <= MANY; count *= 2) {
		assert_int_equal(ibv_post_send(qp, chain(wrs, count, &sge), &bad), 0);
		assert_int_equal(fake.post.wr_count, count);
		assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_POST_SEND)], ++calls);
	}
}

static void requests_stay_in_order(void **state)
{
	static struct ibv_send_wr wrs[100];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	const struct vqp_send_wr *wr;
	struct ibv_send_wr *bad;
	uint32_t i;

	assert_int_equal(ibv_post_send(setup_qp(state), chain(wrs, 100, &sge), &bad), 0);
	for (wr = sent(), i = 0; i < 100; i++) {
		assert_int_equal(wr->wr_id, i);
		wr = (const struct vqp_send_wr *)(sges_of(wr) + 1);
	}
}

static void a_list_too_long_for_one_call_takes_several(void **state)
{
	static struct ibv_send_wr wrs[MANY * 4];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(setup_qp(state), chain(wrs, MANY * 4, &sge), &bad), 0);
	assert_int_equal(fake.posted, MANY * 4);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_POST_SEND)], 2);
}

static void the_kernel_names_the_bad_request(void **state)
{
	static struct ibv_send_wr wrs[10];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr *bad = NULL;

	fake_fail(VQP_IOC_POST_SEND, EACCES);
	fake.fail_posted = 7;
	assert_int_equal(ibv_post_send(setup_qp(state), chain(wrs, 10, &sge), &bad), EACCES);
	assert_ptr_equal(bad, &wrs[7]);
}

static void requests_before_a_bad_one_are_posted(void **state)
{
	static struct ibv_send_wr wrs[10];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr *bad = NULL;

	chain(wrs, 10, &sge);
	wrs[4].num_sge = VQP_MAX_SGE + 1;
	assert_int_equal(ibv_post_send(setup_qp(state), wrs, &bad), EINVAL);
	assert_ptr_equal(bad, &wrs[4]);
	assert_int_equal(fake.posted, 4);
}

static void a_kernel_that_lies_leads_nowhere(void **state)
{
	static struct ibv_send_wr wrs[3];
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr *bad = wrs;

	fake_fail(VQP_IOC_POST_SEND, EIO);
	fake.fail_posted = 1000;
	assert_int_equal(ibv_post_send(setup_qp(state), chain(wrs, 3, &sge), &bad), EIO);
	assert_null(bad);
}

static void receives_are_encoded(void **state)
{
	struct ibv_sge sges[] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ibv_recv_wr second = { .wr_id = 6 };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sges, .num_sge = 2, .next = &second }, *bad;
	const struct vqp_recv_wr *out = (const struct vqp_recv_wr *)fake.stream;
	const struct vqp_sge *sge = (const struct vqp_sge *)(out + 1);

	assert_int_equal(ibv_post_recv(setup_qp(state), &wr, &bad), 0);
	assert_int_equal(fake.post.wr_count, 2);
	assert_int_equal(out->wr_id, 5);
	assert_int_equal(out->num_sge, 2);
	assert_int_equal(out->reserved, 0);
	assert_int_equal(sge[1].addr, 0x2000);
	assert_int_equal(sge[1].length, 20);
	assert_int_equal(sge[1].lkey, 2);
	out = (const struct vqp_recv_wr *)(sge + 2);
	assert_int_equal(out->wr_id, 6);
	assert_int_equal(out->num_sge, 0);
}

static void more_receives_than_a_call_takes_are_several_calls(void **state)
{
	static struct ibv_recv_wr wrs[VQP_MAX_WR + 1];
	struct ibv_recv_wr *bad;
	int i;

	for (i = 0; i < VQP_MAX_WR; i++)
		wrs[i].next = &wrs[i + 1];
	assert_int_equal(ibv_post_recv(setup_qp(state), wrs, &bad), 0);
	assert_int_equal(fake.posted, VQP_MAX_WR + 1);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_POST_RECV)], 2);
}

static void the_bad_receive_is_named(void **state)
{
	struct ibv_recv_wr wrs[3] = { { .next = &wrs[1] }, { .next = &wrs[2] }, { 0 } }, *bad = NULL;

	fake_fail(VQP_IOC_POST_RECV, ENOMEM);
	fake.fail_posted = 2;
	assert_int_equal(ibv_post_recv(setup_qp(state), wrs, &bad), ENOMEM);
	assert_ptr_equal(bad, &wrs[2]);
}

static void a_long_list_without_memory_is_not_begun(void **state)
{
	static struct ibv_send_wr wrs[MANY];
	static struct ibv_recv_wr recvs[MANY * 3];
	struct ibv_qp *qp = setup_qp(state);
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr *bad = NULL;
	struct ibv_recv_wr *rbad = NULL;
	int i;

	for (i = 0; i + 1 < MANY * 3; i++)
		recvs[i].next = &recvs[i + 1];
	fake.fail_alloc = 1;
	assert_int_equal(ibv_post_send(qp, chain(wrs, MANY, &sge), &bad), ENOMEM);
	assert_ptr_equal(bad, wrs);
	fake.fail_alloc = 1;
	assert_int_equal(ibv_post_recv(qp, recvs, &rbad), ENOMEM);
	assert_ptr_equal(rbad, recvs);
	assert_int_equal(fake.posted, 0);
}

static void an_empty_list_is_nothing(void **state)
{
	struct ibv_qp *qp = setup_qp(state);
	struct ibv_send_wr *bad;
	struct ibv_recv_wr *rbad;

	assert_int_equal(ibv_post_send(qp, NULL, &bad), 0);
	assert_int_equal(ibv_post_recv(qp, NULL, &rbad), 0);
	assert_int_equal(fake.posted, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(send_is_encoded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(immediate_data_is_encoded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(one_sided_requests_are_encoded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(atomics_are_encoded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(inline_data_is_copied_and_padded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(inline_data_has_its_limit, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(sge_counts_are_checked, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_list_is_one_system_call, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(requests_stay_in_order, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_list_too_long_for_one_call_takes_several, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(the_kernel_names_the_bad_request, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(requests_before_a_bad_one_are_posted, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_kernel_that_lies_leads_nowhere, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(receives_are_encoded, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(more_receives_than_a_call_takes_are_several_calls,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(the_bad_receive_is_named, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_long_list_without_memory_is_not_begun, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(an_empty_list_is_nothing, fake_setup, fake_teardown),
	};

	return cmocka_run_group_tests_name("post", tests, NULL, NULL);
}
