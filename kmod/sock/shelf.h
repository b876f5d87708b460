/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shelves: the memory that parcels are put into (parcel.h), of which a trunk has one while it
 * sends such. It is one region of the kernel's, so that its receiver needs one window of it
 * (rc/window.h), and a pull (mem/pull.h) lets the peer's node alone READ it. It is charged to the
 * namespace and the budget, and its pages to the memory cgroup of who sends first; a trunk that
 * can have none tries again a second later.
 *
 * A shelf lasts until its trunk has dropped it and no room on it is taken. Then a work ends it,
 * for that waits until no device READs it. Room that somebody may READ yet when it is given back
 * is taken for as long as the shelf lasts.
 */
#ifndef VQP_SOCK_SHELF_H
#define VQP_SOCK_SHELF_H

#include <linux/compiler.h>
#include <linux/types.h>

struct vqp_shelf;
struct vqp_trunk;

struct vqp_shelf_room {
	struct vqp_shelf *shelf;	/* referenced */
	u8 *data;
	u32 addr, key;			/* by which the peer READs it */
	u32 bytes;
};

/*
 * Room for so many bytes on the trunk's shelf, which is made if need be. False: there is none.
 * Process context.
 */
bool __must_check vqp_shelf_take(struct vqp_trunk *trunk, u32 bytes, struct vqp_shelf_room *room);
/* `safe`: nobody READs it from here on. Any context. */
void vqp_shelf_give(const struct vqp_shelf_room *room, bool safe);

/* The peer does not fetch: nothing is put on the shelf for a second. Any context. */
void vqp_shelf_pause(struct vqp_trunk *trunk);

/*
 * The trunk needs its shelf no more; if `idle`, only if it was not used for a while. Returns
 * whether it has one then. Any context.
 */
bool vqp_shelf_drop(struct vqp_trunk *trunk, bool idle);

#endif
