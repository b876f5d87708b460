/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_SUBNET_H
#define VQP_COMMON_SUBNET_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"

#define VQP_SUBNET_ANY	"any"
#define VQP_SUBNET_TEXT	(VQP_ADDRESS_TEXT + sizeof("/128") - 1)

/* What follows the text of a subnet that is -ERANGE. */
#define VQP_SUBNET_HAS_V4	"has all of IPv4 in it, too: \"any\" is for both, and \"2000::/3\" or \"fc00::/7\" for IPv6 alone"

struct vqp_subnet {
	uint8_t gid[16];
	unsigned int bits;	/* the length of the prefix, as of a GID */
};

/*
 * Parses "10.1.0.0/16", "fd00::/64", an address alone, or "any", which has all addresses. 0;
 * -EINVAL, also if bits beyond the prefix are set; or -ERANGE: IPv4 addresses are ::ffff:0:0/96, and
 * a prefix of IPv6, as "::/0", has all of them in it.
 */
int vqp_subnet_parse(struct vqp_subnet *subnet, const char *text);

/* Writes the subnet to `text`, as vqp_subnet_parse() takes it, and returns that. */
char *vqp_subnet_format(const struct vqp_subnet *subnet, char text[VQP_SUBNET_TEXT]);

bool vqp_subnet_has(const struct vqp_subnet *subnet, const uint8_t gid[16]);

/* Are all addresses of the other one in the subnet, too? */
bool vqp_subnet_includes(const struct vqp_subnet *subnet, const struct vqp_subnet *other);

/*
 * Makes it the subnet of its own addresses and of those of the other one, if that begins with a
 * higher address and there is such a subnet, as of "10.1.0.0/17" and "10.1.128.0/17". False if not.
 */
bool vqp_subnet_join(struct vqp_subnet *subnet, const struct vqp_subnet *other);

#endif
