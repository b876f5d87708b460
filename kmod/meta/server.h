/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Meta servers, whose tables say on which node an address is. All functions are called in process
 * context.
 */
#ifndef VQP_META_SERVER_H
#define VQP_META_SERVER_H

#include <linux/types.h>
#include "engine/wire.h"

struct completion;
struct semaphore;
struct vqp;

/* A meta server's table. */
struct vqp_meta_table {
	struct vqp_dct dct;		/* of the node */
	u32 key;
	u64 addr;
	u32 buckets;
};

/* Replace the list of meta servers. Process context. */
int vqp_meta_set(const struct vqp_meta_table *tables, u32 count);

/* Call fn for each meta server, as vqp_ns_walk() does, under the mutex of the list. */
int vqp_meta_walk(int skip, int (*fn)(const struct vqp_meta_table *table, void *arg), void *arg);

/*
 * Ask one server after the other until one knows the address, first the one that knew the latest. A
 * server that did not answer is passed over for a second. 0 and *dct; -EHOSTUNREACH: no server that
 * answers knows the address, or there is none; -ETIMEDOUT: none answers; -EINTR as vqp_meta_wait();
 * -ENOMEM.
 */
int vqp_meta_ask(u32 tenant, const u8 *gid, const struct vqp *vqp, struct vqp_dct *dct);

/* 0; or -EINTR: the task was killed, or `vqp`, unless it is NULL, has failed. */
int vqp_meta_wait(struct completion *done, const struct vqp *vqp);
/* As well; or -EALREADY: *moot, unless `moot` is NULL, is true by now, and sem was not free yet. */
int vqp_meta_down(struct semaphore *sem, const struct vqp *vqp, const bool *moot);

/* Is that node this one? */
bool vqp_meta_is_local(const struct vqp_dct *dct);

#endif
