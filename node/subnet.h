/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_NODE_SUBNET_H
#define VQP_NODE_SUBNET_H

#include <stdbool.h>
#include <stdint.h>

#define VQP_SUBNET_ANY	"any"

struct vqp_subnet {
	uint8_t gid[16];
	unsigned int bits;	/* the length of the prefix, as of a GID */
};

/*
 * Parses "10.1.0.0/16", "fd00::/64", an address alone, or "any", which has all addresses, IPv4 ones
 * too. 0, or -EINVAL, also if bits beyond the prefix are set.
 */
int vqp_subnet_parse(struct vqp_subnet *subnet, const char *text);

bool vqp_subnet_has(const struct vqp_subnet *subnet, const uint8_t gid[16]);

#endif
