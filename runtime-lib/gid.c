// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <vqp/vqp.h>

int vqp_parse_gid(const char *address, union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1) {
		memcpy(gid->raw, mapped, sizeof(mapped));
		memcpy(gid->raw + sizeof(mapped), &four, sizeof(four));
		return 0;
	}
	if (inet_pton(AF_INET6, address, &six) == 1) {
		memcpy(gid->raw, &six, sizeof(six));
		return 0;
	}
	return -EINVAL;
}
