/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The budget of pages that all stream sockets of the node share, of which each namespace has a
 * share. What is of it is also charged to its namespace's limit on bytes. Any context.
 */
#ifndef VQP_SOCK_BUDGET_H
#define VQP_SOCK_BUDGET_H

#include <linux/types.h>

struct vqp_ns;

/*
 * May a namespace have one more page? None has more than what is left for all others: one alone
 * gets a half, two get a third each, and who comes later finds something, too.
 */
bool vqp_budget_has(const struct vqp_ns *ns);

/* Charge a page to ns, and hold it. False: it may have none. */
bool __must_check vqp_budget_charge(struct vqp_ns *ns);
void vqp_budget_uncharge(struct vqp_ns *ns);

#endif
