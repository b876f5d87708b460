// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "congestion.h"

void vqp_congestion_init(struct vqp_congestion *cc, u32 most_packets)
{
	memset(cc, 0, sizeof(*cc));
	cc->most = most_packets * VQP_CWND_ONE;
	cc->cwnd = min_t(u32, VQP_CWND_FIRST, cc->most);
	cc->ssthresh = cc->most;
	cc->least = VQP_CWND_ONE;
	cc->target_us = VQP_TARGET_US;
}

void vqp_congestion_rtt(struct vqp_congestion *cc, u32 rtt_us)
{
	const u32 rtt = max_t(u32, rtt_us, 1);
	u32 error;

	if (cc->srtt_us) {
		error = rtt > cc->srtt_us ? rtt - cc->srtt_us : cc->srtt_us - rtt;
		cc->rttvar_us = cc->rttvar_us - cc->rttvar_us / 4 + error / 4;
		cc->srtt_us = max_t(u32, cc->srtt_us - cc->srtt_us / 8 + rtt / 8, 1);
	} else {
		cc->rttvar_us = rtt / 2;
		cc->srtt_us = rtt;
	}
	if (!cc->rtt_us || rtt < cc->rtt_us)
		cc->rtt_us = rtt;
	if (!cc->min_rtt_us || rtt < cc->min_rtt_us)
		cc->min_rtt_us = rtt;
}

/* The shortest round trip of this round and the one before; 0: none was measured. */
static u32 vqp_congestion_delay(const struct vqp_congestion *cc)
{
	if (!cc->rtt_us || !cc->last_rtt_us)
		return cc->rtt_us + cc->last_rtt_us;
	return min_t(u32, cc->rtt_us, cc->last_rtt_us);
}

/* Is the round trip that of a path with a short queue? */
static bool vqp_congestion_is_short(const struct vqp_congestion *cc)
{
	return vqp_congestion_delay(cc) <= max_t(u32, VQP_TARGET_US, 2 * cc->min_rtt_us);
}

static bool vqp_congestion_yields(const struct vqp_congestion *cc)
{
	return !cc->alpha && vqp_congestion_delay(cc) > cc->target_us;
}

/* Cut the window to `part` of `whole`, unless it was cut in this round trip. */
static void vqp_congestion_cut(struct vqp_congestion *cc, u32 part, u32 whole, u64 now_us)
{
	if (now_us - cc->cut_us < cc->srtt_us)
		return;
	cc->cwnd = max_t(u32, div_u64((u64)cc->cwnd * part, whole), VQP_CWND_ONE);
	cc->ssthresh = cc->cwnd;
	cc->cut_us = now_us;
}

static void vqp_congestion_note_marks(struct vqp_congestion *cc)
{
	const u32 share = cc->acked ? div_u64((u64)cc->marked * VQP_ALPHA_ONE, cc->acked) : 0;

	if (share >= cc->alpha)
		cc->alpha += (share - cc->alpha) >> VQP_ALPHA_SHIFT;
	else
		cc->alpha -= max_t(u32, (cc->alpha - share) >> VQP_ALPHA_SHIFT, 1);
	cc->acked = 0;
	cc->marked = 0;
}

/* Is it of no use to yield? Then move the target beyond the round trips that were measured. */
static void vqp_congestion_move_target(struct vqp_congestion *cc, u64 now_us)
{
	const u32 delay = vqp_congestion_delay(cc);

	if (delay <= VQP_TARGET_US)
		cc->target_us = VQP_TARGET_US;
	if (cc->alpha || delay <= cc->target_us) {
		cc->above_us = 0;
	} else if (!cc->above_us) {
		cc->above_us = now_us;
	} else if (now_us - cc->above_us >= VQP_YIELD_US) {
		cc->target_us = max_t(u32, cc->target_us, 2 * cc->srtt_us + 4 * cc->rttvar_us);
		cc->above_us = 0;
		cc->ssthresh = cc->most;
	}
}

static void vqp_congestion_end_round(struct vqp_congestion *cc, u64 now_us)
{
	u32 delay;

	cc->round_us = now_us;
	vqp_congestion_note_marks(cc);
	if (!cc->rtt_us)
		return;
	vqp_congestion_move_target(cc, now_us);
	delay = vqp_congestion_delay(cc);
	if (vqp_congestion_yields(cc))
		vqp_congestion_cut(cc, delay - min_t(u32, (delay - cc->target_us) / 5 * 4,
						     delay / 2), delay, now_us);
	cc->last_rtt_us = cc->rtt_us;
	cc->rtt_us = 0;
}

/*
 * One packet a round trip is little for a window of many packets, and doubles a window of one. A
 * hundred flows whose windows are that small, and which a port marks, would fill its queue again in
 * each round trip: in a window of n packets a marked one counts 1/n less.
 */
static void vqp_congestion_grow(struct vqp_congestion *cc, u32 acked, u32 marked)
{
	u64 more;

	if (cc->cwnd < cc->ssthresh) {
		more = (u64)(acked - marked) * VQP_CWND_ONE;
		cc->cwnd = min_t(u64, cc->cwnd + more, cc->ssthresh);
		return;
	}
	more = (u64)acked * VQP_CWND_ONE;
	more -= div_u64((u64)marked * VQP_CWND_ONE * VQP_CWND_ONE, cc->cwnd);
	cc->cwnd = min_t(u64, cc->cwnd + div_u64(more * VQP_CWND_ONE, cc->cwnd), cc->most);
}

void vqp_congestion_ack(struct vqp_congestion *cc, u32 acked, u32 marked, bool used, u64 now_us)
{
	acked = max_t(u32, acked, marked);
	cc->acked += acked;
	cc->marked += marked;
	if (marked && !cc->alpha)
		cc->alpha = VQP_ALPHA_ONE;
	if (now_us - cc->round_us >= cc->srtt_us)
		vqp_congestion_end_round(cc, now_us);
	if (marked)
		vqp_congestion_cut(cc, 2 * VQP_ALPHA_ONE - cc->alpha, 2 * VQP_ALPHA_ONE, now_us);
	if (used && !vqp_congestion_yields(cc))
		vqp_congestion_grow(cc, acked, marked);
}

/*
 * Does a queue grow? It had room for more while the round trip was shorter than it mostly is. Of
 * the first packets of all nothing is known.
 */
static bool vqp_congestion_queue_grows(const struct vqp_congestion *cc)
{
	const u32 delay = vqp_congestion_delay(cc);

	return !delay || (!vqp_congestion_is_short(cc) && delay > cc->srtt_us);
}

void vqp_congestion_loss(struct vqp_congestion *cc, u32 lost, bool first)
{
	const bool starts = cc->cwnd < cc->ssthresh;
	const bool queue = first && vqp_congestion_queue_grows(cc);

	if (first)
		cc->least = max_t(u32, cc->cwnd / 2, VQP_CWND_ONE);
	if (queue)
		cc->cwnd = cc->least;
	else
		cc->cwnd -= min_t(u64, (u64)lost * VQP_CWND_ONE,
				  cc->cwnd - min_t(u32, cc->cwnd, cc->least));
	if (queue || !starts)
		cc->ssthresh = cc->cwnd;
}

void vqp_congestion_timeout(struct vqp_congestion *cc)
{
	/* If it expires again, the window has been closed already. */
	if (cc->cwnd > VQP_CWND_ONE)
		cc->ssthresh = max_t(u32, cc->cwnd / 2, VQP_CWND_ONE);
	cc->cwnd = VQP_CWND_ONE;
}

void vqp_congestion_pause(struct vqp_congestion *cc)
{
	cc->cwnd = VQP_CWND_ONE;
}

void vqp_congestion_rest(struct vqp_congestion *cc)
{
	cc->cwnd = min_t(u32, cc->cwnd, VQP_CWND_FIRST);
}

void vqp_congestion_undo(struct vqp_congestion *cc, u32 cwnd)
{
	cc->cwnd = max_t(u32, cc->cwnd, cwnd);
	cc->ssthresh = max_t(u32, cc->ssthresh, cc->cwnd);
}
