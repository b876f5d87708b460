/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a namespace's stream sockets have done, counted per CPU. Any context. */
#ifndef VQP_NS_TALLY_H
#define VQP_NS_TALLY_H

#include <linux/percpu.h>
#include <linux/types.h>

enum vqp_tallied {
	VQP_TALLY_NEAR,			/* A socket has a connection within the node. */
	VQP_TALLY_FAR,			/* A socket has a connection to another node by vqp. */
	VQP_TALLY_TCP,			/* A socket connects by TCP, or has accepted what did. */
	/* A connect, also one from another node, that is TCP's since sockets or rules say so. */
	VQP_TALLY_RULED_OUT,
	VQP_TALLY_BROKEN,		/* A connection by vqp broke while a socket had it. */
	VQP_TALLY_TX_BYTES,		/* by vqp alone */
	VQP_TALLY_RX_BYTES,
	VQP_TALLY_MAX,
};

struct vqp_tally {
	u64 counts[VQP_TALLY_MAX];
};

extern const char *const vqp_tally_names[VQP_TALLY_MAX];

static inline void vqp_tally_add(struct vqp_tally __percpu *tally, enum vqp_tallied what, u32 n)
{
	this_cpu_add(tally->counts[what], n);
}

void vqp_tally_sum(const struct vqp_tally __percpu *tally, struct vqp_tally *sum);

#endif
