/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What answers have in common, be they of one message or dumps. */
#ifndef VQP_NETLINK_ANSWER_H
#define VQP_NETLINK_ANSWER_H

#include <linux/types.h>

struct genl_family;
struct sk_buff;
struct vqp_dct;

/* Each message names its family, which is defined beside the table of commands (netlink.c). */
extern struct genl_family vqp_netlink_family;

/*
 * May who has sent the request see keys? With a Q_Key, or a meta table's key, any user of uverbs
 * could send packets as a kernel does.
 */
bool vqp_answer_may_have_keys(const struct sk_buff *request);

/* Each puts an attribute, or several. 0, or -EMSGSIZE. */
int vqp_answer_put_dct(struct sk_buff *skb, const struct vqp_dct *dct, bool keys);
/* What is NULL is left out. */
int vqp_answer_put_counter(struct sk_buff *skb, const char *name, const u64 *made,
			   const u64 *freed, const u64 *value);

#endif
