/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a target knows of an initiator node's clock, so that it carries out no packet with an open
 * header that it has carried out before, however late a copy of it arrives.
 *
 * The initiator stamps each packet with an open header (an OPEN here) with its own coarse clock,
 * which begins anywhere and never goes back. `age` says how many ticks before the stamp the
 * packet's open_psn was first sent: the flow's packets from there on were first sent at `stamp` -
 * `age` or later, which is the OPEN's birth.
 *
 * A flow's context knows which PSNs were carried out. Without a context, and where an OPEN would
 * have a context go on at a later PSN, an OPEN must be fresh. It is fresh
 *
 *  1. if it was born after `forgotten`, and after the latest stamp that the flow's context has
 *     seen, where there is one. `forgotten` is the latest stamp that any context of the initiator
 *     had seen that the target has forgotten. Or,
 *
 *  2. if it repeats an echo, a random number with which the target has answered a packet that was
 *     not fresh. The initiator then sends the packet again, with the echo.
 *
 * Why no PSN that was carried out in a context that is forgotten is ever taken again:
 *
 *  1. The context noted the stamps of the OPENs that it saw. All OPENs that an initiator sends
 *     until one of them is answered are born before the first of them is sent (vqp_tx.born). The
 *     context saw one of them before it carried out any of their PSNs: what comes without an open
 *     header is sent after the answer. So all of them are born no later than a stamp that the
 *     context noted, and so are earlier ones. `forgotten` is no earlier than what the context
 *     noted, and does not go back but by 3. If an OPEN's age is not known, rule 1 does not apply.
 *
 *  2. When a context is forgotten, the echoes are dropped that were made before the context's
 *     latest packet came. A packet that repeats an echo was sent after that echo was made. If the
 *     echo is still valid, the packet is therefore later than all that was forgotten. (A copy whose
 *     echo is by chance what the target draws anew is not told apart: 1 in 2^32.)
 *
 *  3. For the same reason the stamp of a packet with a valid echo is not before that of anything
 *     that was forgotten, as long as the clock does not go back: `forgotten` may be set to it.
 *     That is how a target begins that knows nothing, which is one that has not heard of the node
 *     or of its epoch yet, or has forgotten the node itself.
 *
 * For the same reasons no OPEN of before has a context that lives go on at what seems to be a later
 * PSN, because more than 2^31 PSNs went by since.
 *
 * This takes for granted that a flow's packets are judged under the lock of the one lane that
 * remembers the flow; that a flow sends less than 2^31 packets while an echo is valid, and that a
 * copy of a packet comes before 2^32 more were sent; and that the initiator sends no packet again
 * whose context may have been forgotten since. It sees to that by forget_us: it gives up where no
 * context of the flow has answered for that long, by a clock that counts the time for which its
 * machine was suspended. NAKs that say that there is no context prove nothing of one that there
 * was, perhaps on another node, and so they do not count, however often they come. A context
 * lives for longer than forget_us after it has answered, by 5 s: so its answers must be under way
 * for less than that. A machine that is restored from a snapshot may do otherwise. A context whose
 * VQP namespace has ended lives no longer than a closed one: what its namespace has carried out,
 * one that is made at the same address afterwards may carry out again.
 *
 * Nothing of this depends on the two clocks' rates. They matter for liveness alone: a stamp far
 * ahead of what the initiator's clock can have come to since its latest proven stamp does not count
 * as fresh without an echo, and is not taken into `forgotten`; if that was to be, the clock is not
 * known any more. Otherwise one forged packet would have all later packets of that node challenged.
 * Stamps are compared modulo 2^32, which is eight years.
 *
 * A target challenges packets of an initiator whose clock it does not know, and packets that were
 * under way for longer than contexts are remembered; each costs a round trip. What it keeps is
 * bounded: one of these for each peer. The caller serializes all calls for one clock.
 */
#ifndef VQP_ENGINE_CLOCK_H
#define VQP_ENGINE_CLOCK_H

#include <linux/types.h>
#include "wire.h"

#define VQP_CLOCK_TICK_US	62500U		/* the unit of stamps and ages: 1/16 s */
/*
 * An echo is told for this time, and is valid for as long again, so that there is time to repeat
 * it, unless something is forgotten meanwhile. It takes a round trip to do so: the first packet
 * with an echo does not wait for the rate of its namespace. If that is lost, what is sent after it
 * may have to wait for a turn.
 */
#define VQP_CLOCK_RENEW_US	(30U * 1000 * 1000)
/*
 * So many ticks may a stamp be ahead of the latest proven one and the time since. The clocks' rates
 * may differ by 1/1024, and more for a while.
 */
#define VQP_CLOCK_LEAD		64U

/* Zeroed, but for `random`, it knows nothing. */
struct vqp_clock {
	/* Draws an echo: one in VQP_CLOCK_RENEW_US at most, and one when those were dropped. */
	u32 (*random)(void);
	/* A stamp of the initiator's node was proven to be new. Else the next four mean nothing. */
	bool known;
	u32 epoch;		/* of the initiator's node */
	u32 forgotten;		/* the latest stamp that any forgotten context had seen */
	u32 proven;		/* the stamp of the latest packet with a valid echo */
	u64 proven_us;		/* when its echo was made: it was sent since */
	struct {
		u32 echo;	/* 0: none */
		u64 made_us;
	} echoes[2];		/* the later one first */
};

/* The coarse clock of an initiator that began at `start`. now_us does not go back. */
u32 vqp_clock_stamp(u32 start, u64 now_us);

/* The ticks from stamp `from` to stamp `to`, as a packet tells them. */
u8 vqp_clock_age(u32 from, u32 to);

/* Is stamp a before stamp b? */
static inline bool vqp_clock_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/*
 * Judge an OPEN that has arrived from the initiator's node. `seen` is the latest stamp that the
 * flow's context has seen, or NULL if there is none. Returns 0 if the OPEN is fresh, or else the
 * echo to answer with.
 */
u32 vqp_clock_judge(struct vqp_clock *clock, const struct vqp_pkt *pkt, const u32 *seen,
		    u64 now_us);

/*
 * The target forgets a context of a flow of the node and `epoch`: `stamp` is the latest that it has
 * seen, and its latest packet arrived at last_us.
 */
void vqp_clock_forget(struct vqp_clock *clock, u32 epoch, u32 stamp, u64 last_us, u64 now_us);

#endif
