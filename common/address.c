/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"

static void map(const struct in_addr *v4, uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + sizeof(mapped), v4, sizeof(*v4));
}

int vqp_address_parse(const char *text, uint8_t gid[16])
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		map(&v4, gid);
		return 0;
	}
	return inet_pton(AF_INET6, text, gid) == 1 ? 0 : -EINVAL;
}

int vqp_address_of(const struct sockaddr *from, uint8_t gid[16])
{
	switch (from->sa_family) {
	case AF_INET:
		map(&((const struct sockaddr_in *)from)->sin_addr, gid);
		return 0;
	case AF_INET6:
		memcpy(gid, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

int vqp_address_parse_unicast(const char *text, uint8_t gid[16])
{
	struct in6_addr v6;

	if (vqp_address_parse(text, gid))
		return -EINVAL;
	memcpy(&v6, gid, sizeof(v6));
	if (IN6_IS_ADDR_V4MAPPED(&v6)) {
		uint8_t first = gid[12];	/* refuses 0.0.0.0/8, 127.0.0.0/8 and 224.0.0.0/3 */

		return first == 0 || first == 127 || first >= 224 ? -EINVAL : 0;
	}
	return IN6_IS_ADDR_UNSPECIFIED(&v6) || IN6_IS_ADDR_LOOPBACK(&v6) ||
	       IN6_IS_ADDR_MULTICAST(&v6) ? -EINVAL : 0;
}

char *vqp_address_format(const uint8_t gid[16], char text[VQP_ADDRESS_TEXT])
{
	inet_ntop(AF_INET6, gid, text, VQP_ADDRESS_TEXT);
	return text;
}

int vqp_address_split(const char *text, const char *default_port, char **host, char **port)
{
	const char *host_end, *port_text;

	*host = *port = NULL;
	if (text[0] == '[') {
		host_end = strchr(++text, ']');
		if (!host_end || (host_end[1] && host_end[1] != ':'))
			return -EINVAL;
		port_text = host_end[1] ? host_end + 2 : default_port;
	} else {
		host_end = strchrnul(text, ':');
		if (*host_end && strchr(host_end + 1, ':'))
			return -EINVAL;		/* An IPv6 address needs brackets. */
		port_text = *host_end ? host_end + 1 : default_port;
	}
	if (!*port_text)
		return -EINVAL;

	*host = host_end > text ? strndup(text, host_end - text) : NULL;
	*port = strdup(port_text);
	if (*port && (*host || host_end == text))
		return 0;
	free(*host);
	free(*port);
	*host = *port = NULL;
	return -ENOMEM;
}
