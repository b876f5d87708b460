/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Virtual time, in nanoseconds. What is to happen is kept by its time, and by its age where that is
 * the same, so that all of a run follows from its seed. An event cannot be taken back: who may not
 * want it any more looks when it comes.
 */
#ifndef VQP_SIM_EVENTS_H
#define VQP_SIM_EVENTS_H

#include <linux/types.h>

typedef void event_fn(void *who, void *what);

struct event {
	u64 at_ns;
	u64 number;			/* the events that were made before it */
	event_fn *run;
	void *who, *what;		/* the arguments of run() */
};

/* Zeroed, it begins at time 0. */
struct events {
	u64 now_ns;
	u64 made;			/* the number of events so far */
	struct event *heap;		/* those that are to come, the next one first */
	size_t count, room;		/* of the heap, in events */
};

/* Have run(who, what) called at at_ns, or now if that is past. */
void events_at(struct events *events, u64 at_ns, event_fn *run, void *who, void *what);

/* The same in so many nanoseconds. */
static inline void events_in(struct events *events, u64 ns, event_fn *run, void *who, void *what)
{
	events_at(events, events->now_ns + ns, run, who, what);
}

/* Let all happen up to until_ns, which is the time then. */
void events_run(struct events *events, u64 until_ns);

/* Let the next thing happen, if it comes at until_ns at the latest. Returns false if not. */
bool events_step(struct events *events, u64 until_ns);

void events_end(struct events *events);

#endif
