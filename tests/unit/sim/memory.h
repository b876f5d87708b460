/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of the simulator, which does without a way out where there is none. */
#ifndef VQP_SIM_MEMORY_H
#define VQP_SIM_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

static inline void memory_check(const void *memory)
{
	if (memory)
		return;
	fputs("sim: no memory\n", stderr);
	abort();
}

/* Zeroed memory for n elements of so many bytes, of which there may be none. */
static inline void *memory_take(size_t n, size_t bytes)
{
	void *memory = calloc(n ? n : 1, bytes);

	memory_check(memory);
	return memory;
}

/* Room for one element more than `count`: *room is how many there is room for already. */
static inline void *memory_grow(void *memory, size_t count, size_t *room, size_t bytes)
{
	if (count < *room)
		return memory;
	*room = 2 * *room + 64;
	memory = realloc(memory, *room * bytes);
	memory_check(memory);
	return memory;
}

#endif
