// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/address.h"
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
	return 0;
}

bool vqp_subnet_has(const struct vqp_subnet *subnet, const uint8_t gid[16])
{
	unsigned int n = 0;

	while (n < subnet->bits && bit(subnet->gid, n) == bit(gid, n))
		n++;
	return n == subnet->bits;
}
