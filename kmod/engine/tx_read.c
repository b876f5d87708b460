// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/vqp.h>
#include <asm/byteorder.h>
#include "tx_internal.h"

struct vqp_tx_read *vqp_tx_read_slot(struct vqp_tx *tx, u32 psn)
{
	struct vqp_tx_read *free = NULL;
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (read->msg && read->psn == psn)
			return read;
		if (!read->msg)
			free = read;
	}
	return free;
}

struct vqp_tx_read *vqp_tx_read_find(struct vqp_tx *tx, u32 psn)
{
	struct vqp_tx_read *read = vqp_tx_read_slot(tx, psn);

	return read && read->msg ? read : NULL;
}

bool vqp_tx_read_pending(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg == msg)
			return true;
	return false;
}

/*
 * The answer to an atomic may be lost any number of times, so the target has to remember its result
 * until it arrives. The target remembers the results of the last VQP_READ_CHUNKS atomics.
 */
bool vqp_tx_may_add_atomic(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && vqp_op_is_atomic(tx->reads[i].msg->op) &&
		    tx->atomics - tx->reads[i].number >= VQP_READ_CHUNKS)
			return false;
	return true;
}

/*
 * After a return to an earlier PSN chunks of later messages may be outstanding, too, which do not
 * count.
 */
bool vqp_tx_reading_before(const struct vqp_tx *tx, const struct vqp_msg *msg)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && tx->reads[i].msg != msg &&
		    vqp_psn_before(tx->reads[i].psn, tx->psn_send))
			return true;
	return false;
}

/* Chunks behind psn_send will be requested again, and so do not count. */
bool vqp_tx_fetching(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && vqp_psn_before(tx->reads[i].psn, tx->psn_send))
			return true;
	return false;
}

/* The packets of a chunk that are still to be asked for. */
static u32 vqp_tx_unasked(const struct vqp_tx_read *read)
{
	return read->missing & ~read->asked;
}

/*
 * Request what is missing of a chunk and not asked for yet, as far as the window leaves room for it
 * and it is in one piece; or the result of an atomic.
 */
static int vqp_tx_send_read(struct vqp_tx *tx, struct vqp_tx_read *read, u64 now_us)
{
	/* A request that is not answered yet counts as its first response. */
	const u32 room = vqp_tx_read_late(tx, read) ? max_t(u32, vqp_tx_room(tx), 1) :
			 vqp_tx_room(tx) + 1;
	u32 left = vqp_tx_unasked(read), asked, first = 0, last;
	struct vqp_pkt pkt;
	int err;

	while (!(left & (1U << first)))
		first++;
	last = first;
	while ((left & (2U << last)) && last - first + 1 < room)
		last++;
	asked = (2U << last) - (1U << first);
	memset(&pkt, 0, sizeof(pkt));
	pkt.op = read->msg->op;
	pkt.psn = read->psn;
	pkt.rkey = read->msg->rkey;
	pkt.offset = first * tx->cfg->payload_bytes;
	pkt.addr = read->msg->remote_addr + read->offset + pkt.offset;
	pkt.msg_bytes = min_t(u32, (last + 1) * tx->cfg->payload_bytes, read->bytes) - pkt.offset;
	pkt.compare_add = read->msg->compare_add;
	pkt.swap = read->msg->swap;
	vqp_tx_next_turn(tx);
	err = vqp_tx_xmit(tx, &pkt, read->msg, 0, 0);
	if (err)
		return err;
	read->asked |= asked;
	read->last = last;
	read->turn = tx->turn;
	read->wait_us = now_us;
	return 0;
}

int vqp_tx_send_chunk(struct vqp_tx *tx, struct vqp_msg *msg, u32 psn, u64 now_us)
{
	const u32 chunk_bytes = tx->cfg->payload_bytes * VQP_READ_CHUNK_PACKETS;
	struct vqp_tx_read *read = vqp_tx_read_slot(tx, psn);
	int err;

	if (read && !read->msg) {
		read->msg = msg;
		read->psn = psn;
		read->offset = (psn - msg->psn) * chunk_bytes;
		read->bytes = min_t(u32, msg->bytes - read->offset, chunk_bytes);
		read->missing = (1U << vqp_tx_count(read->bytes, tx->cfg->payload_bytes)) - 1;
		read->asked = 0;
		read->number = tx->atomics;
		err = vqp_tx_send_read(tx, read, now_us);
		if (err)
			read->msg = NULL;
		else if (vqp_op_is_atomic(msg->op))
			tx->atomics++;
		return err;
	}
	if (!read)
		return -EAGAIN;
	read->asked = 0;
	return vqp_tx_send_read(tx, read, now_us);
}

void vqp_tx_mark_again(struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		tx->reads[i].asked = 0;
}

/* Small pieces of a chunk would take a request each: a quarter of the window may wait for more. */
static u32 vqp_tx_piece(const struct vqp_tx *tx)
{
	return min_t(u32, max_t(u32, vqp_tx_window(tx) / 4, 1), VQP_READ_CHUNK_PACKETS);
}

bool vqp_tx_may_ask(const struct vqp_tx *tx, u32 packets)
{
	return vqp_tx_room(tx) >= min_t(u32, packets, vqp_tx_piece(tx));
}

/* Is any part of a READ asked for? If none is, the window does not forbid to ask for one packet. */
static bool vqp_tx_asks_for_any(const struct vqp_tx *tx)
{
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++)
		if (tx->reads[i].msg && tx->reads[i].asked)
			return true;
	return false;
}

/* The oldest chunk that the target has carried out, and of which a part is to be asked for. */
static struct vqp_tx_read *vqp_tx_next_unasked(struct vqp_tx *tx)
{
	struct vqp_tx_read *oldest = NULL;
	u32 i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (vqp_tx_read_late(tx, read) && vqp_tx_unasked(read) &&
		    (!oldest || vqp_psn_before(read->psn, oldest->psn)))
			oldest = read;
	}
	return oldest;
}

int vqp_tx_send_rest(struct vqp_tx *tx, u64 now_us)
{
	struct vqp_tx_read *read;
	int err;

	while ((read = vqp_tx_next_unasked(tx))) {
		if (vqp_tx_asks_for_any(tx) &&
		    !vqp_tx_may_ask(tx, hweight32(vqp_tx_unasked(read))))
			return 1;
		err = vqp_tx_send_read(tx, read, now_us);
		if (vqp_tx_is_held_back(err))
			return err;
		if (err)
			vqp_tx_fail(tx, read->psn, VQP_WC_LOC_PROT_ERR);
		else
			vqp_tx_time_rtt(tx, read->psn, now_us);
	}
	return 0;
}

/*
 * The last packet of a response has arrived: what is missing of this response and of those that
 * were requested before it is lost.
 */
static void vqp_tx_read_lost(struct vqp_tx *tx, const struct vqp_tx_read *ended)
{
	u32 lost = 0, i;

	for (i = 0; i < VQP_READ_CHUNKS; i++) {
		struct vqp_tx_read *read = &tx->reads[i];

		if (vqp_tx_read_late(tx, read) && (s16)(ended->turn - read->turn) >= 0) {
			lost += hweight32(read->asked);
			read->asked = 0;
		}
	}
	tx->packets_resent += lost;
	if (lost)
		vqp_tx_cut_window(tx, ended->turn, lost);
}

static int vqp_tx_place(struct vqp_tx *tx, const struct vqp_tx_read *read,
			const struct vqp_pkt *pkt)
{
	const void *data = pkt->payload;
	__be64 wire;
	u64 before;

	if (vqp_op_is_atomic(read->msg->op)) {
		memcpy(&wire, pkt->payload, sizeof(wire));
		before = be64_to_cpu(wire);
		data = &before;
	}
	return tx->ops->place(tx, read->msg, read->offset + pkt->offset, data, pkt->payload_bytes);
}

void vqp_tx_take_resp(struct vqp_tx *tx, const struct vqp_pkt *pkt, u64 now_us)
{
	const u32 payload = tx->cfg->payload_bytes;
	const u32 index = pkt->offset / payload;
	struct vqp_tx_read *read = vqp_tx_read_find(tx, pkt->psn);
	u32 bytes;

	if (!read || pkt->offset % payload || index >= vqp_tx_count(read->bytes, payload))
		return;
	bytes = min_t(u32, payload, read->bytes - pkt->offset);
	if (pkt->payload_bytes != bytes)
		return;
	/* The answer to an earlier chunk may be of a context that is behind psn_acked. */
	if (!vqp_psn_before(pkt->psn + 1, tx->psn_acked))
		vqp_tx_note_opened(tx);
	if (vqp_psn_before(tx->psn_acked, pkt->psn + 1))
		vqp_tx_advance(tx, pkt->psn + 1, pkt->turn, now_us);
	else if (read->missing & (1U << index))
		tx->left++;
	if (read->missing & (1U << index)) {
		if (bytes && vqp_tx_place(tx, read, pkt)) {
			vqp_tx_fail(tx, pkt->psn, VQP_WC_LOC_PROT_ERR);
			return;
		}
		read->missing &= ~(1U << index);
		read->asked &= ~(1U << index);
		read->wait_us = now_us;
		tx->progress_us = now_us;
	}
	if (index == read->last && pkt->turn == read->turn)
		vqp_tx_read_lost(tx, read);
	if (!read->missing)
		read->msg = NULL;
}
