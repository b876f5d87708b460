// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "subnet.h"

#define GID_BITS	128U
#define V4_BITS		32U

static int parse_bits(const char *text, unsigned int max, unsigned int *bits)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > max)
		return -EINVAL;
	*bits = value;
	return 0;
}

static bool bit(const uint8_t gid[16], unsigned int n)
{
	return gid[n / 8] >> (7 - n % 8) & 1;
}

/* ::ffff:0:0/96, where IPv4 addresses are. */
static const struct vqp_subnet mapped = { .gid = { [10] = 0xff, [11] = 0xff }, .bits = GID_BITS - V4_BITS };

/* Has it all of IPv4 and something of IPv6? */
static bool is_beyond_v4(const struct vqp_subnet *subnet)
{
	return subnet->bits < mapped.bits && vqp_subnet_includes(subnet, &mapped);
}

int vqp_subnet_parse(struct vqp_subnet *subnet, const char *text)
{
	size_t length = strcspn(text, "/");
	char address[VQP_ADDRESS_TEXT];
	unsigned int max;

	*subnet = (struct vqp_subnet){ 0 };
	if (!strcmp(text, VQP_SUBNET_ANY))
		return 0;
	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (vqp_address_parse(address, subnet->gid))
		return -EINVAL;
	max = strchr(address, ':') ? GID_BITS : V4_BITS;
	subnet->bits = max;
	if (text[length] && parse_bits(text + length + 1, max, &subnet->bits))
		return -EINVAL;
	subnet->bits += GID_BITS - max;
	for (unsigned int n = subnet->bits; n < GID_BITS; n++)
		if (bit(subnet->gid, n))
			return -EINVAL;
	return is_beyond_v4(subnet) ? -ERANGE : 0;
}

char *vqp_subnet_format(const struct vqp_subnet *subnet, char text[VQP_SUBNET_TEXT])
{
	const bool v4 = vqp_subnet_includes(&mapped, subnet);
	const size_t skip = v4 ? mapped.bits / 8 : 0;

	if (!subnet->bits)
		return strcpy(text, VQP_SUBNET_ANY);
	inet_ntop(v4 ? AF_INET : AF_INET6, subnet->gid + skip, text, VQP_ADDRESS_TEXT);
	if (subnet->bits < GID_BITS)
		sprintf(text + strlen(text), "/%u", subnet->bits - 8 * (unsigned int)skip);
	return text;
}

bool vqp_subnet_has(const struct vqp_subnet *subnet, const uint8_t gid[16])
{
	unsigned int n = 0;

	while (n < subnet->bits && bit(subnet->gid, n) == bit(gid, n))
		n++;
	return n == subnet->bits;
}

bool vqp_subnet_includes(const struct vqp_subnet *subnet, const struct vqp_subnet *other)
{
	return subnet->bits <= other->bits && vqp_subnet_has(subnet, other->gid);
}

bool vqp_subnet_join(struct vqp_subnet *subnet, const struct vqp_subnet *other)
{
	struct vqp_subnet both = { .bits = subnet->bits - 1 };

	if (vqp_subnet_includes(subnet, other))
		return true;
	/* One bit less of both is the same, unless that would be IPv4 with more. */
	if (!subnet->bits || subnet->bits != other->bits || bit(subnet->gid, both.bits))
		return false;
	memcpy(both.gid, subnet->gid, sizeof(both.gid));
	if (!vqp_subnet_has(&both, other->gid) || is_beyond_v4(&both))
		return false;
	*subnet = both;
	return true;
}
