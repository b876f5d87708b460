// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/math64.h>
#include <linux/minmax.h>
#include "clock.h"

#define CLOCK_DRIFT	1024U		/* One tick in so many may be too many or too few. */

u32 vqp_clock_stamp(u32 start, u64 now_us)
{
	return start + (u32)div_u64(now_us, VQP_CLOCK_TICK_US);
}

u8 vqp_clock_age(u32 from, u32 to)
{
	return min_t(u32, to - from, VQP_PKT_AGE_MAX);
}

/* Lanes that call one after the other may have looked at the time in another order. */
static u64 clock_since(u64 then_us, u64 now_us)
{
	return now_us > then_us ? now_us - then_us : 0;
}

/* The stamp beyond which the initiator's clock has not come by now. */
static u32 clock_latest(const struct vqp_clock *clock, u64 now_us)
{
	const u32 ticks = div_u64(clock_since(clock->proven_us, now_us), VQP_CLOCK_TICK_US);

	return clock->proven + ticks + ticks / CLOCK_DRIFT + VQP_CLOCK_LEAD;
}

static bool clock_knows(const struct vqp_clock *clock, u32 epoch)
{
	return clock->known && clock->epoch == epoch;
}

/* Was the packet born after all that was forgotten, and all that the flow's context has seen? */
static bool clock_is_later(const struct vqp_clock *clock, const struct vqp_pkt *pkt,
			   const u32 *seen, u64 now_us)
{
	const u32 born = pkt->stamp - pkt->age;

	return clock_knows(clock, pkt->src_epoch) && pkt->age < VQP_PKT_AGE_MAX &&
	       vqp_clock_before(clock->forgotten, born) &&
	       (!seen || vqp_clock_before(*seen, born)) &&
	       !vqp_clock_before(clock_latest(clock, now_us), pkt->stamp);
}

/* When the echo was made, if it is still valid; or NULL. */
static const u64 *clock_find(const struct vqp_clock *clock, u32 echo, u64 now_us)
{
	u32 i;

	for (i = 0; echo && i < 2; i++)
		if (clock->echoes[i].echo == echo &&
		    clock_since(clock->echoes[i].made_us, now_us) < 2 * VQP_CLOCK_RENEW_US)
			return &clock->echoes[i].made_us;
	return NULL;
}

/* The packet has a valid echo: its stamp is later than all that was forgotten. */
static void clock_learn(struct vqp_clock *clock, const struct vqp_pkt *pkt, u64 made_us)
{
	if (!clock_knows(clock, pkt->src_epoch) || vqp_clock_before(pkt->stamp, clock->forgotten))
		clock->forgotten = pkt->stamp;
	clock->known = true;
	clock->epoch = pkt->src_epoch;
	clock->proven = pkt->stamp;
	clock->proven_us = made_us;
}

static u32 clock_challenge(struct vqp_clock *clock, u64 now_us)
{
	if (!clock->echoes[0].echo ||
	    clock_since(clock->echoes[0].made_us, now_us) >= VQP_CLOCK_RENEW_US) {
		clock->echoes[1] = clock->echoes[0];
		clock->echoes[0].echo = clock->random();
		if (!clock->echoes[0].echo)
			clock->echoes[0].echo = 1;
		clock->echoes[0].made_us = now_us;
	}
	return clock->echoes[0].echo;
}

u32 vqp_clock_judge(struct vqp_clock *clock, const struct vqp_pkt *pkt, const u32 *seen,
		    u64 now_us)
{
	const u64 *made_us = clock_find(clock, pkt->echo, now_us);

	if (made_us) {
		clock_learn(clock, pkt, *made_us);
		return 0;
	}
	return clock_is_later(clock, pkt, seen, now_us) ? 0 : clock_challenge(clock, now_us);
}

void vqp_clock_forget(struct vqp_clock *clock, u32 epoch, u32 stamp, u64 last_us, u64 now_us)
{
	u32 i;

	for (i = 0; i < 2; i++)
		if (last_us >= clock->echoes[i].made_us)
			clock->echoes[i].echo = 0;
	if (!clock_knows(clock, epoch))
		return;
	if (vqp_clock_before(clock_latest(clock, now_us), stamp))
		clock->known = false;
	else if (vqp_clock_before(clock->forgotten, stamp))
		clock->forgotten = stamp;
}
