/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control: how many packets of a flow may be in the network. The terms are TCP's.
 *
 * Slow start begins with ten packets (RFC 6928) and doubles the window each round trip up to
 * ssthresh; from there on it grows by one packet a round trip. Three signals cut it, at most once
 * a round trip each:
 *
 * Marks: by half of alpha, the smoothed share of packets that the network has marked, as DCTCP does
 * (RFC 8257).
 *
 * Delay, where nothing is marked: if the round trip is longer than target_us, by four fifths of the
 * excess, and by no more than half, as Swift does (SIGCOMM 2020). The shortest round trip of two
 * rounds counts, so that a host that is late now and then is not taken for a queue. A flow that has
 * yielded for VQP_YIELD_US, and finds the round trip as long as before, has been alone in yielding:
 * the others go by loss alone, like most of TCP; or the hosts are as slow as that. The target then
 * moves beyond what it sees, and back when the queue has gone.
 *
 * Loss: by half while the queue grows. While the round trip is short, a loss is taken to be the
 * fault of a link, and costs one packet.
 *
 * The window is never less than one packet. All is O(1), and the caller serializes the calls.
 */
#ifndef VQP_ENGINE_CONGESTION_H
#define VQP_ENGINE_CONGESTION_H

#include <linux/types.h>

#define VQP_CWND_ONE	1024U			/* a packet, in the unit of cwnd and ssthresh */
#define VQP_CWND_FIRST	(10 * VQP_CWND_ONE)
#define VQP_ALPHA_ONE	65536U			/* All packets are marked. */
#define VQP_ALPHA_SHIFT	4			/* alpha follows by 1/16, RFC 8257's g */
#define VQP_TARGET_US	80U			/* a path of a data centre, with a short queue */
/* Twice the least RTO of the module: what timeouts have stirred up has settled. */
#define VQP_YIELD_US	16000U

struct vqp_congestion {
	u32 cwnd;			/* congestion window, in parts of VQP_CWND_ONE */
	u32 ssthresh;
	u32 most;			/* the greatest window */
	u32 least;			/* Further losses of a round trip cut no deeper. */
	u32 alpha;			/* the share of marked packets; 0: nothing marks */
	u32 acked, marked;		/* packets of this round */
	u32 srtt_us, rttvar_us;		/* RFC 6298 */
	u32 min_rtt_us;			/* the shortest of all; 0: none was measured */
	u32 rtt_us;			/* the shortest of this round; 0: none was measured */
	u32 last_rtt_us;		/* likewise, of the latest round that had one */
	u32 target_us;
	u64 above_us;			/* since then the round trip is longer than that; or 0 */
	u64 round_us;			/* when this round began */
	u64 cut_us;			/* the latest cut for marks or delay */
};

/* Begin, on a path of which nothing is known. */
void vqp_congestion_init(struct vqp_congestion *cc, u32 most_packets);

/* A round trip was measured. */
void vqp_congestion_rtt(struct vqp_congestion *cc, u32 rtt_us);

/*
 * `acked` packets have left the network, and `marked` have arrived with a mark. `used`: the window
 * was in use; otherwise that they have arrived says nothing of a greater one.
 */
void vqp_congestion_ack(struct vqp_congestion *cc, u32 acked, u32 marked, bool used, u64 now_us);

/* Packets are lost. `first`: no other loss of this round trip was told. */
void vqp_congestion_loss(struct vqp_congestion *cc, u32 lost, bool first);

/* No answer has come: begin again with one packet. */
void vqp_congestion_timeout(struct vqp_congestion *cc);

/* The target is to be left in peace: go on with one packet, and double it. */
void vqp_congestion_pause(struct vqp_congestion *cc);

/* Nothing was sent for long: the window tells nothing of the network any more. */
void vqp_congestion_rest(struct vqp_congestion *cc);

/* The cuts since the window was `cwnd` were for packets that were late, and not lost. */
void vqp_congestion_undo(struct vqp_congestion *cc, u32 cwnd);

/* The window in packets. */
static inline u32 vqp_congestion_window(const struct vqp_congestion *cc)
{
	return cc->cwnd / VQP_CWND_ONE;
}

#endif
