// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include "memory.h"
#include "packet.h"

static void packets_make(struct packets *pool)
{
	struct packet *array = memory_take(PACKETS_AT_ONCE, sizeof(*array));

	pool->made = memory_grow(pool->made, pool->nmade, &pool->room, sizeof(struct packet *));
	pool->made[pool->nmade++] = array;
	for (u32 i = 0; i < PACKETS_AT_ONCE; i++)
		packet_free(pool, &array[i]);
}

struct packet *packet_new(struct packets *pool)
{
	struct packet *packet;

	if (!pool->free)
		packets_make(pool);
	packet = pool->free;
	pool->free = packet->link;
	memset(packet, 0, sizeof(*packet));
	return packet;
}

void packet_free(struct packets *pool, struct packet *packet)
{
	packet->link = pool->free;
	pool->free = packet;
}

void packets_end(struct packets *pool)
{
	for (size_t i = 0; i < pool->nmade; i++)
		free(pool->made[i]);
	free(pool->made);
	*pool = (struct packets){ 0 };
}

void packet_push(struct packet_queue *queue, struct packet *packet)
{
	packet->link = NULL;
	if (queue->first)
		queue->last->link = packet;
	else
		queue->first = packet;
	queue->last = packet;
	queue->count++;
}

struct packet *packet_pop(struct packet_queue *queue)
{
	struct packet *packet = queue->first;

	queue->first = packet->link;
	queue->count--;
	return packet;
}
