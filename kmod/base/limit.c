// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/errno.h>
#include "base/limit.h"

void vqp_limit_init(struct vqp_limit *limit)
{
	atomic64_set(&limit->used, 0);
	limit->max = VQP_UNLIMITED;
}

int vqp_limit_charge(struct vqp_limit *limit, u64 amount)
{
	s64 used = atomic64_read(&limit->used);
	u64 max;

	do {
		max = READ_ONCE(limit->max);
		if (amount > max || used > max - amount)
			return -EDQUOT;
	} while (!atomic64_try_cmpxchg(&limit->used, &used, used + amount));
	return 0;
}

void vqp_limit_uncharge(struct vqp_limit *limit, u64 amount)
{
	atomic64_sub(amount, &limit->used);
}

void vqp_limit_set(struct vqp_limit *limit, u64 max)
{
	if (max != VQP_LIMIT_KEEP)
		WRITE_ONCE(limit->max, max);
}
