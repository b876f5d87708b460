/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions that the files of the initiator share. They are called with the flow locked, as
 * those of engine/tx.h are. tx_flow.c has the messages of a flow, and drives the others.
 */
#ifndef VQP_ENGINE_TX_INTERNAL_H
#define VQP_ENGINE_TX_INTERNAL_H

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include "tx.h"

/* The number of units that `bytes` bytes need; nothing needs one. */
static inline u32 vqp_tx_count(u32 bytes, u32 unit)
{
	return bytes ? (bytes - 1) / unit + 1 : 1;
}

/* Does the message have the packet `psn`? */
static inline bool vqp_tx_has(const struct vqp_msg *msg, u32 psn)
{
	return msg->assigned && psn - msg->psn < msg->psns;
}

/* Has the target carried out the chunk, of whose response a part has not arrived? */
static inline bool vqp_tx_read_late(const struct vqp_tx *tx, const struct vqp_tx_read *read)
{
	return read->msg && vqp_psn_before(read->psn, tx->psn_acked);
}

/* Is the request `psn` known to be lost? */
static inline bool vqp_tx_is_lost(const struct vqp_tx *tx, u32 psn)
{
	return psn - tx->psn_acked < VQP_MASK_BITS &&
	       vqp_mask_has(&tx->lost, psn - tx->psn_acked);
}

/* The packets in flight, without those that are lost, or that the target holds behind a gap. */
static inline u32 vqp_tx_in_flight(const struct vqp_tx *tx)
{
	const u32 absent = tx->held + vqp_mask_count(&tx->lost);
	const u32 ahead = tx->psn_send - tx->psn_acked;
	u32 packets = ahead - min_t(u32, ahead, absent), i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		const struct vqp_tx_read *read = &tx->reads[i];

		if (!read->msg || !read->asked || vqp_tx_is_lost(tx, read->psn))
			continue;
		packets += hweight32(read->asked);
		/* A request that is not answered yet is as good as its first response. */
		if (!vqp_tx_read_late(tx, read) && vqp_psn_before(read->psn, tx->psn_send))
			packets--;
	}
	return packets;
}

/* The most packets that may be in flight. */
static inline u32 vqp_tx_window(const struct vqp_tx *tx)
{
	const u32 cwnd = vqp_congestion_window(&tx->cc);

	return tx->cap ? min_t(u32, tx->cap, cwnd) : cwnd;
}

/* So many more packets may be in flight. */
static inline u32 vqp_tx_room(const struct vqp_tx *tx)
{
	const u32 window = vqp_tx_window(tx);

	return window - min_t(u32, window, vqp_tx_in_flight(tx));
}

/* Did the carrier hold back a packet? It will call vqp_tx_run() when the flow may go on. */
static inline bool vqp_tx_is_held_back(int err)
{
	return err == -EAGAIN || err == -EBUSY;
}

/*
 * Begin a new turn without a return to an earlier PSN. The other turns stay within half of the
 * range, since turns are compared modulo 2^16.
 */
static inline void vqp_tx_next_turn(struct vqp_tx *tx)
{
	tx->turn++;
	if ((u16)(tx->turn - tx->back_turn) > 0x4000)
		tx->back_turn++;
	if ((u16)(tx->turn - tx->cut_turn) > 0x4000)
		tx->cut_turn++;
}

/* ---- tx_flow.c: the messages of a flow ---- */

/*
 * The packet `psn` cannot be carried out. Packets before it still can, so its message fails when it
 * is the oldest one. Nothing from `psn` on is sent or awaited any more.
 */
void vqp_tx_fail(struct vqp_tx *tx, u32 psn, u32 status);

/* Has the target carried out the message, and have all its responses arrived? */
bool vqp_tx_done(const struct vqp_tx *tx, const struct vqp_msg *msg);

/* Complete the messages that are done, in order, and fail the flow if a failure is next. */
void vqp_tx_reap(struct vqp_tx *tx);

/* ---- tx_send.c: packets ---- */

/* Send all packets that may be sent now: parts of READs again, lost packets, and then new ones. */
void vqp_tx_send(struct vqp_tx *tx, u64 now_us);

/*
 * Send a packet with the payload at `offset` of the message. Returns 0 or an error of
 * vqp_tx_ops.xmit.
 */
int vqp_tx_xmit(struct vqp_tx *tx, struct vqp_pkt *pkt, struct vqp_msg *msg, u32 offset, u32 bytes);

/*
 * Tell the target that it may release its context, until the next message or for good. Returns
 * false if the carrier has no room.
 */
bool vqp_tx_send_close(struct vqp_tx *tx);

/* Set `next` to the message of psn_send. */
void vqp_tx_seek(struct vqp_tx *tx);

/* Packets in flight do not count any more, and answers to them are late. */
void vqp_tx_begin_anew(struct vqp_tx *tx);

/* Send all packets again that are not acknowledged. */
void vqp_tx_go_back(struct vqp_tx *tx);

/* ---- tx_read.c: READs, in chunks, and atomic operations ---- */

/* The slot of the chunk or atomic with this PSN, or a free slot, or NULL. */
struct vqp_tx_read *vqp_tx_read_slot(struct vqp_tx *tx, u32 psn);

/* The slot of the chunk or atomic with this PSN, or NULL. */
struct vqp_tx_read *vqp_tx_read_find(struct vqp_tx *tx, u32 psn);

/* Is a chunk of this message, or its result, outstanding? */
bool vqp_tx_read_pending(const struct vqp_tx *tx, const struct vqp_msg *msg);

/* May one more atomic be outstanding? */
bool vqp_tx_may_add_atomic(const struct vqp_tx *tx);

/* Is a READ or an atomic of a message before `msg` outstanding? */
bool vqp_tx_reading_before(const struct vqp_tx *tx, const struct vqp_msg *msg);

/* Is a chunk or an atomic before psn_send outstanding? */
bool vqp_tx_fetching(const struct vqp_tx *tx);

/* Request the chunk or the result at `psn`, for which there is a slot, at first or again. */
int vqp_tx_send_chunk(struct vqp_tx *tx, struct vqp_msg *msg, u32 psn, u64 now_us);

/* Have all chunks and results that are outstanding requested again. */
void vqp_tx_mark_again(struct vqp_tx *tx);

/*
 * Request what is still to be asked for of chunks that the target has carried out. Returns 0; the
 * error with which the carrier held a request back; or 1 if the window has no room for one.
 */
int vqp_tx_send_rest(struct vqp_tx *tx, u64 now_us);

/* Does the window leave room to ask for data of so many packets, or for a part that is worth it? */
bool vqp_tx_may_ask(const struct vqp_tx *tx, u32 packets);

/* A packet of a response has arrived. */
void vqp_tx_take_resp(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us);

/* ---- tx_answer.c: acknowledgements and refusals ---- */

/*
 * The target has carried out all packets before `psn`, which is above psn_acked. `turn` is that of
 * the answer.
 */
void vqp_tx_advance(struct vqp_tx *tx, u32 psn, u16 turn, u64 now_us);

/* ---- tx_target.c: a target that is new, or has forgotten the flow ---- */

/* The target has answered as one that has a context of the flow. */
void vqp_tx_note_opened(struct vqp_tx *tx);

/* Send again from psn_acked to a target that may know nothing of the flow. */
void vqp_tx_restart(struct vqp_tx *tx);

/* Fail the flow if its target may have forgotten it. Returns true if it has failed. */
bool vqp_tx_overdue(struct vqp_tx *tx, u64 now_us);

/* The target cannot tell the flow's packets from late copies: send them again with its echo. */
void vqp_tx_take_stale(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us);

/* The target answers that it has forgotten the flow: restart it if that is safe, or fail it. */
void vqp_tx_take_forgotten(struct vqp_tx *tx, const struct vqp_pkt *pkt);

/* ---- tx_window.c: the congestion window ---- */

/* Remember the window before a cut that is undone if the packets turn out to be late only. */
void vqp_tx_note_window(struct vqp_tx *tx);

/* Cut the window: an answer of `turn` shows that `lost` packets are lost. */
void vqp_tx_cut_window(struct vqp_tx *tx, u16 turn, u32 lost);

/* A packet that was taken for lost has arrived late, and the others may do so as well. */
void vqp_tx_undo_cuts(struct vqp_tx *tx);

/* ---- tx_timer.c: round trips and timeouts ---- */

/* Does the flow await an answer? */
bool vqp_tx_outstanding(const struct vqp_tx *tx);

/* The time that a flow was throttled does not count against its target. */
void vqp_tx_make_good(struct vqp_tx *tx, u64 now_us);

/* Arm the timer for the flow's deadline. */
void vqp_tx_arm(struct vqp_tx *tx);

/* Set the RTO from the smoothed round-trip time. */
void vqp_tx_set_rto(struct vqp_tx *tx);

/* The time at which the flow is to fail, if nothing gets on and the node does not answer. */
static inline u64 vqp_tx_giveup_at(const struct vqp_tx *tx)
{
	return min_t(u64, max_t(u64, tx->progress_us, tx->node_heard_us) + tx->cfg->giveup_us,
		     tx->progress_us + tx->cfg->patience_us);
}

/* Has nothing got on for so long that the flow is to fail? */
static inline bool vqp_tx_is_hopeless(const struct vqp_tx *tx, u64 now_us)
{
	return now_us >= vqp_tx_giveup_at(tx);
}

/* A packet was sent that is answered as soon as it arrives. */
void vqp_tx_time_rtt(struct vqp_tx *tx, u32 psn, u64 now_us);

/* Measure the round trip that an answer ends. */
void vqp_tx_sample_rtt(struct vqp_tx *tx, const struct vqp_pkt *answer, u64 now_us);

#endif
