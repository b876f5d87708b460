/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The terms of a namespace as a request has them. */
#ifndef VQP_NETLINK_TERMS_H
#define VQP_NETLINK_TERMS_H

#include <net/netlink.h>
#include <linux/vqp.h>

struct genl_info;
struct vqp_ns_terms;

extern const struct nla_policy vqp_terms_rule_policy[VQP_ATTR_MAX + 1];

/* The terms' part of a policy. */
#define VQP_TERMS_POLICY							\
	[VQP_ATTR_MAX_VQPS]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_MRS]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_BYTES]	= { .type = NLA_U64 },				\
	[VQP_ATTR_MAX_RATE]	= { .type = NLA_U64 },				\
	[VQP_ATTR_PRIORITY]	= NLA_POLICY_RANGE(NLA_U8, VQP_PRIORITY_LOW, VQP_PRIORITY_HIGH), \
	[VQP_ATTR_SOCKETS]	= NLA_POLICY_MAX(NLA_U8, 1),			\
	[VQP_ATTR_SOCKETS_RULE]	= NLA_POLICY_NESTED(vqp_terms_rule_policy)

/*
 * The terms of a request, whose sockets the caller puts. With a rate below VQP_RATE_MIN a VQP among
 * many might have to wait for its turn so long that its target forgets the flow. 0, or -errno.
 */
int vqp_terms_get(struct genl_info *info, struct vqp_ns_terms *terms);

#endif
