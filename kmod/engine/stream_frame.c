// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "stream_frame.h"

struct frame_header {
	u8 version;
	u8 type;
	u8 detail;			/* reason or recalls: no type has both */
	u8 flags;
	__be32 to;
	__be32 from;
	__be32 seq;
	__be32 taken;
	__be32 room;
	__be16 src_port;
	__be16 dst_port;
};

static_assert(sizeof(struct frame_header) == VQP_FRAME_HEADER);

/* What follows it in a PARCEL frame. */
struct frame_parcel {
	__be64 addr;
	__be32 rkey;
	__be32 bytes;
};

static_assert(sizeof(struct frame_parcel) == VQP_FRAME_PARCEL_BYTES);

static void frame_write_parcel(const struct vqp_frame_parcel *parcel, u8 *to)
{
	const struct frame_parcel p = {
		.addr = cpu_to_be64(parcel->addr),
		.rkey = cpu_to_be32(parcel->rkey),
		.bytes = cpu_to_be32(parcel->bytes),
	};

	memcpy(to, &p, sizeof(p));
}

void vqp_frame_write(const struct vqp_frame *frame, u8 *to)
{
	const struct frame_header h = {
		.version = VQP_FRAME_VERSION,
		.type = frame->type,
		.detail = frame->reason ?: frame->recalls,
		.flags = frame->flags,
		.to = cpu_to_be32(frame->to),
		.from = cpu_to_be32(frame->from),
		.seq = cpu_to_be32(frame->seq),
		.taken = cpu_to_be32(frame->taken),
		.room = cpu_to_be32(frame->room),
		.src_port = cpu_to_be16(frame->src_port),
		.dst_port = cpu_to_be16(frame->dst_port),
	};

	memcpy(to, &h, sizeof(h));
	if (frame->type == VQP_FRAME_PARCEL)
		frame_write_parcel(&frame->parcel, to + sizeof(h));
}

/* Which fields a type of frame has; all others are 0. */
static const struct frame_fields {
	bool reason, to, from, seq, credit, recalls, ports, data, parcel;
	u8 flags;			/* that it may have */
} frame_fields[VQP_FRAME_TYPES] = {
	[VQP_FRAME_OPEN]	= { .from = true, .credit = true, .ports = true },
	[VQP_FRAME_OPEN_ACK]	= { .to = true, .from = true, .credit = true, .recalls = true },
	[VQP_FRAME_REFUSE]	= { .reason = true, .to = true },
	[VQP_FRAME_DATA]	= { .to = true, .from = true, .seq = true, .credit = true,
				    .recalls = true, .data = true, .flags = VQP_FRAME_WAITED },
	[VQP_FRAME_CREDIT]	= { .to = true, .from = true, .credit = true, .recalls = true,
				    .flags = VQP_FRAME_PROBE },
	[VQP_FRAME_FIN]		= { .to = true, .from = true, .seq = true, .credit = true,
				    .recalls = true },
	[VQP_FRAME_RST]		= { .to = true, .from = true },
	[VQP_FRAME_BYE]		= { .from = true },
	[VQP_FRAME_RECALL]	= { .to = true, .from = true, .recalls = true },
	[VQP_FRAME_RETURN]	= { .to = true, .from = true, .seq = true, .recalls = true },
	[VQP_FRAME_PARCEL]	= { .to = true, .from = true, .seq = true, .credit = true,
				    .recalls = true, .parcel = true, .flags = VQP_FRAME_WAITED },
	[VQP_FRAME_FETCHED]	= { .to = true, .from = true, .seq = true, .credit = true,
				    .recalls = true },
	[VQP_FRAME_DECLINED]	= { .to = true, .from = true, .seq = true, .credit = true,
				    .recalls = true },
};

static bool parcel_is_valid(const struct vqp_frame_parcel *parcel)
{
	return parcel->bytes > VQP_FRAME_DATA_MAX && parcel->bytes <= VQP_PARCEL_MAX;
}

static bool frame_is_valid(const struct vqp_frame *f)
{
	const struct frame_fields *has;

	if (!f->type || f->type >= VQP_FRAME_TYPES || f->reason >= VQP_REFUSE_REASONS)
		return false;
	has = &frame_fields[f->type];
	return !!f->reason == has->reason && (has->recalls || !f->recalls) &&
	       !!f->to == has->to && !!f->from == has->from &&
	       !!f->src_port == has->ports && !!f->dst_port == has->ports &&
	       !(f->flags & ~has->flags) &&
	       !!f->bytes == has->data && f->bytes <= VQP_FRAME_DATA_MAX &&
	       (!has->parcel || parcel_is_valid(&f->parcel)) &&
	       (has->seq || !f->seq) && (has->credit || (!f->taken && !f->room)) &&
	       f->room <= VQP_FRAME_ROOM_MAX;
}

/* What is behind the header is the parcel, and not data. */
static int frame_parse_parcel(struct vqp_frame *frame)
{
	struct frame_parcel p;

	if (frame->bytes != sizeof(p))
		return -EBADMSG;
	memcpy(&p, frame->data, sizeof(p));
	frame->parcel = (struct vqp_frame_parcel) {
		.addr = be64_to_cpu(p.addr),
		.rkey = be32_to_cpu(p.rkey),
		.bytes = be32_to_cpu(p.bytes),
	};
	frame->data = NULL;
	frame->bytes = 0;
	return 0;
}

int vqp_frame_parse(const void *msg, u32 bytes, struct vqp_frame *frame)
{
	struct frame_header h;

	if (bytes < sizeof(h))
		return -EBADMSG;
	memcpy(&h, msg, sizeof(h));
	*frame = (struct vqp_frame) {
		.type = h.type,
		.reason = h.type == VQP_FRAME_REFUSE ? h.detail : 0,
		.recalls = h.type == VQP_FRAME_REFUSE ? 0 : h.detail,
		.flags = h.flags,
		.to = be32_to_cpu(h.to),
		.from = be32_to_cpu(h.from),
		.seq = be32_to_cpu(h.seq),
		.taken = be32_to_cpu(h.taken),
		.room = be32_to_cpu(h.room),
		.src_port = be16_to_cpu(h.src_port),
		.dst_port = be16_to_cpu(h.dst_port),
		.data = (const u8 *)msg + sizeof(h),
		.bytes = bytes - (u32)sizeof(h),
	};
	if (h.type == VQP_FRAME_PARCEL && frame_parse_parcel(frame))
		return -EBADMSG;
	if (h.version != VQP_FRAME_VERSION || !frame_is_valid(frame))
		return -EBADMSG;
	return 0;
}
