/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A namespace's throttle: what its VQPs send passes it no faster than the
 * namespace's rate. Those that may not send now wait in line, each for one
 * packet (dc) or message (loop). At its turn a VQP is granted some bytes,
 * which are charged; when it has all that it waits for it is set going, else it
 * waits for more behind the others. So they share the rate, however long their messages are.
 */
#ifndef VQP_NS_THROTTLE_H
#define VQP_NS_THROTTLE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include "base/wait.h"
#include "engine/rate.h"

struct vqp_throttle {
	/*
	 * Guards all, and each struct vqp_throttle_turn. It is taken inside vqp.lock, with bottom
	 * halves off; nothing is locked inside.
	 */
	spinlock_t lock;
	struct vqp_rate rate;		/* its max is also read without */
	struct list_head waiters;	/* vqp_throttle_turn.wait */
	struct hrtimer timer;		/* runs for as long as somebody waits; in softirq */
};

/* A VQP's place in the line. */
struct vqp_throttle_turn {
	struct vqp_wait wait;
	u32 asked;			/* bytes that it waits for */
	u32 granted;			/* bytes that it may send */
};

void vqp_throttle_init(struct vqp_throttle *throttle);
/* Nobody waits any more, nor will. May be called in softirq, with nothing locked. */
void vqp_throttle_end(struct vqp_throttle *throttle);

/* Bytes per second, or VQP_UNLIMITED. Any context but hard interrupts. */
void vqp_throttle_set(struct vqp_throttle *throttle, u64 max);
u64 vqp_throttle_max(const struct vqp_throttle *throttle);

/*
 * May the VQP of `turn` send so many bytes? If so, they are charged. 0: yes; 1: yes, but it may
 * have to wait for the next; -EBUSY: it waits in line, and turn->wait is set going when it has
 * been granted them. Under vqp.lock.
 */
int __must_check vqp_throttle_pass(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn,
				   u32 bytes);

/* They were charged, and not sent. Under vqp.lock, or by what carries out the VQP's requests. */
void vqp_throttle_refund(struct vqp_throttle *throttle, u32 bytes);

/* It sends nothing more. True: it waited, and the line's reference is the caller's. */
bool vqp_throttle_leave(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn);

#endif
