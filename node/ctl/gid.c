/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "gid.h"

#define IPV4_BYTES	20
#define IPV4_SOURCE	12	/* the offset in the header */
#define IPV6_SOURCE	8

enum ctl_gid ctl_gid_rate(const uint8_t gid[16])
{
	struct in6_addr addr;

	memcpy(&addr, gid, sizeof(addr));
	if (IN6_IS_ADDR_UNSPECIFIED(&addr))
		return CTL_GID_NONE;
	if (IN6_IS_ADDR_V4MAPPED(&addr))
		return CTL_GID_IPV4;
	return IN6_IS_ADDR_LINKLOCAL(&addr) ? CTL_GID_LINK_LOCAL : CTL_GID_IPV6;
}

const char *ctl_gid_text(enum ctl_gid rate)
{
	static const char *const texts[] = {
		[CTL_GID_NONE] = "no address", [CTL_GID_LINK_LOCAL] = "link-local address",
		[CTL_GID_IPV6] = "IPv6 address", [CTL_GID_IPV4] = "IPv4 address",
	};

	return texts[rate];
}

int ctl_gid_source(const uint8_t grh[CTL_GRH_BYTES], bool ipv4, uint8_t gid[16])
{
	const uint8_t *header = ipv4 ? grh + CTL_GRH_BYTES - IPV4_BYTES : grh;

	if (header[0] >> 4 != (ipv4 ? 4 : 6))
		return -EINVAL;
	if (ipv4) {
		memset(gid, 0, 10);
		memset(gid + 10, 0xff, 2);
		memcpy(gid + 12, header + IPV4_SOURCE, 4);
	} else {
		memcpy(gid, header + IPV6_SOURCE, 16);
	}
	return 0;
}
