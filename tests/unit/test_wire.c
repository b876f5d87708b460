// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "unit.h"
#include "wire.h"

#define BASE	28
#define OPEN	84

static const u8 data[100] = "what a packet carries";

static const struct vqp_pkt open_header = {
	.tenant = 0x01020304, .open_psn = 0xfffffff0, .src_gid = "source address..", .dst_gid = "target address..",
	.src_qp = 0x11223344, .dst_qp = 0x55667788, .dst_port = 0xabcd, .src_qkey = 0x80010000,
	.src_lanes = 3, .src_qpn = { 0xffffff, 2, 0x10203 }, .stamp = 0x21222324, .age = 0x25, .echo = 0x31323334,
};

enum sample {
	SEND_WHOLE, SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_EMPTY, SEND_OPEN,
	WRITE_WHOLE, WRITE_MIDDLE, WRITE_IMM, WRITE_EMPTY, WRITE_OPEN,
	READ, READ_OPEN, READ_RESP, READ_RESP_EMPTY, ACK, NAK_SEQ, NAK_RNR, NAK_STALE, CLOSE,
	CMP_SWP, CMP_SWP_OPEN, FETCH_ADD, SAMPLES
};

static struct vqp_pkt sample(enum sample which)
{
	const u32 whole = VQP_PKT_FIRST | VQP_PKT_LAST;
	struct vqp_pkt pkt = { 0 };

	switch (which) {
	case SEND_OPEN:
	case WRITE_OPEN:
	case READ_OPEN:
	case CMP_SWP_OPEN:
		pkt = open_header;
		pkt.flags = VQP_PKT_OPEN;
		break;
	default:
		break;
	}
	pkt.src_epoch = 0xa1a2a3a4;
	pkt.dst_epoch = 0xb1b2b3b4;
	pkt.flow = 0xc1c2c3c4;
	pkt.psn = 0xd1d2d3d4;
	pkt.turn = 0x7172;
	pkt.payload = data;
	switch (which) {
	case SEND_WHOLE:
	case SEND_OPEN:
		pkt.op = VQP_OP_SEND;
		pkt.flags |= whole | VQP_PKT_ACK_REQ;
		pkt.msg_bytes = pkt.payload_bytes = sizeof(data);
		break;
	case SEND_FIRST:
		pkt.op = VQP_OP_SEND;
		pkt.flags = VQP_PKT_FIRST;
		pkt.msg_bytes = VQP_WIRE_MSG_MAX;
		pkt.payload_bytes = 64;
		break;
	case SEND_MIDDLE:
		pkt.op = VQP_OP_SEND;
		pkt.msg_bytes = 1000;
		pkt.offset = 500;
		pkt.payload_bytes = 64;
		break;
	case SEND_LAST_IMM:
		pkt.op = VQP_OP_SEND;
		pkt.flags = VQP_PKT_LAST | VQP_PKT_IMM | VQP_PKT_SOLICITED;
		pkt.imm = 0x12345678;
		pkt.msg_bytes = 1000;
		pkt.offset = 999;
		pkt.payload_bytes = 1;
		break;
	case SEND_EMPTY:
		pkt.op = VQP_OP_SEND;
		pkt.flags = whole;
		break;
	case WRITE_WHOLE:
	case WRITE_OPEN:
		pkt.op = VQP_OP_WRITE;
		pkt.flags |= whole;
		pkt.addr = 0x0123456789abcdef;
		pkt.rkey = 0xe1e2e3e4;
		pkt.payload_bytes = sizeof(data);
		break;
	case WRITE_MIDDLE:
		pkt.op = VQP_OP_WRITE;
		pkt.addr = ~0ULL;
		pkt.payload_bytes = 9;
		break;
	case WRITE_IMM:
		pkt.op = VQP_OP_WRITE;
		pkt.flags = VQP_PKT_LAST | VQP_PKT_IMM;
		pkt.imm = 7;
		pkt.payload_bytes = 9;
		break;
	case WRITE_EMPTY:
		pkt.op = VQP_OP_WRITE;
		pkt.flags = whole;
		break;
	case READ:
	case READ_OPEN:
		pkt.op = VQP_OP_READ;
		pkt.addr = 0x7f0011223344;
		pkt.rkey = 0xe1e2e3e4;
		pkt.msg_bytes = 65536;
		pkt.offset = 4096;
		break;
	case READ_RESP:
		pkt.op = VQP_OP_READ_RESP;
		pkt.offset = 8192;
		pkt.payload_bytes = sizeof(data);
		break;
	case READ_RESP_EMPTY:
		pkt.op = VQP_OP_READ_RESP;
		break;
	case ACK:
		pkt.op = VQP_OP_ACK;
		pkt.ack_psn = 0xf1f2f3f4;
		break;
	case NAK_SEQ:
		pkt.op = VQP_OP_NAK;
		pkt.nak = VQP_NAK_SEQ;
		pkt.ack_psn = 1;
		break;
	case NAK_RNR:
		pkt.op = VQP_OP_NAK;
		pkt.nak = VQP_NAK_RNR;
		pkt.ack_psn = 0xf1f2f3f4;
		pkt.rnr_us = 500;
		break;
	case NAK_STALE:
		pkt.op = VQP_OP_NAK;
		pkt.nak = VQP_NAK_STALE;
		pkt.ack_psn = 0xf1f2f3f4;
		pkt.echo = 0x80000001;
		break;
	case CLOSE:
		pkt.op = VQP_OP_CLOSE;
		break;
	case CMP_SWP:
	case CMP_SWP_OPEN:
		pkt.op = VQP_OP_CMP_SWP;
		pkt.addr = 0x7f0011223348;
		pkt.rkey = 0xe1e2e3e4;
		pkt.compare_add = 0x0102030405060708;
		pkt.swap = 0x1112131415161718;
		break;
	case FETCH_ADD:
		pkt.op = VQP_OP_FETCH_ADD;
		pkt.addr = ~0ULL;
		pkt.compare_add = ~0ULL;
		break;
	case SAMPLES:
		fail();
	}
	return pkt;
}

/* A packet in a buffer of exactly its size, so that a byte read too far is noticed. */
static u8 *packet(const struct vqp_pkt *pkt, u32 *bytes)
{
	u8 header[VQP_WIRE_HEADER_MAX];
	const u32 header_bytes = vqp_wire_build(header, pkt);
	u8 *buf;

	assert_true(header_bytes <= sizeof(header));
	*bytes = header_bytes + pkt->payload_bytes;
	buf = malloc(*bytes);
	assert_non_null(buf);
	memcpy(buf, header, header_bytes);
	if (pkt->payload_bytes)
		memcpy(buf + header_bytes, pkt->payload, pkt->payload_bytes);
	return buf;
}

static int parse(const struct vqp_pkt *pkt)
{
	struct vqp_pkt parsed;
	u32 bytes;
	u8 *buf = packet(pkt, &bytes);
	int ret = vqp_wire_parse(buf, bytes, &parsed);

	free(buf);
	return ret;
}

static void refused(const struct vqp_pkt *pkt)
{
	assert_int_equal(parse(pkt), -EBADMSG);
}

/* The sample with byte `at` changed to `value` on the wire. */
static void refused_byte(enum sample which, u32 at, u8 value)
{
	const struct vqp_pkt pkt = sample(which);
	struct vqp_pkt parsed;
	u32 bytes;
	u8 *buf = packet(&pkt, &bytes);

	assert_int_equal(vqp_wire_parse(buf, bytes, &parsed), 0);
	assert_true(at < bytes);
	assert_int_not_equal(buf[at], value);
	buf[at] = value;
	assert_int_equal(vqp_wire_parse(buf, bytes, &parsed), -EBADMSG);
	free(buf);
}

/* What is accepted is what the builder would have built: nothing goes unnoticed. */
static void check_canonical(const u8 *buf, u32 bytes)
{
	u8 header[VQP_WIRE_HEADER_MAX];
	struct vqp_pkt pkt;
	u32 header_bytes;

	if (vqp_wire_parse(buf, bytes, &pkt))
		return;
	header_bytes = vqp_wire_build(header, &pkt);
	assert_int_equal(header_bytes + pkt.payload_bytes, bytes);
	assert_memory_equal(header, buf, header_bytes);
	assert_ptr_equal(pkt.payload, buf + header_bytes);
}

static void round_trip(void **state)
{
	const struct vqp_pkt pkt = sample((enum sample)(uintptr_t)*state);
	struct vqp_pkt parsed;
	u32 bytes;
	u8 *buf = packet(&pkt, &bytes);

	assert_int_equal(vqp_wire_parse(buf, bytes, &parsed), 0);
	assert_memory_equal(parsed.payload, pkt.payload, pkt.payload_bytes);
	parsed.payload = pkt.payload;
	assert_memory_equal(&parsed, &pkt, sizeof(pkt));
	free(buf);
}

static void truncated_at_every_length(void **state)
{
	(void)state;
	for (u32 which = 0; which < SAMPLES; which++) {
		const struct vqp_pkt pkt = sample(which);
		struct vqp_pkt parsed;
		u32 bytes;
		u8 *buf = packet(&pkt, &bytes);

		for (u32 cut = 0; cut < bytes; cut++) {
			u8 *part = malloc(cut ? cut : 1);

			assert_non_null(part);
			memcpy(part, buf, cut);
			assert_int_equal(vqp_wire_parse(part, cut, &parsed), -EBADMSG);
			free(part);
		}
		free(buf);
	}
}

static void longer_than_it_says(void **state)
{
	(void)state;
	for (u32 which = 0; which < SAMPLES; which++) {
		const struct vqp_pkt pkt = sample(which);
		struct vqp_pkt parsed;
		u32 bytes;
		u8 *buf = packet(&pkt, &bytes), *longer = realloc(buf, bytes + 1);

		assert_non_null(longer);
		longer[bytes] = 0;
		assert_int_equal(vqp_wire_parse(longer, bytes + 1, &parsed), -EBADMSG);
		free(longer);
	}
}

static void every_bit_flipped(void **state)
{
	(void)state;
	for (u32 which = 0; which < SAMPLES; which++) {
		const struct vqp_pkt pkt = sample(which);
		u32 bytes;
		u8 *buf = packet(&pkt, &bytes);

		for (u32 bit = 0; bit < bytes * 8; bit++) {
			buf[bit / 8] ^= 1 << bit % 8;
			check_canonical(buf, bytes);
			buf[bit / 8] ^= 1 << bit % 8;
		}
		free(buf);
	}
}

static void random_bytes(void **state)
{
	u64 rng = 1;

	(void)state;
	for (u32 round = 0; round < 100000; round++) {
		const u32 bytes = unit_random(&rng) % 200;
		u8 *buf = malloc(bytes ? bytes : 1);

		assert_non_null(buf);
		for (u32 i = 0; i < bytes; i++)
			buf[i] = unit_random(&rng);
		if (bytes > 6) {
			/* get past the first checks */
			buf[0] = VQP_WIRE_VERSION;
			buf[1] %= VQP_OP_MAX + 2;
			buf[2] = 0;
			buf[3] &= VQP_PKT_FLAGS_ALL;
			buf[4] = 0;
		}
		check_canonical(buf, bytes);
		free(buf);
	}
}

static void header_lengths(void **state)
{
	const struct { enum sample which; u32 bytes; } expect[] = {
		{ SEND_WHOLE, BASE + 12 }, { WRITE_WHOLE, BASE + 16 }, { READ, BASE + 24 },
		{ READ_RESP, BASE + 4 }, { ACK, BASE + 4 }, { NAK_SEQ, BASE + 28 }, { CLOSE, BASE },
		{ READ_OPEN, BASE + OPEN + 24 }, { FETCH_ADD, BASE + 32 }, { CMP_SWP_OPEN, BASE + OPEN + 32 },
	};
	u8 header[VQP_WIRE_HEADER_MAX];

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(expect); i++) {
		const struct vqp_pkt pkt = sample(expect[i].which);

		assert_int_equal(vqp_wire_build(header, &pkt), expect[i].bytes);
	}
}

static void big_endian_on_the_wire(void **state)
{
	const u8 expect[] = {
		VQP_WIRE_VERSION, VQP_OP_ACK, 0, 0, 0, 0, 0x71, 0x72, 0xa1, 0xa2, 0xa3, 0xa4, 0xb1, 0xb2, 0xb3, 0xb4,
		0xc1, 0xc2, 0xc3, 0xc4, 0xd1, 0xd2, 0xd3, 0xd4, 0, 0, 0, 0, 0xf1, 0xf2, 0xf3, 0xf4,
	};
	const struct vqp_pkt pkt = sample(ACK);
	u8 header[VQP_WIRE_HEADER_MAX];

	(void)state;
	assert_int_equal(vqp_wire_build(header, &pkt), sizeof(expect));
	assert_memory_equal(header, expect, sizeof(expect));
}

static void what_is_held_is_named_in_words_of_32_packets(void **state)
{
	struct vqp_pkt pkt = sample(NAK_SEQ), parsed;
	u8 buf[VQP_WIRE_HEADER_MAX];
	u32 bytes;

	(void)state;
	memset(&pkt.held, 0, sizeof(pkt.held));
	vqp_mask_set(&pkt.held, 1);
	vqp_mask_set(&pkt.held, 32);
	vqp_mask_set(&pkt.held, 127);
	bytes = vqp_wire_build(buf, &pkt);
	assert_memory_equal(buf + bytes - 16, ((u8[]) { 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0x80, 0, 0, 0 }), 16);
	assert_int_equal(vqp_wire_parse(buf, bytes, &parsed), 0);
	assert_memory_equal(&parsed.held, &pkt.held, sizeof(pkt.held));
	pkt.nak = VQP_NAK_ACCESS;
	vqp_wire_build(buf, &pkt);
	assert_int_equal(vqp_wire_parse(buf, bytes, &parsed), -EBADMSG);
}

static void immediate_keeps_its_byte_order(void **state)
{
	struct vqp_pkt pkt = sample(SEND_LAST_IMM);
	const u8 opaque[4] = { 1, 2, 3, 4 };
	u8 header[VQP_WIRE_HEADER_MAX];

	(void)state;
	memcpy(&pkt.imm, opaque, 4);
	vqp_wire_build(header, &pkt);
	assert_memory_equal(header + BASE + 8, opaque, 4);
}

static void unaligned_buffer(void **state)
{
	const struct vqp_pkt pkt = sample(READ_OPEN);
	struct vqp_pkt parsed;
	u8 buf[VQP_WIRE_HEADER_MAX + 1];
	const u32 bytes = vqp_wire_build(buf + 1, &pkt);

	(void)state;
	assert_int_equal(vqp_wire_parse(buf + 1, bytes, &parsed), 0);
	assert_int_equal(parsed.addr, pkt.addr);
}

static void wrong_version(void **state)
{
	(void)state;
	refused_byte(ACK, 0, VQP_WIRE_VERSION + 1);
}

static void marks_are_told_in_answers_only(void **state)
{
	struct vqp_pkt pkt = sample(ACK), parsed;
	u8 buf[VQP_WIRE_HEADER_MAX];

	(void)state;
	pkt.marks = VQP_PKT_MARKS_MAX;
	assert_int_equal(vqp_wire_parse(buf, vqp_wire_build(buf, &pkt), &parsed), 0);
	assert_int_equal(parsed.marks, VQP_PKT_MARKS_MAX);
	refused_byte(CLOSE, 2, 1);
}

static void unknown_opcode(void **state)
{
	(void)state;
	refused_byte(CLOSE, 1, 0);
	refused_byte(CLOSE, 1, VQP_OP_MAX + 1);
}

static void unknown_flag(void **state)
{
	(void)state;
	refused_byte(SEND_WHOLE, 2, 1);
	refused_byte(SEND_WHOLE, 3, 0x40 | VQP_PKT_FIRST | VQP_PKT_LAST | VQP_PKT_ACK_REQ);
}

static void flags_only_where_they_belong(void **state)
{
	const struct { enum sample which; u32 flags; } bad[] = {
		{ READ, VQP_PKT_FIRST }, { READ, VQP_PKT_LAST }, { READ, VQP_PKT_IMM }, { READ, VQP_PKT_ACK_REQ },
		{ READ_RESP, VQP_PKT_OPEN }, { READ_RESP, VQP_PKT_LAST }, { ACK, VQP_PKT_OPEN },
		{ ACK, VQP_PKT_IMM }, { NAK_SEQ, VQP_PKT_OPEN }, { NAK_SEQ, VQP_PKT_ACK_REQ }, { CLOSE, VQP_PKT_OPEN },
		{ CLOSE, VQP_PKT_SOLICITED },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vqp_pkt pkt = sample(bad[i].which);

		pkt.flags |= bad[i].flags;
		pkt.src_lanes = 1;
		refused(&pkt);
	}
}

static void payload_only_where_it_belongs(void **state)
{
	const enum sample bad[] = { READ, ACK, NAK_SEQ, NAK_RNR, CLOSE };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vqp_pkt pkt = sample(bad[i]);

		pkt.payload_bytes = 1;
		refused(&pkt);
	}
}

static void no_lanes(void **state)
{
	struct vqp_pkt pkt = sample(SEND_OPEN);

	(void)state;
	pkt.src_lanes = 0;
	refused(&pkt);
}

static void too_many_lanes(void **state)
{
	(void)state;
	refused_byte(SEND_OPEN, BASE + 50, VQP_WIRE_LANES_MAX + 1);
}

static void all_lanes(void **state)
{
	struct vqp_pkt pkt = sample(SEND_OPEN);

	(void)state;
	pkt.src_lanes = VQP_WIRE_LANES_MAX;
	assert_int_equal(parse(&pkt), 0);
}

static void lane_number_beyond_the_lanes(void **state)
{
	(void)state;
	refused_byte(SEND_OPEN, BASE + OPEN - 9, 1);
}

/* Numbers of 24 bits, and then what tells the packet from a late copy. */
static void end_of_the_open_header(void **state)
{
	const u8 lanes[] = { 0xff, 0xff, 0xff, 0, 0, 2, 1, 2, 3, 0 };
	const u8 clock[] = { 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34 };
	const struct vqp_pkt pkt = sample(SEND_OPEN);
	u8 header[VQP_WIRE_HEADER_MAX];

	(void)state;
	vqp_wire_build(header, &pkt);
	assert_int_equal(header[BASE + 51], 0x25);
	assert_memory_equal(header + BASE + 52, lanes, sizeof(lanes));
	assert_memory_equal(header + BASE + 76, clock, sizeof(clock));
}

static void send_longer_than_its_message(void **state)
{
	struct vqp_pkt pkt = sample(SEND_WHOLE);

	(void)state;
	pkt.msg_bytes = pkt.payload_bytes - 1;
	refused(&pkt);
}

static void send_beyond_its_message(void **state)
{
	struct vqp_pkt pkt = sample(SEND_MIDDLE);

	(void)state;
	pkt.offset = pkt.msg_bytes + 1;
	refused(&pkt);
	pkt.offset = ~0U;
	refused(&pkt);
}

static void send_of_more_than_1_gib(void **state)
{
	struct vqp_pkt pkt = sample(SEND_FIRST);

	(void)state;
	assert_int_equal(parse(&pkt), 0);
	pkt.msg_bytes++;
	refused(&pkt);
}

static void send_first_not_at_the_start(void **state)
{
	struct vqp_pkt pkt = sample(SEND_MIDDLE);

	(void)state;
	pkt.flags |= VQP_PKT_FIRST;
	refused(&pkt);
}

static void send_start_not_first(void **state)
{
	struct vqp_pkt pkt = sample(SEND_WHOLE);

	(void)state;
	pkt.flags &= ~VQP_PKT_FIRST;
	refused(&pkt);
}

static void send_last_before_the_end(void **state)
{
	struct vqp_pkt pkt = sample(SEND_MIDDLE);

	(void)state;
	pkt.flags |= VQP_PKT_LAST;
	refused(&pkt);
}

static void send_end_not_last(void **state)
{
	struct vqp_pkt pkt = sample(SEND_WHOLE);

	(void)state;
	pkt.flags &= ~VQP_PKT_LAST;
	refused(&pkt);
}

static void empty_packet_of_a_longer_message(void **state)
{
	struct vqp_pkt pkt = sample(SEND_MIDDLE);

	(void)state;
	pkt.payload_bytes = 0;
	refused(&pkt);
	pkt = sample(WRITE_MIDDLE);
	pkt.payload_bytes = 0;
	refused(&pkt);
	pkt.flags = VQP_PKT_LAST;
	refused(&pkt);
}

static void immediate_before_the_last_packet(void **state)
{
	struct vqp_pkt pkt = sample(SEND_MIDDLE);

	(void)state;
	pkt.flags |= VQP_PKT_IMM;
	refused(&pkt);
	pkt = sample(WRITE_MIDDLE);
	pkt.flags |= VQP_PKT_IMM;
	refused(&pkt);
}

static void solicited_before_the_last_packet(void **state)
{
	struct vqp_pkt pkt = sample(SEND_FIRST);

	(void)state;
	pkt.flags |= VQP_PKT_SOLICITED;
	refused(&pkt);
}

static void immediate_without_its_flag(void **state)
{
	struct vqp_pkt pkt = sample(SEND_WHOLE);

	(void)state;
	pkt.imm = 1;
	refused(&pkt);
	pkt = sample(WRITE_WHOLE);
	pkt.imm = 1;
	refused(&pkt);
}

static void read_of_more_than_1_gib(void **state)
{
	struct vqp_pkt pkt = sample(READ);

	(void)state;
	pkt.msg_bytes = VQP_WIRE_MSG_MAX + 1;
	refused(&pkt);
	pkt.msg_bytes = 1;
	pkt.offset = VQP_WIRE_MSG_MAX + 1;
	refused(&pkt);
}

static void reserved_read_field(void **state)
{
	(void)state;
	refused_byte(READ, BASE + 23, 1);
}

static void reserved_atomic_field(void **state)
{
	(void)state;
	refused_byte(CMP_SWP, BASE + 12, 1);
	refused_byte(FETCH_ADD, BASE + 15, 1);
}

static void fetch_add_swaps_nothing(void **state)
{
	struct vqp_pkt pkt = sample(FETCH_ADD);

	(void)state;
	pkt.swap = 1;
	refused(&pkt);
}

static void read_resp_far_out(void **state)
{
	struct vqp_pkt pkt = sample(READ_RESP);

	(void)state;
	pkt.offset = ~0U;
	refused(&pkt);
}

static void unknown_nak(void **state)
{
	struct vqp_pkt pkt = sample(NAK_SEQ);

	(void)state;
	pkt.nak = 0;
	refused(&pkt);
	pkt.nak = VQP_NAK_MAX + 1;
	refused(&pkt);
}

static void every_nak(void **state)
{
	struct vqp_pkt pkt = sample(NAK_SEQ);

	(void)state;
	for (pkt.nak = 1; pkt.nak <= VQP_NAK_MAX; pkt.nak++) {
		pkt.echo = pkt.nak == VQP_NAK_STALE ? 1 : 0;
		assert_int_equal(parse(&pkt), 0);
	}
}

static void a_challenge_has_an_echo(void **state)
{
	struct vqp_pkt pkt = sample(NAK_STALE);

	(void)state;
	pkt.echo = 0;
	refused(&pkt);
}

static void wait_only_with_rnr_and_busy(void **state)
{
	struct vqp_pkt pkt = sample(NAK_RNR);

	(void)state;
	pkt.nak = VQP_NAK_BUSY;
	assert_int_equal(parse(&pkt), 0);
	pkt.nak = VQP_NAK_SEQ;
	refused(&pkt);
}

static void reserved_nak_field(void **state)
{
	(void)state;
	refused_byte(NAK_SEQ, BASE + 9, 1);
	refused_byte(NAK_SEQ, BASE + 11, 1);
}

static void psns_compare_across_the_wrap(void **state)
{
	(void)state;
	assert_true(vqp_psn_before(0xffffffff, 0));
	assert_false(vqp_psn_before(0, 0xffffffff));
	assert_false(vqp_psn_before(5, 5));
}

#define ROUND_TRIP(which) { "round_trip_" #which, round_trip, NULL, NULL, (void *)(uintptr_t)(which) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROUND_TRIP(SEND_WHOLE), ROUND_TRIP(SEND_FIRST), ROUND_TRIP(SEND_MIDDLE), ROUND_TRIP(SEND_LAST_IMM),
		ROUND_TRIP(SEND_EMPTY), ROUND_TRIP(SEND_OPEN), ROUND_TRIP(WRITE_WHOLE), ROUND_TRIP(WRITE_MIDDLE),
		ROUND_TRIP(WRITE_IMM), ROUND_TRIP(WRITE_EMPTY), ROUND_TRIP(WRITE_OPEN), ROUND_TRIP(READ),
		ROUND_TRIP(READ_OPEN), ROUND_TRIP(READ_RESP), ROUND_TRIP(READ_RESP_EMPTY), ROUND_TRIP(ACK),
		ROUND_TRIP(NAK_SEQ), ROUND_TRIP(NAK_RNR), ROUND_TRIP(CLOSE), ROUND_TRIP(CMP_SWP),
		ROUND_TRIP(CMP_SWP_OPEN), ROUND_TRIP(FETCH_ADD),
		cmocka_unit_test(reserved_atomic_field),
		cmocka_unit_test(fetch_add_swaps_nothing),
		cmocka_unit_test(truncated_at_every_length),
		cmocka_unit_test(longer_than_it_says),
		cmocka_unit_test(every_bit_flipped),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(header_lengths),
		cmocka_unit_test(big_endian_on_the_wire),
		cmocka_unit_test(what_is_held_is_named_in_words_of_32_packets),
		cmocka_unit_test(immediate_keeps_its_byte_order),
		cmocka_unit_test(unaligned_buffer),
		cmocka_unit_test(wrong_version),
		cmocka_unit_test(marks_are_told_in_answers_only),
		cmocka_unit_test(unknown_opcode),
		cmocka_unit_test(unknown_flag),
		cmocka_unit_test(flags_only_where_they_belong),
		cmocka_unit_test(payload_only_where_it_belongs),
		cmocka_unit_test(no_lanes),
		cmocka_unit_test(too_many_lanes),
		cmocka_unit_test(all_lanes),
		cmocka_unit_test(lane_number_beyond_the_lanes),
		cmocka_unit_test(end_of_the_open_header),
		cmocka_unit_test(send_longer_than_its_message),
		cmocka_unit_test(send_beyond_its_message),
		cmocka_unit_test(send_of_more_than_1_gib),
		cmocka_unit_test(send_first_not_at_the_start),
		cmocka_unit_test(send_start_not_first),
		cmocka_unit_test(send_last_before_the_end),
		cmocka_unit_test(send_end_not_last),
		cmocka_unit_test(empty_packet_of_a_longer_message),
		cmocka_unit_test(immediate_before_the_last_packet),
		cmocka_unit_test(solicited_before_the_last_packet),
		cmocka_unit_test(immediate_without_its_flag),
		cmocka_unit_test(read_of_more_than_1_gib),
		cmocka_unit_test(reserved_read_field),
		cmocka_unit_test(read_resp_far_out),
		cmocka_unit_test(unknown_nak),
		cmocka_unit_test(every_nak),
		cmocka_unit_test(a_challenge_has_an_echo),
		cmocka_unit_test(wait_only_with_rnr_and_busy),
		cmocka_unit_test(reserved_nak_field),
		cmocka_unit_test(psns_compare_across_the_wrap),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
