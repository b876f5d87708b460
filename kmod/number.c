// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/minmax.h>
#include <linux/xarray.h>
#include "number.h"

int vqp_number_take(struct xarray *numbers, u32 max, u32 *next, void *entry, u32 *number)
{
	u32 taken;
	int ret;

	xa_lock(numbers);
	ret = __xa_alloc(numbers, &taken, entry, XA_LIMIT(max(*next, 1U), max),
			 GFP_KERNEL_ACCOUNT);
	if (ret == -EBUSY)
		ret = __xa_alloc(numbers, &taken, entry, XA_LIMIT(1, max), GFP_KERNEL_ACCOUNT);
	if (!ret) {
		*next = taken < max ? taken + 1 : 1;
		*number = taken;
	}
	xa_unlock(numbers);
	return ret;
}
