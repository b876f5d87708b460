/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Some engines put the network into a container when all hooks have run that run outside of it, and start it
 * with a runtime that does not ask vqp-hook again. The attendant is a process of the hook that stays in the
 * container's network namespace from the container's creation to its start. The last of the container's hooks,
 * which runs inside of the container, asks it by a socket of that network namespace to do now what could not be
 * done before, and waits until that is done. The attendant ends then, or with the container.
 */
#ifndef VQP_OCI_ATTENDANT_H
#define VQP_OCI_ATTENDANT_H

#include <stdbool.h>
#include <sys/types.h>

#include "../common/error.h"

/*
 * Go on in a process of its own, and end this one with that one's exit status; or with 0, as soon as that one calls
 * vqp_attendant_stay(). 0, in the new process, or a negative errno value with *error set.
 */
int vqp_attendant_begin(struct vqp_error *error);

struct vqp_attendant {
	const char *id;			/* the container's */
	pid_t pid;			/* the container's first process */
	/* 0, or a negative errno value with *error set. */
	int (*make)(void *context, struct vqp_error *error);
	void *context;
};

/*
 * After vqp_attendant_begin(), in the container's network namespace: call `make` whenever the container asks,
 * until that succeeds or the container's first process has ended. 0, or a negative errno value with *error set
 * if this process could not begin to listen.
 */
int vqp_attendant_stay(const struct vqp_attendant *attendant, struct vqp_error *error);

/*
 * In the container `id`: have its attendant do its work. 0, or a negative errno value with *error set:
 * -ECONNREFUSED if there is no attendant, otherwise what the attendant said.
 */
int vqp_attendant_ask(const char *id, struct vqp_error *error);

#endif
