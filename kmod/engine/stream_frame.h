/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of stream sockets between two nodes (docs/sockets.md). Each is one message of the kernel's
 * own VQP from the sender's namespace to that of the receiver, which brings it once and in order. A
 * VQP that fails may have brought frames without knowing it, and the next one brings them again: so
 * no frame does harm by coming twice, or late. A frame is a header of VQP_FRAME_HEADER bytes, and
 * in a DATA frame the bytes of the stream. In a PARCEL frame it is where these can be READ. All
 * fields are big-endian.
 *
 * The ends of a stream number it each for itself. Where bytes are counted, they are those of one
 * direction since the stream began, modulo 2^32.
 */
#ifndef VQP_ENGINE_STREAM_FRAME_H
#define VQP_ENGINE_STREAM_FRAME_H

#include <linux/compiler.h>
#include <linux/types.h>

#define VQP_FRAME_VERSION	1
#define VQP_FRAME_HEADER	28
#define VQP_FRAME_DATA_MAX	3840	/* With its header such a frame fits into a page. */
#define VQP_FRAME_MAX		(VQP_FRAME_HEADER + VQP_FRAME_DATA_MAX)
#define VQP_FRAME_ROOM_MAX	0x40000000U
#define VQP_FRAME_PARCEL_BYTES	16	/* what follows the header in a PARCEL frame */
/* A parcel has more bytes than a DATA frame may have, and at most so many. */
#define VQP_PARCEL_MAX		65536

enum vqp_frame_type {
	VQP_FRAME_OPEN		= 1,	/* Connect `from` to the listener at dst_port. */
	VQP_FRAME_OPEN_ACK	= 2,	/* It is connected to `from`. */
	VQP_FRAME_REFUSE	= 3,	/* It is not, for this `reason`. */
	VQP_FRAME_DATA		= 4,	/* Here are bytes of the stream, from `seq` on. */
	VQP_FRAME_CREDIT	= 5,	/* It says what each frame says, that there is room. */
	VQP_FRAME_FIN		= 6,	/* There is nothing more: `seq` bytes were sent. */
	VQP_FRAME_RST		= 7,	/* The stream is broken, or not known here. */
	/*
	 * What the sender's end was of streams between these two addresses is over, as far as its
	 * number is before `from`: it goes up with each. The first frame on each way says so, and
	 * the last.
	 */
	VQP_FRAME_BYE		= 8,
	VQP_FRAME_RECALL	= 9,	/* Give back the room that you do not need now. */
	VQP_FRAME_RETURN	= 10,	/* The answer: no more than `seq` bytes are sent. */
	VQP_FRAME_PARCEL	= 11,	/* Bytes of the stream, from `seq` on, may be READ there. */
	/* All bytes before `seq` are here, be they READ or not; and parcels are READ. */
	VQP_FRAME_FETCHED	= 12,
	VQP_FRAME_DECLINED	= 13,	/* The parcels from `seq` on are not: send DATA instead. */
	VQP_FRAME_TYPES,
};

/* Flags */
#define VQP_FRAME_WAITED	0x01	/* DATA, PARCEL: they waited for room. */
#define VQP_FRAME_PROBE		0x02	/* CREDIT: if the stream is not known, say so. */

enum vqp_frame_reason {
	VQP_REFUSE_LISTENER	= 1,	/* Nobody listens there by vqp, or the backlog is full. */
	VQP_REFUSE_OFF		= 2,	/* Sockets are off. */
	VQP_REFUSE_MEMORY	= 3,	/* There is no memory, or a limit is reached. */
	VQP_REFUSE_REASONS,
};

/* Where the sender of a PARCEL frame has the bytes, in memory that it lets the receiver READ. */
struct vqp_frame_parcel {
	u64 addr;
	u32 rkey;
	u32 bytes;
};

struct vqp_frame {
	u8 type;			/* enum vqp_frame_type */
	u8 reason;			/* REFUSE: enum vqp_frame_reason; else 0 */
	u8 flags;			/* VQP_FRAME_* above */
	/*
	 * How often the sender of the frame has recalled room, modulo 256; RETURN: which RECALL is
	 * answered; REFUSE, RST, BYE: 0.
	 */
	u8 recalls;
	u32 to;				/* the receiver's number of the stream; OPEN, BYE: 0 */
	u32 from;			/* the sender's number of it; REFUSE: 0 */
	u32 seq;			/* DATA, FIN, RETURN, PARCEL, FETCHED, DECLINED; else 0 */
	/*
	 * The sender of the frame has read so many bytes; REFUSE, RST, BYE, RECALL, RETURN: 0.
	 */
	u32 taken;
	u32 room;			/* It may be sent so many beyond them; as well. */
	u16 src_port, dst_port;		/* OPEN; else 0 */
	const void *data;		/* DATA */
	u32 bytes;			/* of data: 1 to VQP_FRAME_DATA_MAX; else 0 */
	struct vqp_frame_parcel parcel;	/* PARCEL; else zeros */
};

/* The bytes that vqp_frame_write() writes of a frame of that type. */
static inline u32 vqp_frame_head(u8 type)
{
	return VQP_FRAME_HEADER + (type == VQP_FRAME_PARCEL ? VQP_FRAME_PARCEL_BYTES : 0);
}

/* Write the header of a frame, and the rest of a PARCEL frame. Data follow it. */
void vqp_frame_write(const struct vqp_frame *frame, u8 *to);

/*
 * Read a message of `bytes` bytes; frame->data points into it. 0; or -EBADMSG: it is none that
 * vqp_frame_write() would have written.
 */
int __must_check vqp_frame_parse(const void *msg, u32 bytes, struct vqp_frame *frame);

#endif
