/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Some engines set up a container's network after all hooks that run outside of the container, and
 * start the container by a runtime that does not call vqp-hook again. The attendant is a process of
 * the hook that stays in the container's network namespace from the container's creation to its
 * start. The last of the container's hooks, which runs inside of the container, asks the attendant
 * by a socket of that network namespace to make the VQP namespace, and waits until it is made. The
 * attendant ends then, or with the container.
 */
#ifndef VQP_OCI_ATTENDANT_H
#define VQP_OCI_ATTENDANT_H

#include <stdbool.h>
#include <sys/types.h>

#include "../common/error.h"

/*
 * Continues in a new process. The calling process exits with the new one's exit status, or with 0
 * as soon as the new one calls vqp_attendant_stay(). Returns 0 in the new process, or a negative
 * errno value with *error set.
 */
int vqp_attendant_begin(struct vqp_error *error);

struct vqp_attendant {
	const char *id;			/* the container's */
	pid_t pid;			/* the container's first process */
	/* Makes the VQP namespace. 0, or a negative errno value with *error set. */
	int (*make)(void *context, struct vqp_error *error);
	void *context;
};

/*
 * Stays, after vqp_attendant_begin(), in the container's network namespace: calls `make` whenever
 * the container asks, until that succeeds or the container's first process has ended. 0, or a
 * negative errno value with *error set if the process could not listen.
 */
int vqp_attendant_stay(const struct vqp_attendant *attendant, struct vqp_error *error);

/*
 * Called in the container `id`: has its attendant do its work. 0, or a negative errno value with
 * *error set: -ECONNREFUSED if there is no attendant, or the attendant's own.
 */
int vqp_attendant_ask(const char *id, struct vqp_error *error);

#endif
