// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "stream_credit.h"
#include "stream_frame.h"

static u8 msg[VQP_FRAME_MAX + 1];

static const struct vqp_frame open_frame = {
	.type = VQP_FRAME_OPEN, .from = 7, .room = 16384, .src_port = 40000, .dst_port = 80,
};
static const struct vqp_frame data_frame = {
	.type = VQP_FRAME_DATA, .to = 9, .from = 7, .seq = 0xfffffff0, .taken = 5, .room = 100,
};
static const struct vqp_frame parcel_frame = {
	.type = VQP_FRAME_PARCEL, .to = 9, .from = 7, .seq = 0xfffffff0, .taken = 5, .room = 100,
	.parcel = { .addr = 0x123456789abcdef0, .rkey = 0xfedcba98, .bytes = VQP_PARCEL_MAX },
};

/* What the parser says of a frame with so many bytes behind its header. */
static int parse(const struct vqp_frame *frame, u32 data, struct vqp_frame *parsed)
{
	vqp_frame_write(frame, msg);
	return vqp_frame_parse(msg, VQP_FRAME_HEADER + data, parsed);
}

static void check_same(const struct vqp_frame *a, const struct vqp_frame *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->reason, b->reason);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->recalls, b->recalls);
	assert_int_equal(a->to, b->to);
	assert_int_equal(a->from, b->from);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->taken, b->taken);
	assert_int_equal(a->room, b->room);
	assert_int_equal(a->src_port, b->src_port);
	assert_int_equal(a->dst_port, b->dst_port);
	assert_int_equal(a->parcel.addr, b->parcel.addr);
	assert_int_equal(a->parcel.rkey, b->parcel.rkey);
	assert_int_equal(a->parcel.bytes, b->parcel.bytes);
}

static void what_is_written_is_read(void **state)
{
	static const struct vqp_frame frames[] = {
		{ .type = VQP_FRAME_OPEN, .from = 1, .room = 2, .src_port = 3, .dst_port = 4 },
		{ .type = VQP_FRAME_OPEN_ACK, .to = 1, .from = 2, .taken = 3, .room = VQP_FRAME_ROOM_MAX, .recalls = 1 },
		{ .type = VQP_FRAME_REFUSE, .to = 0xffffffff, .reason = VQP_REFUSE_MEMORY },
		{ .type = VQP_FRAME_CREDIT, .to = 1, .from = 2, .taken = 0xffffffff },
		{ .type = VQP_FRAME_CREDIT, .to = 1, .from = 2, .recalls = 255, .flags = VQP_FRAME_PROBE },
		{ .type = VQP_FRAME_FIN, .to = 1, .from = 2, .seq = 3, .taken = 4, .room = 5, .recalls = 6 },
		{ .type = VQP_FRAME_RST, .to = 1, .from = 2 },
		{ .type = VQP_FRAME_BYE, .from = 7 },
		{ .type = VQP_FRAME_RECALL, .to = 1, .from = 2, .recalls = 3 },
		{ .type = VQP_FRAME_RETURN, .to = 1, .from = 2, .seq = 3, .recalls = 4 },
		{ .type = VQP_FRAME_FETCHED, .to = 1, .from = 2, .seq = 3, .taken = 4, .room = 5, .recalls = 6 },
		{ .type = VQP_FRAME_DECLINED, .to = 1, .from = 2, .seq = 3, .taken = 4, .room = 5, .recalls = 6 },
	};
	struct vqp_frame parsed;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		assert_int_equal(parse(&frames[i], 0, &parsed), 0);
		check_same(&parsed, &frames[i]);
		assert_int_equal(parsed.bytes, 0);
	}
}

static void the_fields_are_where_the_document_says(void **state)
{
	static const u8 header[VQP_FRAME_HEADER] = {
		1, 1, 0, 0,  0, 0, 0, 0,  0, 0, 0, 7,  0, 0, 0, 0,
		0, 0, 0, 0,  0, 0, 0x40, 0,  0x9c, 0x40, 0, 80,
	};

	(void)state;
	vqp_frame_write(&open_frame, msg);
	assert_memory_equal(msg, header, sizeof(header));
}

static void data_are_what_follows(void **state)
{
	struct vqp_frame parsed;

	(void)state;
	assert_int_equal(parse(&data_frame, VQP_FRAME_DATA_MAX, &parsed), 0);
	check_same(&parsed, &data_frame);
	assert_int_equal(parsed.bytes, VQP_FRAME_DATA_MAX);
	assert_ptr_equal(parsed.data, msg + VQP_FRAME_HEADER);
}

static void a_parcel_is_what_follows(void **state)
{
	static const u8 parcel[VQP_FRAME_PARCEL_BYTES] = {
		0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0xfe, 0xdc, 0xba, 0x98, 0, 1, 0, 0,
	};
	struct vqp_frame parsed;

	(void)state;
	assert_int_equal(vqp_frame_head(VQP_FRAME_PARCEL), VQP_FRAME_HEADER + VQP_FRAME_PARCEL_BYTES);
	assert_int_equal(vqp_frame_head(VQP_FRAME_DATA), VQP_FRAME_HEADER);
	assert_int_equal(parse(&parcel_frame, VQP_FRAME_PARCEL_BYTES, &parsed), 0);
	assert_memory_equal(msg + VQP_FRAME_HEADER, parcel, sizeof(parcel));
	check_same(&parsed, &parcel_frame);
	assert_int_equal(parsed.bytes, 0);
	assert_null(parsed.data);
}

static void a_parcel_is_larger_than_data_and_bounded(void **state)
{
	struct vqp_frame frame = parcel_frame, parsed;

	(void)state;
	frame.parcel.bytes = VQP_PARCEL_MAX + 1;
	assert_int_equal(parse(&frame, VQP_FRAME_PARCEL_BYTES, &parsed), -EBADMSG);
	frame.parcel.bytes = VQP_FRAME_DATA_MAX;
	assert_int_equal(parse(&frame, VQP_FRAME_PARCEL_BYTES, &parsed), -EBADMSG);
	frame.parcel.bytes = VQP_FRAME_DATA_MAX + 1;
	assert_int_equal(parse(&frame, VQP_FRAME_PARCEL_BYTES, &parsed), 0);
	for (u32 bytes = 0; bytes < VQP_FRAME_PARCEL_BYTES; bytes++)
		assert_int_equal(parse(&frame, bytes, &parsed), -EBADMSG);
	assert_int_equal(parse(&frame, VQP_FRAME_PARCEL_BYTES + 1, &parsed), -EBADMSG);
}

static void credit_alone_may_be_a_probe(void **state)
{
	struct vqp_frame frame = { .type = VQP_FRAME_CREDIT, .to = 1, .from = 2 }, parsed;

	(void)state;
	frame.flags = VQP_FRAME_WAITED;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
	frame.flags = VQP_FRAME_PROBE;
	assert_int_equal(parse(&frame, 0, &parsed), 0);
	frame.type = VQP_FRAME_FIN;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
}

static void bytes_alone_may_have_waited(void **state)
{
	struct vqp_frame frame = data_frame, parsed;

	(void)state;
	frame.flags = VQP_FRAME_WAITED;
	assert_int_equal(parse(&frame, 1, &parsed), 0);
	check_same(&parsed, &frame);
	frame = parcel_frame;
	frame.flags = VQP_FRAME_WAITED;
	assert_int_equal(parse(&frame, VQP_FRAME_PARCEL_BYTES, &parsed), 0);
	check_same(&parsed, &frame);
	frame = data_frame;
	frame.flags = VQP_FRAME_WAITED << 1;
	assert_int_equal(parse(&frame, 1, &parsed), -EBADMSG);
	frame = open_frame;
	frame.flags = VQP_FRAME_WAITED;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
}

static void a_wrong_length_is_refused(void **state)
{
	struct vqp_frame parsed;

	(void)state;
	assert_int_equal(parse(&data_frame, 0, &parsed), -EBADMSG);
	assert_int_equal(parse(&data_frame, VQP_FRAME_DATA_MAX + 1, &parsed), -EBADMSG);
	assert_int_equal(parse(&open_frame, 1, &parsed), -EBADMSG);
	vqp_frame_write(&open_frame, msg);
	for (u32 bytes = 0; bytes < VQP_FRAME_HEADER; bytes++)
		assert_int_equal(vqp_frame_parse(msg, bytes, &parsed), -EBADMSG);
}

/* Whatever byte of the header is set that the type has no use for. */
static void what_a_type_has_not_is_refused(void **state)
{
	static const struct vqp_frame bye = { .type = VQP_FRAME_BYE, .from = 7 };
	struct vqp_frame parsed;

	(void)state;
	for (u32 i = 0; i < VQP_FRAME_HEADER; i++) {
		if (i == 1 || (i >= 8 && i < 12))	/* type, from */
			continue;
		vqp_frame_write(&bye, msg);
		msg[i] ^= 0x10;
		assert_int_equal(vqp_frame_parse(msg, VQP_FRAME_HEADER, &parsed), -EBADMSG);
	}
	vqp_frame_write(&bye, msg);
	msg[1] = 0;
	assert_int_equal(vqp_frame_parse(msg, VQP_FRAME_HEADER, &parsed), -EBADMSG);
	msg[1] = VQP_FRAME_TYPES;
	assert_int_equal(vqp_frame_parse(msg, VQP_FRAME_HEADER, &parsed), -EBADMSG);
}

static void what_a_type_needs_is_demanded(void **state)
{
	struct vqp_frame frame = open_frame, parsed;

	(void)state;
	frame.from = 0;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
	frame = open_frame;
	frame.dst_port = 0;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
	frame = data_frame;
	frame.to = 0;
	assert_int_equal(parse(&frame, 1, &parsed), -EBADMSG);
	frame = (struct vqp_frame){ .type = VQP_FRAME_REFUSE, .to = 1 };
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
	frame.reason = VQP_REFUSE_REASONS;
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
	frame = (struct vqp_frame){ .type = VQP_FRAME_BYE };
	assert_int_equal(parse(&frame, 0, &parsed), -EBADMSG);
}

static void room_is_bounded(void **state)
{
	struct vqp_frame frame = data_frame, parsed;

	(void)state;
	frame.room = VQP_FRAME_ROOM_MAX + 1;
	assert_int_equal(parse(&frame, 1, &parsed), -EBADMSG);
}

/* ---- Credit ---- */

static void credit_is_what_the_receiver_has_said(void **state)
{
	struct vqp_credit c = { 0 };

	(void)state;
	assert_int_equal(vqp_credit_left(&c), 0);
	assert_int_equal(vqp_credit_hear(&c, 0, 0, 100), 0);
	c.sent = 60;
	assert_int_equal(vqp_credit_left(&c), 40);
	assert_int_equal(vqp_credit_hear(&c, 0, 50, 100), 0);
	assert_int_equal(vqp_credit_left(&c), 90);
	assert_int_equal(vqp_credit_unread(&c), 10);
}

static void what_is_said_late_takes_nothing_back(void **state)
{
	struct vqp_credit c = { .sent = 60, .taken = 50, .limit = 150 };

	(void)state;
	assert_int_equal(vqp_credit_hear(&c, 0, 20, 100), 0);
	assert_int_equal(vqp_credit_left(&c), 90);
	assert_int_equal(vqp_credit_unread(&c), 10);
	/* Less room, but the bytes may be under way. */
	assert_int_equal(vqp_credit_hear(&c, 0, 55, 10), 0);
	assert_int_equal(vqp_credit_left(&c), 90);
	assert_int_equal(vqp_credit_unread(&c), 5);
}

static void none_has_read_what_was_not_sent(void **state)
{
	struct vqp_credit c = { .sent = 60, .limit = 100 };

	(void)state;
	assert_int_equal(vqp_credit_hear(&c, 0, 61, 100), -EPROTO);
	assert_int_equal(vqp_credit_left(&c), 40);
}

static void what_is_recalled_may_be_sent_no_more(void **state)
{
	struct vqp_credit c = { .sent = 0xfffffff0, .taken = 0xfffffff0, .limit = 0x1000 };

	(void)state;
	assert_true(vqp_credit_return(&c, 1, 0x20));
	assert_int_equal(c.limit, 0x10);
	/* There is less left than may be kept. */
	c.sent = 0;
	assert_true(vqp_credit_return(&c, 2, 0x20));
	assert_int_equal(vqp_credit_left(&c), 0x10);
	assert_int_equal(vqp_credit_hear(&c, 2, 0, 0x100), 0);
	assert_int_equal(vqp_credit_left(&c), 0x100);
}

/* What is sent again may have come before. */
static void a_recall_that_comes_twice_takes_nothing(void **state)
{
	struct vqp_credit c = { .limit = 0x1000, .recalls = 255 };

	(void)state;
	assert_true(vqp_credit_return(&c, 0, 0x20));
	assert_int_equal(vqp_credit_hear(&c, 0, 0, 0x1000), 0);
	assert_false(vqp_credit_return(&c, 0, 0x20));
	assert_false(vqp_credit_return(&c, 255, 0x20));
	assert_int_equal(vqp_credit_left(&c), 0x1000);
}

static void room_from_before_a_recall_is_none(void **state)
{
	struct vqp_credit c = { .sent = 10, .limit = 0x1000 };

	(void)state;
	assert_true(vqp_credit_return(&c, 1, 0x20));
	assert_int_equal(vqp_credit_hear(&c, 0, 5, 0x1000), 0);
	assert_int_equal(vqp_credit_left(&c), 0x20);
	/* It has read them nevertheless. */
	assert_int_equal(vqp_credit_unread(&c), 5);
}

static void bytes_that_come_twice_are_told(void **state)
{
	(void)state;
	assert_int_equal(vqp_credit_repeated(100, 100, 10), 0);
	assert_int_equal(vqp_credit_repeated(100, 110, 10), 0);
	assert_int_equal(vqp_credit_repeated(105, 100, 10), 5);
	assert_int_equal(vqp_credit_repeated(110, 100, 10), 10);
	assert_int_equal(vqp_credit_repeated(200, 100, 10), 10);
	assert_int_equal(vqp_credit_repeated(5, 0xfffffffb, 10), 10);
	assert_int_equal(vqp_credit_repeated(0xfffffffb, 5, 10), 0);
}

static void counts_wrap(void **state)
{
	struct vqp_credit c = { .sent = 0xfffffff0, .taken = 0xffffff00, .limit = 0xffffffff };

	(void)state;
	assert_int_equal(vqp_credit_hear(&c, 0, 0xfffffff0, 0x1000), 0);
	assert_int_equal(vqp_credit_left(&c), 0x1000);
	c.sent += 0x20;
	assert_int_equal(vqp_credit_unread(&c), 0x20);
	assert_int_equal(vqp_credit_hear(&c, 0, 0x10, 0x1000), 0);
	assert_int_equal(vqp_credit_left(&c), 0x1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(the_fields_are_where_the_document_says),
		cmocka_unit_test(data_are_what_follows),
		cmocka_unit_test(a_parcel_is_what_follows),
		cmocka_unit_test(a_parcel_is_larger_than_data_and_bounded),
		cmocka_unit_test(bytes_alone_may_have_waited),
		cmocka_unit_test(credit_alone_may_be_a_probe),
		cmocka_unit_test(a_wrong_length_is_refused),
		cmocka_unit_test(what_a_type_has_not_is_refused),
		cmocka_unit_test(what_a_type_needs_is_demanded),
		cmocka_unit_test(room_is_bounded),
		cmocka_unit_test(credit_is_what_the_receiver_has_said),
		cmocka_unit_test(what_is_said_late_takes_nothing_back),
		cmocka_unit_test(none_has_read_what_was_not_sent),
		cmocka_unit_test(what_is_recalled_may_be_sent_no_more),
		cmocka_unit_test(a_recall_that_comes_twice_takes_nothing),
		cmocka_unit_test(room_from_before_a_recall_is_none),
		cmocka_unit_test(bytes_that_come_twice_are_told),
		cmocka_unit_test(counts_wrap),
	};

	return cmocka_run_group_tests_name("stream_frame", tests, NULL, NULL);
}
