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
	 * Guards the throttle and each struct vqp_throttle_turn. It is taken inside vqp.lock, with
	 * bottom halves off, and no lock is taken inside it.
	 */
	spinlock_t lock;
	struct vqp_rate rate;		/* rate.max is also read without the lock. */
	struct list_head waiters;	/* the vqp_throttle_turn.wait of VQPs that wait */
	struct hrtimer timer;		/* armed while a VQP waits; it expires in softirq */
};

/* The share of one VQP in the rate of its namespace. */
struct vqp_throttle_turn {
	struct vqp_wait wait;
	u32 asked;			/* the bytes that the VQP waits for */
	u32 granted;			/* the bytes that it may send, which have been charged */
};

void vqp_throttle_init(struct vqp_throttle *throttle);
/*
 * No VQP waits any more, or will wait. The caller holds no lock, and may be in softirq: the
 * function waits for the timer's handler.
 */
void vqp_throttle_end(struct vqp_throttle *throttle);

/* Set and get the rate, in bytes per second, or VQP_UNLIMITED. Any context but hard interrupts. */
void vqp_throttle_set(struct vqp_throttle *throttle, u64 max);
u64 vqp_throttle_max(const struct vqp_throttle *throttle);

/*
 * May the VQP of `turn` send `bytes` bytes? Returns 0 if it may, and 1 if it may but may have to
 * wait for the next ones; the bytes are charged. Returns -EBUSY if it may not yet: turn->wait is
 * queued, and goes on when the bytes have been granted. Under vqp.lock.
 */
int __must_check vqp_throttle_pass(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn,
				   u32 bytes);

/*
 * Charge bytes that a VQP sends without waiting for its turn: the VQPs that wait do so for longer.
 * Returns 1 if it may have to wait for the next ones, else 0. Under vqp.lock.
 */
int __must_check vqp_throttle_charge(struct vqp_throttle *throttle, u32 bytes);

/*
 * Refund bytes that were charged and not sent. Called under vqp.lock, or by the carrier that is
 * carrying out the VQP's request.
 */
void vqp_throttle_refund(struct vqp_throttle *throttle, u32 bytes);

/*
 * The VQP of `turn` sends nothing more. Returns true if it was waiting: the reference of the list
 * is the caller's then.
 */
bool vqp_throttle_leave(struct vqp_throttle *throttle, struct vqp_throttle_turn *turn);

#endif
