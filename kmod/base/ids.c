// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/random.h>
#include <linux/xarray.h>
#include "base/ids.h"

/*
 * __xa_alloc() does not serve: while it drops the lock to allocate memory, other threads may take
 * numbers, but it goes on from where it began.
 */
int vqp_id_take(struct xarray *ids, u32 max, u32 *next, void *entry, u32 *id)
{
	XA_STATE(xas, ids, 0);

	do {
		xas_lock(&xas);
		if (!*next)
			*next = 1 + get_random_u32() % max;
		xas_set(&xas, *next);
		xas_find_marked(&xas, max, XA_FREE_MARK);
		if (xas.xa_node == XAS_RESTART) {
			xas_set(&xas, 1);
			xas_find_marked(&xas, max, XA_FREE_MARK);
		}
		if (xas.xa_node == XAS_RESTART)
			xas_set_err(&xas, -EBUSY);
		xas_store(&xas, entry);
		xas_clear_mark(&xas, XA_FREE_MARK);
		if (!xas_error(&xas)) {
			*id = xas.xa_index;
			*next = *id < max ? *id + 1 : 1;
		}
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL_ACCOUNT));
	return xas_error(&xas);
}
