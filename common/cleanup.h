/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Variables whose resource is released when they go out of scope. For JSON, jansson has
 * json_auto_t.
 */
#ifndef VQP_COMMON_CLEANUP_H
#define VQP_COMMON_CLEANUP_H

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

#define cleanup_free	__attribute__((cleanup(vqp_cleanup_free)))
#define cleanup_close	__attribute__((cleanup(vqp_cleanup_close)))

#endif
