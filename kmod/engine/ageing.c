// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/list.h>
#include "ageing.h"

void vqp_ageing_init(struct vqp_ageing *set)
{
	INIT_LIST_HEAD(&set->list);
	set->count = 0;
}

void vqp_ageing_add(struct vqp_ageing *set, struct vqp_aged *aged)
{
	WRITE_ONCE(aged->used, false);
	list_add_tail(&aged->link, &set->list);
	set->count++;
}

void vqp_ageing_del(struct vqp_ageing *set, struct vqp_aged *aged)
{
	list_del(&aged->link);
	set->count--;
}

struct vqp_aged *vqp_ageing_oldest(struct vqp_ageing *set, bool (*may_go)(struct vqp_aged *aged))
{
	u32 looks = set->count ? VQP_AGEING_LOOKS : 0;
	struct vqp_aged *aged;

	while (looks--) {
		aged = list_first_entry(&set->list, struct vqp_aged, link);
		if ((!looks || !READ_ONCE(aged->used)) && (!may_go || may_go(aged)))
			return aged;
		WRITE_ONCE(aged->used, false);
		list_move_tail(&aged->link, &set->list);
	}
	return NULL;
}
