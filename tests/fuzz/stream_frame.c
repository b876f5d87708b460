// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A frame of a stream: what is taken says the same when it is written again, byte for byte. */
#include "fuzz.h"
#include "stream_credit.h"
#include "stream_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vqp_credit credit = { .sent = 1000, .limit = 2000 };
	u8 head[VQP_FRAME_HEADER + VQP_FRAME_PARCEL_BYTES];
	struct vqp_frame frame;

	if (vqp_frame_parse(data, bytes, &frame))
		return 0;
	fuzz_check(frame.type >= VQP_FRAME_OPEN && frame.type < VQP_FRAME_TYPES);
	fuzz_check(frame.bytes <= VQP_FRAME_DATA_MAX);
	fuzz_check(vqp_frame_head(frame.type) + frame.bytes == bytes);
	fuzz_check(!frame.bytes || (const u8 *)frame.data + frame.bytes == data + bytes);
	fuzz_check(frame.parcel.bytes <= VQP_PARCEL_MAX);
	vqp_frame_write(&frame, head);
	fuzz_check(!memcmp(head, data, vqp_frame_head(frame.type)));
	if (!vqp_credit_hear(&credit, frame.recalls, frame.taken, frame.room))
		fuzz_check(vqp_credit_unread(&credit) <= 1000 && vqp_credit_left(&credit) >= 1000);
	fuzz_check(vqp_credit_repeated(credit.sent, frame.seq, frame.bytes) <= frame.bytes);
	return 0;
}
