// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "soak.h"

bool soak_worker_doomed(const struct soak_worker *worker)
{
	return worker->seat->doomed;
}

/* ---- Memory ---- */

bool soak_memory_get(const struct soak_worker *worker, struct soak_memory *memory, size_t bytes, bool arena)
{
	*memory = (struct soak_memory) { .bytes = bytes, .arena = arena };
	if (arena)
		memory->at = vqp_alloc(worker->context, bytes);
	else
		memory->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory->at == MAP_FAILED)
		memory->at = NULL;
	if (memory->at)
		memory->mr = vqp_reg_mr(vqp_pd(worker->context), memory->at, bytes, IBV_ACCESS_LOCAL_WRITE |
					IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (memory->mr)
		return true;
	if (!soak_worker_doomed(worker))
		soak_wrong("%zu bytes of %s memory: %s", bytes, arena ? "arena" : "user", strerror(errno));
	soak_memory_unmap(memory);
	return false;
}

void soak_memory_unmap(struct soak_memory *memory)
{
	int err = 0;

	if (memory->at && memory->arena)
		err = vqp_free(memory->at, memory->bytes);
	else if (memory->at)
		munmap(memory->at, memory->bytes);
	if (err)
		soak_wrong("vqp_free: %s", strerror(-err));
	memory->at = NULL;
}

void soak_memory_put(const struct soak_worker *worker, struct soak_memory *memory)
{
	int err = memory->mr ? vqp_dereg_mr(memory->mr) : 0;

	if (err && !soak_worker_doomed(worker))
		soak_wrong("dereg_mr: %s", strerror(-err));
	memory->mr = NULL;
	soak_memory_unmap(memory);
}

/* ---- Its life ---- */

void soak_worker_run(uint32_t index)
{
	struct soak_worker worker = { .index = index, .seat = &soak_shared->seats[index - 1] };
	uint64_t seed = soak_mix(soak_options.seed, soak_options.node * 100 + index);
	static void *(*const threads[])(void *worker) = { soak_serve, soak_send, soak_stream_serve, soak_stream_send };
	pthread_t running[sizeof(threads) / sizeof(threads[0])];
	size_t i;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nice(10) < 0)		/* what is done to workers comes first */
		soak_say("nice: %s", strerror(errno));
	worker.random = soak_mix(seed, worker.seat->lives);
	worker.life = soak_random(&worker.random) | 1;
	soak_tell_init(index, worker.life);
	soak_count(SOAK_N_LIFE);
	err = soak_box_enter(index);
	if (err)
		soak_wrong("no network namespace: %s", strerror(-err));
	worker.context = vqp_open();
	if (!worker.context) {
		if (!soak_worker_doomed(&worker))
			soak_wrong("vqp_open: %s", strerror(errno));
		_exit(0);
	}
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		err = pthread_create(&running[i], NULL, threads[i], &worker);
		if (err)
			soak_wrong("pthread_create: %s", strerror(err));
	}
	while (i)
		pthread_join(running[--i], NULL);
	err = vqp_close(worker.context);
	if (err)
		soak_wrong("vqp_close: %s", strerror(-err));
	_exit(0);
}
