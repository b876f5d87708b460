// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The other end of a duel: it has memory, and takes messages. */
#include "duel.h"
#include "payload.h"
#include "talk.h"

static int serve_answer(const struct duel *duel, int64_t answer)
{
	return talk_send(duel->fd, &answer, sizeof(answer));
}

/* Two lists of receives are posted, as long as there are messages for them. */
static int serve_receive(const struct duel *duel, struct link *link, const struct talk_order *order)
{
	uint32_t posted = 0, received = 0;

	link->spins = order->spins;
	while (received < order->count) {
		while (posted < order->count && posted - received < 2 * order->list) {
			if (link_post_receives(link, order->bytes, order->list))
				return -1;
			posted += order->list;
		}
		if (!received && serve_answer(duel, 0))
			return -1;
		if (link_await(link, order->list))
			return -1;
		received += order->list;
	}
	return 0;
}

static int64_t serve_order(struct duel *duel, const struct talk_order *order)
{
	struct link *link = &duel->links[order->link];

	switch (order->what) {
	case TALK_FILL:
		payload_fill(link->memory, order->bytes, order->seed);
		return 0;
	case TALK_CHECK:
		return (int64_t)payload_count_bad(link->memory, order->bytes, order->seed);
	case TALK_RECEIVE:
		return serve_receive(duel, link, order);
	case TALK_LOSE:
		return duel_lose(order->percent);
	}
	return -1;
}

void serve(struct duel *duel)
{
	struct talk_order order;

	while (!talk_receive(duel->fd, &order, sizeof(order)))
		if (serve_answer(duel, serve_order(duel, &order)))
			return;
}
