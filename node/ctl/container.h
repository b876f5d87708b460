/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Containers that run, as the engines and runtimes of this node know them. */
#ifndef VQPCTL_CONTAINER_H
#define VQPCTL_CONTAINER_H

#include <jansson.h>
#include <sys/types.h>

#include "../../common/error.h"

struct ctl_container {
	json_t *json;			/* owns the annotations */
	const json_t *annotations;	/* of any type, or NULL */
	pid_t pid;
};

/*
 * Parses what "inspect" of docker, podman or crictl, or "state" of runc or crun, prints. 0; -ESRCH
 * if the container does not run; -EINVAL if the text is no container. The caller clears the
 * container in both cases.
 */
int ctl_container_parse(struct ctl_container *container, const char *text, struct vqp_error *error);

/*
 * Finds a container by the id that its runtime knows, or by what docker, podman or crictl take for
 * it: a name, or the beginning of an id. 0, or a negative errno value with *error set: -ENOENT if
 * nobody knows it. The caller clears the container in both cases.
 */
int ctl_container_find(struct ctl_container *container, const char *name, struct vqp_error *error);

void ctl_container_clear(struct ctl_container *container);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_container	__attribute__((cleanup(ctl_container_clear)))

#endif
