// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "frames.h"
#include "stream_frame.h"

#define FRAMES_NUMBERS	64	/* of a forger's ends: few, so that some frames are about what there is */
#define FRAMES_LOOKED	32	/* packets that are looked at for numbers */
#define FRAMES_AHEAD	4096	/* The target's numbers go up from the last that was seen. */

/* The target's number of an end, as what it sends to this node's kernel tells. */
static u32 number_of_target(const struct tap *tap)
{
	const struct tapped *seen;
	struct vqp_frame frame;
	u32 i;

	for (i = 0; i < FRAMES_LOOKED && (seen = tap_recent(tap, false, i)); i++)
		if (seen->pkt.op == VQP_OP_SEND &&
		    !vqp_frame_parse(seen->pkt.payload, seen->pkt.payload_bytes, &frame) && frame.from)
			return frame.from;
	return 1;
}

static u32 some(struct rnd *rnd, u32 likely)
{
	return rnd_percent(rnd, 70) ? likely : (u32)rnd_edge(rnd);
}

static void fill(struct rnd *rnd, const struct tap *tap, u16 listener, struct vqp_frame *f)
{
	*f = (struct vqp_frame) {
		.type = (u8)(rnd_percent(rnd, 50) ? VQP_FRAME_OPEN : 1 + rnd_below(rnd, VQP_FRAME_TYPES - 1)),
		.from = some(rnd, 1 + rnd_below(rnd, FRAMES_NUMBERS)),
		.room = some(rnd, rnd_below(rnd, 1 << 20)) % (VQP_FRAME_ROOM_MAX + 1),
	};
	if (f->type == VQP_FRAME_OPEN) {
		f->src_port = (u16)(1 + rnd_below(rnd, 0xffff));
		f->dst_port = rnd_percent(rnd, 90) ? listener : (u16)(1 + rnd_below(rnd, 0xffff));
		return;
	}
	f->to = some(rnd, number_of_target(tap) + rnd_below(rnd, FRAMES_AHEAD));
	f->seq = some(rnd, 0);
	f->taken = some(rnd, 0);
	f->recalls = (u8)some(rnd, 0);
	f->reason = f->type == VQP_FRAME_REFUSE ? (u8)(1 + rnd_below(rnd, VQP_REFUSE_REASONS - 1)) : 0;
	if (f->type == VQP_FRAME_DATA)
		f->bytes = 1 + rnd_below(rnd, rnd_percent(rnd, 50) ? 64 : VQP_FRAME_DATA_MAX);
}

/* Fields that the type does not have stay 0, or most frames would go no further than the parser. */
static void tidy(struct rnd *rnd, struct vqp_frame *f)
{
	if (rnd_percent(rnd, 20))
		return;
	if (f->type == VQP_FRAME_REFUSE || f->type == VQP_FRAME_RST || f->type == VQP_FRAME_BYE ||
	    f->type == VQP_FRAME_RECALL || f->type == VQP_FRAME_RETURN)
		f->taken = f->room = 0;
	if (f->type == VQP_FRAME_REFUSE || f->type == VQP_FRAME_RST || f->type == VQP_FRAME_BYE)
		f->recalls = 0;
	if (f->type != VQP_FRAME_DATA && f->type != VQP_FRAME_FIN && f->type != VQP_FRAME_RETURN)
		f->seq = 0;
	if (f->type == VQP_FRAME_REFUSE)
		f->from = 0;
	if (f->type == VQP_FRAME_BYE)
		f->to = 0;
}

u32 frames_next(struct rnd *rnd, const struct tap *tap, u16 listener, u8 buf[FRAMES_BYTES])
{
	struct vqp_frame f;
	u32 bytes, i;

	fill(rnd, tap, listener, &f);
	tidy(rnd, &f);
	vqp_frame_write(&f, buf);
	bytes = VQP_FRAME_HEADER + f.bytes;
	for (i = VQP_FRAME_HEADER; i < bytes; i++)
		buf[i] = (u8)rnd_u32(rnd);
	if (rnd_percent(rnd, 10))
		buf[rnd_below(rnd, VQP_FRAME_HEADER)] = (u8)rnd_u32(rnd);
	if (rnd_percent(rnd, 5))
		bytes = 1 + rnd_below(rnd, bytes);
	return bytes;
}
