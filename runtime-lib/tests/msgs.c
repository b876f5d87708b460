// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* VQPs: creation, binding, connecting, and pop_msgs with a reply per sender. */
#include <vqp/krcore.h>
#include "fake.h"

static struct ibv_qp *setup_qp(void **state)
{
	return fake_qp(*state, vqp_create_cq(*state, 64, NULL), 64);
}

static void message(const struct ibv_qp *qp, const char *sender, uint32_t src_qp)
{
	struct vqp_cqe cqe = { .opcode = VQP_WC_RECV, .qp_num = qp->qp_num, .src_qp = src_qp };

	vqp_parse_gid(sender, (union ibv_gid *)cqe.src_gid);
	fake_complete(&cqe);
}

static struct ibv_qp *pop(struct ibv_qp *qp)
{
	struct ibv_qp *reply = qp;
	struct ibv_wc wc;

	assert_int_equal(vqp_pop_msgs(qp, 1, &reply, &wc), 1);
	return reply;
}

static void create_hands_the_attributes_on(void **state)
{
	struct ibv_cq *send_cq = vqp_create_cq(*state, 8, NULL), *recv_cq = vqp_create_cq(*state, 8, NULL);
	struct ibv_qp_init_attr attr = {
		.qp_context = &attr, .send_cq = send_cq, .recv_cq = recv_cq,
		.cap = { 10, 20, 3, 4, 50 }, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct ibv_qp *qp = vqp_create_qp(vqp_pd(*state), &attr);

	assert_non_null(qp);
	assert_int_equal(fake.create_qp.send_cq_fd, vqp_cq_fd(send_cq));
	assert_int_equal(fake.create_qp.recv_cq_fd, vqp_cq_fd(recv_cq));
	assert_int_equal(fake.create_qp.max_send_wr, 10);
	assert_int_equal(fake.create_qp.max_recv_wr, 20);
	assert_int_equal(fake.create_qp.max_send_sge, 3);
	assert_int_equal(fake.create_qp.max_recv_sge, 4);
	assert_int_equal(fake.create_qp.flags, VQP_QP_SQ_SIG_ALL);
	assert_ptr_equal(qp->qp_context, &attr);
	assert_int_equal(qp->qp_num, 0x1000);
}

static void create_refuses_what_a_vqp_is_not(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 8, NULL);
	const struct ibv_qp_init_attr good = { .send_cq = cq, .recv_cq = cq, .qp_type = VQP_QPT_VQP };
	struct ibv_qp_init_attr attr[5] = { good, good, good, good, good };
	struct ibv_srq srq;
	int i;

	attr[0].qp_type = IBV_QPT_UD;
	attr[1].srq = &srq;
	attr[2].send_cq = NULL;
	attr[3].recv_cq = NULL;
	attr[4].cap.max_inline_data = VQP_MAX_INLINE_BYTES + 1;
	for (i = 0; i < 5; i++) {
		errno = 0;
		assert_null(vqp_create_qp(vqp_pd(*state), &attr[i]));
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_CREATE_QP)], 0);
}

static void create_refuses_the_cq_of_another_context(void **state)
{
	struct ibv_context *other = vqp_open();
	struct ibv_cq *cq = vqp_create_cq(other, 8, NULL);
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = VQP_QPT_VQP };

	assert_null(vqp_create_qp(vqp_pd(*state), &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(vqp_close(other), 0);
}

static void create_that_fails_leaves_nothing(void **state)
{
	struct ibv_cq *cq = vqp_create_cq(*state, 8, NULL);
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = VQP_QPT_VQP };

	fake_fail(VQP_IOC_CREATE_QP, EMFILE);
	assert_null(vqp_create_qp(vqp_pd(*state), &attr));
	assert_int_equal(errno, EMFILE);
	fake.fail_alloc = 1;
	assert_null(vqp_create_qp(vqp_pd(*state), &attr));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_CREATE_QP)], 1);
	assert_int_equal(vqp_destroy_cq(cq), 0);	/* nobody uses it */
}

static void bind_returns_the_port(void **state)
{
	struct ibv_qp *qp = setup_qp(state);

	assert_int_equal(vqp_bind(qp, 7000), 7000);
	assert_int_equal(vqp_bind(qp, 0), 40000);
	fake_fail(VQP_IOC_BIND, EADDRINUSE);
	assert_int_equal(vqp_bind(qp, 7000), -EADDRINUSE);
}

static void connect_is_one_system_call(void **state)
{
	struct ibv_qp *qp = setup_qp(state);
	int before = fake.ioctls;
	union ibv_gid gid;

	assert_int_equal(vqp_connect_addr(qp, "10.9.8.7", 80), 0);
	assert_int_equal(fake.ioctls, before + 1);
	vqp_parse_gid("10.9.8.7", &gid);
	assert_memory_equal(fake.connect.gid, &gid, 16);
	assert_int_equal(fake.connect.port, 80);
	assert_int_equal(fake.connect.qp_num, qp->qp_num);
}

static void connect_passes_the_errno_on(void **state)
{
	struct ibv_qp *qp = setup_qp(state);

	assert_int_equal(vqp_connect_addr(qp, "nowhere", 80), -EINVAL);
	fake_fail(VQP_IOC_CONNECT, EHOSTUNREACH);
	assert_int_equal(vqp_connect_addr(qp, "10.9.8.7", 80), -EHOSTUNREACH);
}

static void no_message_no_reply(void **state)
{
	struct ibv_qp *reply;
	struct ibv_wc wc;

	assert_int_equal(vqp_pop_msgs(setup_qp(state), 1, &reply, &wc), 0);
}

static void the_first_message_makes_a_reply(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;
	union ibv_gid gid;

	message(qp, "10.0.0.1", 77);
	reply = pop(qp);
	assert_non_null(reply);
	assert_int_equal(reply->qp_num, qp->qp_num + 1);
	assert_ptr_equal(reply->send_cq, qp->send_cq);
	assert_int_equal(fake.accept.qp_num, qp->qp_num);
	assert_int_equal(fake.accept.src_qp, 77);
	vqp_parse_gid("10.0.0.1", &gid);
	assert_memory_equal(fake.accept.src_gid, &gid, 16);
}

static void later_messages_find_it(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;
	int i;

	message(qp, "10.0.0.1", 77);
	reply = pop(qp);
	for (i = 0; i < 10; i++) {
		message(qp, "10.0.0.1", 77);
		assert_ptr_equal(pop(qp), reply);
	}
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ACCEPT)], 1);
}

static void address_and_number_tell_senders_apart(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *first, *second, *third;

	message(qp, "10.0.0.1", 77);
	message(qp, "10.0.0.1", 78);
	message(qp, "10.0.0.2", 77);
	first = pop(qp);
	second = pop(qp);
	third = pop(qp);
	assert_ptr_not_equal(first, second);
	assert_ptr_not_equal(first, third);
	assert_ptr_not_equal(second, third);
}

static void a_thousand_senders_keep_their_replies(void **state)
{
	static struct ibv_qp *replies[1000];
	struct ibv_qp *qp = setup_qp(state);
	uint32_t i;

	for (i = 0; i < 1000; i++) {
		message(qp, "fd00::1", i);
		replies[i] = pop(qp);
	}
	for (i = 0; i < 1000; i++) {
		message(qp, "fd00::1", i);
		assert_ptr_equal(pop(qp), replies[i]);
	}
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ACCEPT)], 1000);
	assert_int_equal(vqp_destroy_qp(qp), 0);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_DESTROY_QP)], 1001);
}

static void many_messages_in_one_call(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *replies[8];
	struct ibv_wc wc[8];
	int i;

	for (i = 0; i < 10; i++)
		message(qp, "10.0.0.1", (uint32_t)i % 2);
	assert_int_equal(vqp_pop_msgs(qp, 8, replies, wc), 8);
	assert_ptr_equal(replies[0], replies[6]);
	assert_int_equal(wc[7].src_qp, 1);
	assert_int_equal(vqp_pop_msgs(qp, 8, replies, wc), 2);
}

static void other_completions_stay(void **state)
{
	const struct vqp_cqe send = { .opcode = VQP_WC_SEND, .qp_num = 0x1000, .wr_id = 9 };
	struct ibv_qp *qp = setup_qp(state), *other = fake_qp(*state, qp->recv_cq, 0), *reply;
	struct ibv_wc wc;

	fake_complete(&send);
	message(other, "10.0.0.1", 1);
	assert_int_equal(vqp_pop_msgs(qp, 1, &reply, &wc), 0);
	assert_int_equal(ibv_poll_cq(qp->recv_cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 9);
	assert_int_equal(vqp_pop_msgs(qp, 1, &reply, &wc), 0);
	assert_int_equal(vqp_pop_msgs(other, 1, &reply, &wc), 1);
}

static void a_failed_receive_has_no_reply(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply = qp;
	struct vqp_cqe cqe = { .opcode = VQP_WC_RECV, .qp_num = qp->qp_num, .status = VQP_WC_WR_FLUSH_ERR };
	struct ibv_wc wc;

	fake_complete(&cqe);
	assert_int_equal(vqp_pop_msgs(qp, 1, &reply, &wc), 1);
	assert_null(reply);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ACCEPT)], 0);
}

static void a_sender_that_is_gone_has_no_reply(void **state)
{
	struct ibv_qp *qp = setup_qp(state);

	fake_fail(VQP_IOC_ACCEPT, EHOSTUNREACH);
	message(qp, "10.0.0.1", 1);
	assert_null(pop(qp));
}

static void a_message_waits_for_memory(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;
	struct ibv_wc wc;

	message(qp, "10.0.0.1", 1);
	fake_fail(VQP_IOC_ACCEPT, ENOMEM);
	assert_int_equal(vqp_pop_msgs(qp, 1, &reply, &wc), -ENOMEM);
	fake_fail(VQP_IOC_ACCEPT, 0);
	assert_non_null(pop(qp));
}

static void a_message_waits_for_the_librarys_own_memory(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;
	unsigned int nr = 0;
	struct ibv_wc wc;
	int ret;

	message(qp, "10.0.0.1", 1);
	do {
		fake.fail_alloc = ++nr;
		ret = vqp_pop_msgs(qp, 1, &reply, &wc);
	} while (ret == -ENOMEM);
	assert_int_equal(ret, 1);
	assert_int_equal(nr, 3);	/* the table and the reply each failed once */
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ACCEPT)], 1);
	assert_non_null(reply);
}

static void a_destroyed_reply_is_made_anew(void **state)
{
	struct ibv_qp *qp = setup_qp(state);

	message(qp, "10.0.0.1", 1);
	assert_int_equal(vqp_destroy_qp(pop(qp)), 0);
	message(qp, "10.0.0.1", 1);
	assert_non_null(pop(qp));
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_ACCEPT)], 2);
	assert_int_equal(vqp_destroy_qp(qp), 0);
	assert_int_equal(fake.calls[FAKE_NR(VQP_IOC_DESTROY_QP)], 3);
}

static void posting_on_a_reply_names_the_reply(void **state)
{
	char data[64] = "";
	struct ibv_sge sge = { (uintptr_t)data, 64, 0 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	}, *bad;
	struct ibv_qp *qp = setup_qp(state), *reply;

	message(qp, "10.0.0.1", 1);
	reply = pop(qp);
	assert_int_equal(ibv_post_send(reply, &wr, &bad), 0);	/* max_inline is the bound VQP's */
	assert_int_equal(fake.post.qp_num, reply->qp_num);
}

static void destroy_that_fails_keeps_the_vqp(void **state)
{
	struct ibv_qp *qp = setup_qp(state);

	fake_fail(VQP_IOC_DESTROY_QP, EIO);
	assert_int_equal(vqp_destroy_qp(qp), -EIO);
	fake_fail(VQP_IOC_DESTROY_QP, 0);
	assert_int_equal(vqp_destroy_qp(qp), 0);
}

static void destroy_that_fails_for_a_reply_keeps_both(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;

	message(qp, "10.0.0.1", 1);
	reply = pop(qp);
	fake_fail(VQP_IOC_DESTROY_QP, EIO);
	assert_int_equal(vqp_destroy_qp(qp), -EIO);
	fake_fail(VQP_IOC_DESTROY_QP, 0);
	message(qp, "10.0.0.1", 1);
	assert_ptr_equal(pop(qp), reply);
	assert_int_equal(vqp_destroy_qp(qp), 0);
}

static void the_papers_names_work(void **state)
{
	struct ibv_qp *qp = setup_qp(state), *reply;
	union ibv_gid own, other;
	struct ibv_wc wc;

	vqp_gid(*state, &own);
	vqp_parse_gid("10.0.0.99", &other);
	assert_int_equal(qbind(qp, own, 7), 0);
	assert_int_equal(qbind(qp, other, 7), -EADDRNOTAVAIL);
	assert_int_equal(qbind(qp, own, 65536), -EINVAL);
	assert_int_equal(qconnect(qp, other, 7), 0);
	assert_int_equal(qconnect(qp, other, -1), -EINVAL);
	message(qp, "10.0.0.1", 1);
	assert_int_equal(qpop_msgs(qp, 1, &reply, &wc), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(create_hands_the_attributes_on, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_refuses_what_a_vqp_is_not, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_refuses_the_cq_of_another_context, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(create_that_fails_leaves_nothing, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(bind_returns_the_port, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(connect_is_one_system_call, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(connect_passes_the_errno_on, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(no_message_no_reply, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(the_first_message_makes_a_reply, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(later_messages_find_it, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(address_and_number_tell_senders_apart, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_thousand_senders_keep_their_replies, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(many_messages_in_one_call, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(other_completions_stay, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_failed_receive_has_no_reply, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_sender_that_is_gone_has_no_reply, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_message_waits_for_memory, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_message_waits_for_the_librarys_own_memory, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(a_destroyed_reply_is_made_anew, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(posting_on_a_reply_names_the_reply, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(destroy_that_fails_keeps_the_vqp, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(destroy_that_fails_for_a_reply_keeps_both, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(the_papers_names_work, fake_setup, fake_teardown),
	};

	return cmocka_run_group_tests_name("vqp", tests, NULL, NULL);
}
