/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A namespace's gate: what its VQPs send passes it no faster than the
 * namespace's rate. Those that may not send now wait in line, each for one
 * packet (dc) or message (loop). At its turn a VQP is granted some bytes,
 * which are charged; when it has all that it waits for it is set going, else it
 * waits for more behind the others. So they share the rate, however long their messages are.
 */
#ifndef VQP_GATE_H
#define VQP_GATE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include "engine/rate.h"

struct vqp;

struct vqp_gate {
	/*
	 * Guards all, and of each VQP gate_wait, gate_asked and gate_granted. Inside vqp.lock,
	 * bottom halves off; nothing is locked inside.
	 */
	spinlock_t lock;
	struct vqp_rate rate;		/* its max is also read without */
	struct list_head waiters;	/* vqp.gate_wait; each holds a reference */
	struct hrtimer timer;		/* runs for as long as somebody waits; in softirq */
};

void vqp_gate_init(struct vqp_gate *gate);
/* Nobody waits any more, nor will. May be called in softirq, with nothing locked. */
void vqp_gate_end(struct vqp_gate *gate);

/* Bytes per second, or 0: no limit. Any context but hard interrupts. */
void vqp_gate_set(struct vqp_gate *gate, u64 max);

static inline u64 vqp_gate_max(const struct vqp_gate *gate)
{
	return READ_ONCE(gate->rate.max);
}

/*
 * May vqp send so many bytes? Those that may are charged. 0; 1: yes, but it may have to wait for
 * the next; -EBUSY: it waits in line. What is fetched is charged to nobody: who has a rate is not
 * fetched from. Under vqp.lock.
 */
int __must_check vqp_gate_pass(struct vqp *vqp, u32 bytes);

/* They were charged, and not sent. Under vqp.lock, or by who carries out its requests. */
void vqp_gate_refund(struct vqp *vqp, u32 bytes);

/* vqp is being destroyed, and will send nothing more. */
void vqp_gate_leave(struct vqp *vqp);

#endif
