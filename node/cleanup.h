/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Variables that let go of what they hold when they go out of scope. */
#ifndef VQP_NODE_CLEANUP_H
#define VQP_NODE_CLEANUP_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void vqp_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void vqp_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void vqp_cleanup_json(json_t **json)
{
	json_decref(*json);
}

#define cleanup_free	__attribute__((cleanup(vqp_cleanup_free)))
#define cleanup_close	__attribute__((cleanup(vqp_cleanup_close)))
#define cleanup_json	__attribute__((cleanup(vqp_cleanup_json)))

#endif
