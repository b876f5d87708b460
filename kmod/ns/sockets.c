// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/overflow.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "ns/sockets.h"

struct vqp_sockets *vqp_sockets_make(u32 nrules)
{
	struct vqp_sockets *sockets;

	sockets = kzalloc(struct_size(sockets, rules, nrules), GFP_KERNEL_ACCOUNT);
	if (!sockets)
		return NULL;
	refcount_set(&sockets->ref, 1);
	sockets->nrules = nrules;
	return sockets;
}

void vqp_sockets_get(struct vqp_sockets *sockets)
{
	refcount_inc(&sockets->ref);
}

void vqp_sockets_put(struct vqp_sockets *sockets)
{
	if (sockets && refcount_dec_and_test(&sockets->ref))
		kfree_rcu(sockets, rcu);
}

static bool rule_matches(const struct vqp_sockets_rule *rule, const u8 *peer, u16 port)
{
	if (rule->port)
		return rule->port <= port && port <= rule->last;
	return ipv6_prefix_equal((const struct in6_addr *)rule->gid,
				 (const struct in6_addr *)peer, rule->bits);
}

/* What one rule puts out is out. Of rules of ports that put in one must match, so of peers. */
bool vqp_sockets_let(const struct vqp_sockets *sockets, const u8 *peer, u16 port)
{
	const struct vqp_sockets_rule *rule;
	u8 there = 0, met = 0;
	bool matches;
	u32 i;

	for (i = 0; i < sockets->nrules; i++) {
		rule = &sockets->rules[i];
		matches = rule_matches(rule, peer, port);
		if (rule->except && matches)
			return false;
		if (rule->except)
			continue;
		there |= BIT(!rule->port);
		met |= matches ? BIT(!rule->port) : 0;
	}
	return met == there;
}
