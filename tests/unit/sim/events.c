// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "events.h"
#include "memory.h"

static bool event_is_earlier(const struct event *a, const struct event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

void events_at(struct events *events, u64 at_ns, event_fn *run, void *who, void *what)
{
	const struct event event = {
		.at_ns = at_ns > events->now_ns ? at_ns : events->now_ns, .number = events->made++,
		.run = run, .who = who, .what = what,
	};
	size_t at = events->count;

	events->heap = memory_grow(events->heap, at, &events->room, sizeof(*events->heap));
	events->count++;
	while (at && event_is_earlier(&event, &events->heap[(at - 1) / 2])) {
		events->heap[at] = events->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	events->heap[at] = event;
}

static struct event events_pop(struct events *events)
{
	struct event *heap = events->heap;
	const struct event first = heap[0], last = heap[--events->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < events->count) {
		if (child + 1 < events->count && event_is_earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!event_is_earlier(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

bool events_step(struct events *events, u64 until_ns)
{
	struct event event;

	if (!events->count || events->heap[0].at_ns > until_ns)
		return false;
	event = events_pop(events);
	events->now_ns = event.at_ns;
	event.run(event.who, event.what);
	return true;
}

void events_run(struct events *events, u64 until_ns)
{
	while (events_step(events, until_ns))
		;
	events->now_ns = until_ns;
}

void events_end(struct events *events)
{
	free(events->heap);
	*events = (struct events){ 0 };
}
