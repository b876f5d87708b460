/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CMP_SWP and FETCH_ADD on a function's memory, which the CPU carries out. They are atomic with
 * each other, whichever carrier brought them, and with atomic instructions of the function itself.
 */
#ifndef VQP_MEM_ATOMIC_H
#define VQP_MEM_ATOMIC_H

#include <linux/types.h>

struct vqp_ns;

/* What an atomic request asks for; `op` is VQP_OP_CMP_SWP or VQP_OP_FETCH_ADD. */
struct vqp_atomic {
	u8 op;
	u32 rkey;
	u64 addr;
	u64 compare_add, swap;
};

/*
 * Carry out the atomic on memory of ns; *before is the previous value. -EINVAL: addr is no multiple
 * of VQP_ATOMIC_BYTES; -EACCES: the key does not grant the access. Any context.
 */
int __must_check vqp_atomic_do(struct vqp_ns *ns, const struct vqp_atomic *atomic, u64 *before);

#endif
