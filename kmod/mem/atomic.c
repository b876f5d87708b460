// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/vqp.h>
#include "engine/wire.h"
#include "mem/atomic.h"
#include "mem/cursor.h"

/* On 32-bit architectures atomic64_t may use a lock, which user space does not take. */
static_assert(IS_ENABLED(CONFIG_64BIT));

int vqp_atomic_do(struct vqp_ns *ns, const struct vqp_atomic *atomic, u64 *before)
{
	const struct vqp_sge word = {
		.addr = atomic->addr,
		.length = VQP_ATOMIC_BYTES,
		.lkey = atomic->rkey,
	};
	struct vqp_cursor c;
	void *at;
	int n;

	if (atomic->addr % VQP_ATOMIC_BYTES)
		return -EINVAL;
	vqp_cursor_init(&c, ns, NULL, VQP_ACCESS_REMOTE_ATOMIC, &word, 1);
	/* The word lies in one page, since each byte has the same offset in its page as in addr. */
	n = vqp_cursor_map(&c, VQP_ATOMIC_BYTES, &at);
	WARN_ON_ONCE(n > 0 && n < VQP_ATOMIC_BYTES);
	if (n == VQP_ATOMIC_BYTES)
		*before = atomic->op == VQP_OP_CMP_SWP ?
			  atomic64_cmpxchg(at, atomic->compare_add, atomic->swap) :
			  atomic64_fetch_add(atomic->compare_add, at);
	vqp_cursor_unmap(&c);
	vqp_cursor_end(&c);
	return n == VQP_ATOMIC_BYTES ? 0 : -EACCES;
}
