// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "mem/mr.h"
#include "mem/pull.h"
#include "ns/namespace.h"
#include "sock/budget.h"
#include "sock/shelf.h"
#include "sock/trunk.h"
#include "sock/trunk_internal.h"

/* Two windows of a stream, so that its sender fills one while the other is being fetched. */
#define SHELF_BYTES	SZ_1M
#define SHELF_PAGES	(SHELF_BYTES / PAGE_SIZE)
#define SHELF_UNIT	4096		/* Rooms are whole ones of these. */
#define SHELF_UNITS	(SHELF_BYTES / SHELF_UNIT)
#define SHELF_IDLE_JIFFIES	(10 * HZ)
/* So long a trunk has no shelf after it could not have one, or its peer has declined a parcel. */
#define SHELF_RETRY_JIFFIES	HZ

struct vqp_shelf {
	struct kref ref;		/* of the trunk, and of each room that is taken */
	struct vqp_ns *ns;		/* referenced */
	u8 *data;
	u32 key;			/* of the region */
	u32 charged;			/* pages of the budget */
	struct vqp_pull *pull;
	struct work_struct end;
	spinlock_t lock;		/* guards all below */
	unsigned long used_at;		/* in jiffies */
	DECLARE_BITMAP(used, SHELF_UNITS);
	struct page *pages[SHELF_PAGES];
};

/* ---- Making and ending ---- */

static void shelf_free(struct vqp_shelf *shelf)
{
	for (; shelf->charged; shelf->charged--)
		vqp_budget_uncharge(shelf->ns);
	vfree(shelf->data);
	kfree(shelf->pull);
	vqp_ns_put(shelf->ns);
	kfree(shelf);
}

/* Nobody READs it from here on. */
static void shelf_end(struct work_struct *work)
{
	struct vqp_shelf *shelf = container_of(work, struct vqp_shelf, end);

	vqp_pull_end(shelf->ns, shelf->pull, false);
	shelf->pull = NULL;
	vqp_mr_dereg(&shelf->ns->kernel, shelf->key);
	shelf_free(shelf);
}

static void shelf_release(struct kref *ref)
{
	vqp_trunk_queue_slow(&container_of(ref, struct vqp_shelf, ref)->end);
}

static void shelf_put(struct vqp_shelf *shelf)
{
	kref_put(&shelf->ref, shelf_release);
}

static int shelf_charge(struct vqp_shelf *shelf)
{
	while (shelf->charged < SHELF_PAGES && vqp_budget_charge(shelf->ns))
		shelf->charged++;
	return shelf->charged == SHELF_PAGES ? 0 : -EDQUOT;
}

static int shelf_fill(struct vqp_shelf *shelf, const u8 *node_gid)
{
	u32 i;

	shelf->data = __vmalloc(SHELF_BYTES, GFP_KERNEL_ACCOUNT);
	shelf->pull = kzalloc(struct_size(shelf->pull, parts, 1), GFP_KERNEL_ACCOUNT);
	if (!shelf->data || !shelf->pull)
		return -ENOMEM;
	for (i = 0; i < SHELF_PAGES; i++)
		shelf->pages[i] = vmalloc_to_page(shelf->data + i * PAGE_SIZE);
	memcpy(shelf->pull->gid, node_gid, VQP_GID_BYTES);
	shelf->pull->count = 1;
	return 0;
}

/* A shelf that the node may READ; or NULL. */
static struct vqp_shelf *shelf_make(struct vqp_ns *ns, const u8 *node_gid)
{
	struct vqp_shelf *shelf = kzalloc(sizeof(*shelf), GFP_KERNEL_ACCOUNT);

	if (!shelf)
		return NULL;
	kref_init(&shelf->ref);
	shelf->ns = ns;
	vqp_ns_get(ns);
	INIT_WORK(&shelf->end, shelf_end);
	spin_lock_init(&shelf->lock);
	shelf->used_at = jiffies;
	if (shelf_charge(shelf) || shelf_fill(shelf, node_gid) ||
	    vqp_mr_reg_kernel(&ns->kernel, shelf->pages, SHELF_BYTES, &shelf->key)) {
		shelf_free(shelf);
		return NULL;
	}
	shelf->pull->parts[0] = (struct vqp_sge) { .length = SHELF_BYTES, .lkey = shelf->key };
	vqp_pull_begin(ns, shelf->pull);
	return shelf;
}

/* ---- That of a trunk ---- */

/* Is it for the node to which the trunk leads? If not, the trunk needs another. */
static bool shelf_is_of(const struct vqp_shelf *shelf, const struct vqp_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	return !memcmp(shelf->pull->gid, trunk->home.node_gid, VQP_GID_BYTES);
}

void vqp_shelf_pause(struct vqp_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->shelf_at = jiffies + SHELF_RETRY_JIFFIES;
	spin_unlock_bh(&trunk->lock);
}

/* The trunk has that shelf, whose reference it takes, unless it has another by now, or is over. */
static void shelf_set(struct vqp_trunk *trunk, struct vqp_shelf *shelf)
{
	spin_lock_bh(&trunk->lock);
	if (!trunk->shelf && trunk->state != VQP_TRUNK_OVER && shelf_is_of(shelf, trunk)) {
		trunk->shelf = shelf;
		shelf = NULL;
	}
	spin_unlock_bh(&trunk->lock);
	if (shelf)
		shelf_put(shelf);
}

/* That of the trunk, referenced; or NULL. If there is none, *node is for whom it is to be made. */
static struct vqp_shelf *shelf_look(struct vqp_trunk *trunk, u8 *node, bool *make)
{
	struct vqp_shelf *shelf, *old = NULL;

	spin_lock_bh(&trunk->lock);
	shelf = trunk->shelf;
	if (shelf && !shelf_is_of(shelf, trunk)) {
		old = shelf;
		trunk->shelf = NULL;
		shelf = NULL;
	}
	if (time_before(jiffies, trunk->shelf_at))
		shelf = NULL;
	else if (!shelf)
		*make = trunk->home.lanes;
	if (shelf)
		kref_get(&shelf->ref);
	memcpy(node, trunk->home.node_gid, VQP_GID_BYTES);
	spin_unlock_bh(&trunk->lock);
	if (old)
		shelf_put(old);
	return shelf;
}

static struct vqp_shelf *shelf_get(struct vqp_trunk *trunk)
{
	u8 node[VQP_GID_BYTES];
	struct vqp_shelf *shelf;
	bool make = false;

	shelf = shelf_look(trunk, node, &make);
	if (!make)
		return shelf;
	shelf = shelf_make(trunk->ns, node);
	if (!shelf) {
		vqp_shelf_pause(trunk);
		return NULL;
	}
	shelf_set(trunk, shelf);
	return shelf_look(trunk, node, &make);
}

bool vqp_shelf_drop(struct vqp_trunk *trunk, bool idle)
{
	struct vqp_shelf *shelf;
	bool stays;

	spin_lock_bh(&trunk->lock);
	shelf = trunk->shelf;
	stays = shelf && idle &&
		time_before(jiffies, READ_ONCE(shelf->used_at) + SHELF_IDLE_JIFFIES);
	if (!stays)
		trunk->shelf = NULL;
	spin_unlock_bh(&trunk->lock);
	if (shelf && !stays)
		shelf_put(shelf);
	return stays;
}

/* ---- Room ---- */

static u32 room_units(const struct vqp_shelf_room *room)
{
	return DIV_ROUND_UP(room->bytes, SHELF_UNIT);
}

/* False: there is none. */
static bool room_take(struct vqp_shelf_room *room, struct vqp_shelf *shelf)
{
	unsigned long unit;

	spin_lock_bh(&shelf->lock);
	unit = bitmap_find_next_zero_area(shelf->used, SHELF_UNITS, 0, room_units(room), 0);
	if (unit < SHELF_UNITS)
		bitmap_set(shelf->used, unit, room_units(room));
	WRITE_ONCE(shelf->used_at, jiffies);
	spin_unlock_bh(&shelf->lock);
	if (unit >= SHELF_UNITS)
		return false;
	room->shelf = shelf;
	room->addr = unit * SHELF_UNIT;
	room->data = shelf->data + room->addr;
	room->key = shelf->key;
	return true;
}

bool vqp_shelf_take(struct vqp_trunk *trunk, u32 bytes, struct vqp_shelf_room *room)
{
	struct vqp_shelf *shelf = shelf_get(trunk);

	room->bytes = bytes;
	if (shelf && room_take(room, shelf))
		return true;
	if (shelf)
		shelf_put(shelf);
	return false;
}

void vqp_shelf_give(const struct vqp_shelf_room *room, bool safe)
{
	struct vqp_shelf *shelf = room->shelf;

	spin_lock_bh(&shelf->lock);
	if (safe)
		bitmap_clear(shelf->used, room->addr / SHELF_UNIT, room_units(room));
	spin_unlock_bh(&shelf->lock);
	shelf_put(shelf);
}
